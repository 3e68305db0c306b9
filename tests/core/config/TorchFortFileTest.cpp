// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/Error.hpp"
#include "config/TorchFortFile.hpp"
#include "TemporaryFolder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace inSitu
{
namespace
{

using testing::ElementsAre;
using testing::HasSubstr;

class TorchFortFile : public testing::Test
{
protected:

    TrainingFile read(const std::string& content)
    {
        return readTrainingFile(folder.write("t.yaml", content));
    }

    std::string complaint(const std::string& content)
    {
        try
        {
            read(content);
        }
        catch (const ConfigError& error)
        {
            return std::to_string(error.line()) + ": " + error.message();
        }
        return "none";
    }

    TemporaryFolder folder;
};


TEST_F(TorchFortFile, IsFlattened)
{
    const TrainingFile file = read(
        "general:\n"
        "  report_frequency: 40\n"
        "  enable_wandb_hook: 0\n"
        "  verbose: 1\n"
        "model:\n"
        "  type: MLP\n"
        "  parameters:\n"
        "    layer_sizes: [24, 16, 8]\n"
        "    dropout: 0.125\n"
        "    flatten_non_batch_dims: false\n"
        "loss:\n"
        "  type: L1\n"
        "  parameters: {reduction: Mean}\n"
        "optimizer:\n"
        "  type: Adam\n"
        "  parameters: {learning_rate: 2e-3, beta1: 0.8, amsgrad: 1}\n"
        "  general: {grad_accumulation_steps: 3, max_grad_norm: 0.7}\n"
        "lr_scheduler:\n"
        "  type: Cosine_Annealing\n"
        "  parameters: {T_max: 70, ETA_min: 1e-6}\n");

    EXPECT_EQ(file.training.json(),
        R"({"model":{"type":"mlp","layerSizes":[24,16,8],"dropout":0.125,)"
        R"("flattenNonBatchDims":false},)"
        R"("loss":{"type":"l1","reduction":"mean"},)"
        R"("optimizer":{"type":"adam","learningRate":2e-3,"beta1":0.8,"amsgrad":1,)"
        R"("gradAccumulationSteps":3,"maxGradNorm":0.7},)"
        R"("lrScheduler":{"type":"cosineAnnealing","TMax":70,"etaMin":1e-6}})");
    ASSERT_TRUE(file.reportInterval);
    EXPECT_EQ(file.reportInterval->text, "40");
    EXPECT_EQ(file.reportInterval->line, 2);
    EXPECT_THAT(file.notes, ElementsAre(HasSubstr("general.verbose has no effect")));
}


TEST_F(TorchFortFile, NeedsOnlyAModel)
{
    const TrainingFile file = read("model: {type: torchscript, parameters: {filename: 'a_B.pt'}}");

    EXPECT_EQ(file.training.json(), R"({"model":{"type":"torchscript","filename":"a_B.pt"}})");
    EXPECT_FALSE(file.reportInterval);
    EXPECT_TRUE(file.notes.empty());
}


TEST_F(TorchFortFile, IsComparedWithoutCaseAndBlanks)
{
    const TrainingFile file = read(
        "Model: {' Type ': ' torch script', PARAMETERS: {FileName: a.pt}}\n"
        "LR_Scheduler: {type: Step, parameters: {STEP_SIZE: 6}}\n");

    EXPECT_EQ(file.training.json(), R"({"model":{"type":"torchscript","filename":"a.pt"},)"
        R"("lrScheduler":{"type":"step","stepSize":6}})");
}


TEST_F(TorchFortFile, KeepsEntriesOutsideItsBlocks)
{
    const TrainingFile file = read("seed: 9\nmodel: {type: mlp, parameters: {layer_sizes: [3]}}");

    EXPECT_EQ(file.training.find("seed")->text, "9");
}


TEST_F(TorchFortFile, TellsThatReportsCannotBeSwitchedOff)
{
    const TrainingFile file = read("general: {report_frequency: 0}\nmodel: {type: mlp}\n");

    EXPECT_FALSE(file.reportInterval);
    EXPECT_THAT(file.notes, ElementsAre(HasSubstr("report_frequency 0 has no effect")));
}


TEST_F(TorchFortFile, RefusesWhatSupervisedTrainingDoesNotHave)
{
    const std::string model = "model: {type: mlp, parameters: {layer_sizes: [3]}}\n";

    EXPECT_THAT(complaint(model + "optimiser: {type: adam}\n"),
        testing::AllOf(HasSubstr("2: optimiser is not a block of supervised training"),
            HasSubstr("did you mean 'optimizer'")));
    EXPECT_THAT(complaint(model + "replay_buffer: {type: uniform, parameters: {min_size: 4}}\n"),
        HasSubstr("2: replay_buffer is not a block"));
    EXPECT_THAT(complaint(model + "general: {verbos: 1}\n"), HasSubstr("did you mean 'verbose'"));
    EXPECT_THAT(complaint(model + "general: {verbose: perhaps}\n"),
        HasSubstr("neither yes nor no"));
    EXPECT_THAT(complaint(model + "loss: {type: mse, general: {}}\n"),
        HasSubstr("2: loss.general is not known"));
    EXPECT_THAT(complaint(model + "optimizer: {type: sgd, momentum: 0.5}\n"),
        HasSubstr("2: optimizer.momentum is not known"));
    EXPECT_THAT(complaint("model: {type: mlp, parameters: [3]}\n"),
        HasSubstr("model.parameters is no block"));
    EXPECT_THAT(complaint(model
            + "loss: {type: mse, parameters: {reduction: mean, Reduction: sum}}\n"),
        HasSubstr("reduction is given twice"));
}

}
}
