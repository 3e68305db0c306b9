// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/Error.hpp"
#include "config/YamlFile.hpp"
#include "TemporaryFolder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace inSitu
{
namespace
{

using testing::HasSubstr;
using testing::StartsWith;

class YamlFile : public testing::Test
{
protected:

    Node read(const std::string& content)
    {
        return readTrainingFile(folder.write("t.yaml", content)).training;
    }

    std::string complaint(const std::string& content)
    {
        try
        {
            read(content);
        }
        catch (const ConfigError& error)
        {
            EXPECT_EQ(error.file(), folder / "t.yaml");
            return std::to_string(error.line()) + ": " + error.message();
        }
        return "none";
    }

    TemporaryFolder folder;
};


TEST_F(YamlFile, TurnsSnakeCaseIntoCamelCase)
{
    const Node node = read(
        "batch_size: 3\n"
        "model: {type: mesh_graph_net, hidden_size: 12, do_concat_trick: no}\n"
        "lr_scheduler:\n"
        "  type: cosine_annealing\n"
        "  T_max: 30\n"
        "  eta_min: 1e-5\n"
        "optimizer: {learningRate: 0.5, beta1: 0.8}\n");

    EXPECT_EQ(node.json(), R"({"batchSize":3,)"
        R"("model":{"type":"meshGraphNet","hiddenSize":12,"doConcatTrick":"no"},)"
        R"("lrScheduler":{"type":"cosineAnnealing","TMax":30,"etaMin":1e-5},)"
        R"("optimizer":{"learningRate":0.5,"beta1":0.8}})");
}


TEST_F(YamlFile, RemembersPlacesAndQuotes)
{
    const Node node = read("seed: 3\n\nloss:\n  type: 'mse'\n  list:\n    - 4\n    - \"5\"\n");

    EXPECT_EQ(node.find("seed")->line, 1);
    EXPECT_EQ(node.find("loss")->line, 3);
    EXPECT_EQ(node.find("loss")->find("type")->line, 4);
    EXPECT_EQ(node.find("loss")->find("type")->file, folder / "t.yaml");
    EXPECT_TRUE(node.find("loss")->find("type")->quoted);
    EXPECT_EQ(node.find("loss")->find("list")->items[0].line, 6);
    EXPECT_FALSE(node.find("loss")->find("list")->items[0].quoted);
    EXPECT_TRUE(node.find("loss")->find("list")->items[1].quoted);
}


TEST_F(YamlFile, NamesTheLineOfAFault)
{
    EXPECT_EQ(complaint("seed: 1\nbatch_size: 2\nseed: 3\n"),
        "3: has the key 'seed' twice; remove one");
    EXPECT_EQ(complaint("batch_size: 2\nbatchSize: 3\n"),
        "2: has the key 'batchSize' twice; remove one");
    EXPECT_THAT(complaint("seed: 1\nmodel: {type: mlp\n"), StartsWith("3: is not valid YAML: "));
    EXPECT_THAT(complaint("seed: 1\n\tmodel: 2\n"), StartsWith("2: is not valid YAML: "));
    EXPECT_THAT(complaint("seed: 1\n---\nseed: 2\n"), HasSubstr("begins a second document"));
    EXPECT_THAT(complaint("seed: 1\n[a, b]: 2\n"), StartsWith("2: has a key that is not a word"));
    EXPECT_THAT(complaint("seed: *nowhere\n"), StartsWith("1: is not valid YAML: "));
    EXPECT_THAT(complaint("model: &model {type: *model}\n"), HasSubstr("1: "));
}


TEST_F(YamlFile, WantsEntries)
{
    EXPECT_THAT(complaint(""), HasSubstr("has no entries"));
    EXPECT_THAT(complaint("# only a remark\n"), HasSubstr("has no entries"));
    EXPECT_THAT(complaint("- a\n- b\n"), HasSubstr("has no entries"));
    EXPECT_THAT(complaint("just a text\n"), HasSubstr("has no entries"));
}


TEST_F(YamlFile, SaysWhyAFileCannotBeRead)
{
    EXPECT_THAT([&]() { readTrainingFile(folder / "none.yaml"); },
        testing::ThrowsMessage<ConfigError>(HasSubstr("none.yaml: does not exist")));
    EXPECT_THAT([&]() { readTrainingFile(folder / "."); },
        testing::ThrowsMessage<ConfigError>(HasSubstr("is a folder")));
}


TEST_F(YamlFile, ReplacesTheBlockOfAnObject)
{
    folder.write("a.yaml", "seed: 5\n");
    Node block = Node::block("controlDict", 20);
    block.add("trainingFile", Node::scalar("a.yaml", "controlDict", 23));

    insertTrainingFile(block, "surrogate", folder / "");

    EXPECT_EQ(block.find("training")->find("seed")->text, "5");
    EXPECT_TRUE(block.find("trainingFile"));

    EXPECT_THAT([&]() { insertTrainingFile(block, "surrogate", folder / ""); },
        testing::ThrowsMessage<ConfigError>(
            HasSubstr("surrogate.training is given and trainingFile")));
}


TEST_F(YamlFile, NamesThePlaceOfAFileThatIsNotThere)
{
    Node block = Node::block("controlDict", 20);
    block.add("trainingFile", Node::scalar("b.yaml", "controlDict", 23));

    EXPECT_THAT([&]() { insertTrainingFile(block, "surrogate", folder / ""); },
        testing::ThrowsMessage<ConfigError>(StartsWith("controlDict:23 surrogate.trainingFile '")));
}

}
}
