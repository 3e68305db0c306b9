// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/PredictorConfig.hpp"
#include "config/SchemaReader.hpp"
#include "train/Settings.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace inSitu
{
namespace
{

const std::string page = INSITU_TOP "/docs/dictionary.md";


std::string contentOf(const std::string& path)
{
    std::ostringstream content;
    content << std::ifstream(path).rdbuf();
    return content.str();
}


std::vector<KeyDescription> allKeys()
{
    Settings settings;
    return describeConfig([&](Schema& schema) { settings.describe(schema); });
}


std::vector<KeyDescription> predictorKeys()
{
    PredictorConfig config;
    return describeConfig([&](Schema& schema) { config.describe(schema); });
}


//- With INSITU_UPDATE_DOCS=1 the table is written anew instead of compared
void expectTable(const std::string& name, const std::vector<KeyDescription>& keys)
{
    const std::string begin = "<!-- " + name + ": begin -->\n";
    const std::string end = "<!-- " + name + ": end -->\n";
    const std::string content = contentOf(page);
    const std::size_t first = content.find(begin);
    const std::size_t last = content.find(end);
    ASSERT_NE(first, std::string::npos);
    ASSERT_NE(last, std::string::npos);

    const std::size_t table = first + begin.size();
    const std::string expected = markdownTable(keys);

    const char* const update = std::getenv("INSITU_UPDATE_DOCS");
    if (update && std::string(update) == "1")
    {
        std::ofstream(page) << content.substr(0, table) << expected << content.substr(last);
        GTEST_SKIP() << "table in " << page << " written anew";
    }
    EXPECT_EQ(content.substr(table, last - table), expected)
        << "run this test with INSITU_UPDATE_DOCS=1 to write the table anew";
}


TEST(Dictionary, IsWhatTheTrainerReads)
{
    expectTable("keys", allKeys());
}


TEST(Dictionary, IsWhatThePredictorReads)
{
    expectTable("predictor keys", predictorKeys());
}


TEST(Dictionary, ExplainsEveryKeyOfThePredictor)
{
    std::string paths;
    for (const KeyDescription& key : predictorKeys())
    {
        EXPECT_GT(key.meaning.size(), 5u) << key.path;
        EXPECT_FALSE(key.defaultValue.empty()) << key.path;
        paths += key.path + '\n';
    }
    for (const char* path : {"model", "mode", "closure.onOutlier", "rollout.steps", "onModelChange"})
    {
        EXPECT_NE(paths.find(path + std::string("\n")), std::string::npos) << path;
    }
}


TEST(Dictionary, HasEveryAlternativeAndExplainsEveryKey)
{
    std::string paths;
    for (const KeyDescription& key : allKeys())
    {
        EXPECT_GT(key.meaning.size(), 5u) << key.path;
        EXPECT_FALSE(key.defaultValue.empty()) << key.path;
        paths += key.path + '\n';
    }

    for (const auto& [word, make] : modelRegistry())
    {
        EXPECT_NE(paths.find("training.model[" + word + "]."), std::string::npos) << word;
    }
    for (const auto& [word, make] : optimizerRegistry())
    {
        EXPECT_NE(paths.find("training.optimizer[" + word + "].learningRate\n"), std::string::npos);
    }
    EXPECT_NE(paths.find("training.lrScheduler[cosineAnnealing].TMax\n"), std::string::npos);
}


TEST(Dictionary, ExamplesAreValid)
{
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(INSITU_TOP "/etc/models"))
    {
        Node block = Node::block("controlDict", 1);
        block.add("inputs", Node::list({Node::scalar("U")}));
        block.add("targets", Node::list({Node::scalar("p")}));
        block.add("trainingFile", Node::scalar(entry.path().string()));

        const Settings settings = readSettings(block, "surrogate", "/", {});
        EXPECT_EQ(settings.notes.size(), entry.path().stem() == "torchFort" ? 1u : 0u);
        ++files;
    }
    EXPECT_EQ(files, 3);
}


TEST(Dictionary, TorchFortFileMeansWhatItSays)
{
    Node block = Node::block("controlDict", 1);
    block.add("inputs", Node::list({Node::scalar("U")}));
    block.add("targets", Node::list({Node::scalar("p")}));
    block.add("trainingFile", Node::scalar("etc/models/torchFort.yaml"));

    const Settings settings = readSettings(block, "surrogate", INSITU_TOP, {});

    EXPECT_EQ(settings.object.reportInterval, 50);
    EXPECT_EQ(settings.values.at("training.model.type"), "\"mlp\"");
    EXPECT_EQ(settings.values.at("training.model.layerSizes"), "(7 64 64 1)");
    EXPECT_EQ(settings.values.at("training.optimizer.type"), "\"adam\"");
    EXPECT_EQ(settings.values.at("training.optimizer.gradAccumulationSteps"), "2");
    EXPECT_EQ(settings.values.at("training.lrScheduler.type"), "\"cosineAnnealing\"");
    EXPECT_EQ(settings.values.at("training.lrScheduler.TMax"), "10000");
}

}
}
