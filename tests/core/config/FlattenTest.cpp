// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/Flatten.hpp"

#include <gtest/gtest.h>

namespace inSitu
{
namespace
{

Node example(const std::string& rate)
{
    Node optimizer = Node::block();
    optimizer.add("type", Node::scalar("adam"));
    optimizer.add("learningRate", Node::scalar(rate));

    Node regex = Node::scalar("R_.*");
    regex.quoted = true;

    Node block = Node::block();
    block.add("inputs", Node::list({Node::scalar("U"), regex}));
    block.add("optimizer", optimizer);
    return block;
}


TEST(Flatten, NamesEveryValueByItsPath)
{
    const std::map<std::string, std::string> expected
    {
        {"inputs", "(U \"R_.*\")"},
        {"optimizer.learningRate", "3e-3"},
        {"optimizer.type", "adam"}
    };

    EXPECT_EQ(flatten(example("3e-3")), expected);
}


TEST(Flatten, DifferencesNameBothSides)
{
    auto before = flatten(example("3e-3"));
    auto after = flatten(example("2e-4"));
    before["horizon"] = "4";
    after["noise"] = "0.02";

    const std::vector<ConfigDifference> found = differences(before, after);

    ASSERT_EQ(found.size(), 3u);
    EXPECT_EQ(found[0].text(), "horizon: 4 -> -");
    EXPECT_EQ(found[1].text(), "noise: - -> 0.02");
    EXPECT_EQ(found[2].text(), "optimizer.learningRate: 3e-3 -> 2e-4");
}


TEST(Flatten, EqualConfigurationsDoNotDiffer)
{
    EXPECT_TRUE(differences(flatten(example("3e-3")), flatten(example("3e-3"))).empty());
}

}
}
