// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/TrainingConfig.hpp"

#include "TrainSupport.hpp"

#include <gmock/gmock.h>

using namespace inSitu;
using testing::HasSubstr;

namespace
{

std::string complaintAbout(const std::string& key, const std::string& value)
{
    try
    {
        trainingConfig({{key, value}});
    }
    catch (const ConfigError& error)
    {
        return error.what();
    }
    return "accepted";
}

}


TEST(TrainingConfig, DefaultsAreThoseOfTheReference)
{
    const std::string json = TrainingConfig().written().json();

    EXPECT_THAT(json, HasSubstr("\"precision\":\"float32\""));
    EXPECT_THAT(json, HasSubstr("\"type\":\"meshGraphNet\""));
    EXPECT_THAT(json, HasSubstr("\"type\":\"mse\""));
    EXPECT_THAT(json, HasSubstr("\"type\":\"adam\""));
    EXPECT_THAT(json, HasSubstr("\"learningRate\":0.001"));
    EXPECT_THAT(json, HasSubstr("\"type\":\"constant\""));
}


TEST(TrainingConfig, TypesAreChosenByWord)
{
    const TrainingConfig config = trainingConfig({{"precision", "float64"}, {"loss.type", "l1"},
        {"optimizer.type", "sgd"}, {"optimizer.momentum", "0.9"}, {"lrScheduler.type", "step"},
        {"lrScheduler.stepSize", "7"}});

    EXPECT_EQ(config.arithmetic(), Precision::float64);
    EXPECT_EQ(config.lossType, "l1");
    EXPECT_EQ(config.optimizerType, "sgd");
    EXPECT_THAT(config.written().json(), HasSubstr("\"momentum\":0.9"));
    EXPECT_DOUBLE_EQ(config.schedule->build(1)->factor(7), 0.1);
}


TEST(TrainingConfig, FilesAreRelativeToTheFolder)
{
    const auto complaint = [](const std::string& filename)
    {
        TrainingConfig config = trainingConfig({{"model.type", "torchscript"},
            {"model.filename", filename}, {"loss.type", "torchscript"},
            {"loss.filename", filename}});
        config.setFolder("/nowhere/case");
        EXPECT_THAT(config.written().json(), HasSubstr("\"filename\":\"" + filename + '"'));

        ThreadPool pool(1);
        std::string text;
        try
        {
            config.model->build({8, 3, 2}, Precision::float32, 1, pool);
        }
        catch (const Error& error)
        {
            text = error.what();
        }
        try
        {
            config.loss->build(pool);
        }
        catch (const Error& error)
        {
            text += error.what();
        }
        return text;
    };

    EXPECT_THAT(complaint("system/net.pt"),
        HasSubstr("model.filename \"/nowhere/case/system/net.pt"));
    EXPECT_THAT(complaint("system/net.pt"),
        HasSubstr("loss.filename \"/nowhere/case/system/net.pt"));
    EXPECT_THAT(complaint("/else/net.pt"), HasSubstr("model.filename \"/else/net.pt"));
    EXPECT_THAT(complaint("/else/net.pt"), HasSubstr("loss.filename \"/else/net.pt"));
}


TEST(TrainingConfig, DeviceAndPrecisionSayHowAGpuComputes)
{
    const DeviceChoice choice = trainingConfig({{"device", "cuda:2"}, {"precision", "bfloat16"},
        {"recompute", "yes"}}).onDevice(2);
    EXPECT_EQ(choice.index, 2);
    EXPECT_EQ(choice.storage, Storage::bfloat16);
    EXPECT_TRUE(choice.recompute);
    EXPECT_FALSE(choice.tf32);
    EXPECT_TRUE(trainingConfig({{"tf32", "yes"}}).onDevice(0).tf32);

    EXPECT_EQ(trainingConfig({}).castOn, "host");
    EXPECT_EQ(trainingConfig({{"castOn", "device"}}).castOn, "device");

    const TrainingConfig half = trainingConfig({{"precision", "float16"}});
    EXPECT_EQ(half.onDevice(0).storage, Storage::float16);
    EXPECT_EQ(half.arithmetic(), Precision::float32);
}


TEST(TrainingConfig, WrongWordsNameTheChoices)
{
    EXPECT_THAT(complaintAbout("device", "gpu"), HasSubstr("one of: auto cpu"));
    EXPECT_THAT(complaintAbout("device", "cuda:x"), HasSubstr("one of: auto cpu"));
    EXPECT_THAT(complaintAbout("device", "cuda:"), HasSubstr("one of: auto cpu"));
    EXPECT_THAT(complaintAbout("precision", "double"), HasSubstr("float64"));
    EXPECT_THAT(complaintAbout("castOn", "gpu"), HasSubstr("host device"));
    EXPECT_THAT(complaintAbout("optimizer.type", "adm"), HasSubstr("adam"));
    EXPECT_THAT(complaintAbout("optimiser.type", "adam"), HasSubstr("optimizer"));
    EXPECT_THAT(complaintAbout("batchSize", "0"), HasSubstr("batchSize"));
}
