// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/StateTree.hpp"

#include "base/Error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace inSitu;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;


TEST(StateTree, GivesBackWhatWasPut)
{
    const std::vector<float> weights{1.5f, -2.25f, 3, 4, 5, 6.125f};
    StateTree tree;

    tree.put("weights", Span<const float>(weights), std::vector<std::int64_t>{3, 2});
    tree.put("offsets", std::vector<std::int32_t>{7, -8});
    tree.put("bytes", std::vector<std::uint8_t>{200, 3});
    tree.putInt("step", 5000000000);
    tree.putDouble("rate", 0.1);
    tree.putText("name", "adam");

    EXPECT_EQ(tree.get<float>("weights"), weights);
    EXPECT_THAT(tree.getArray("weights").shape, ElementsAre(3, 2));
    EXPECT_EQ(tree.getArray("weights").bytes(), 24u);
    EXPECT_THAT(tree.get<std::int32_t>("offsets"), ElementsAre(7, -8));
    EXPECT_THAT(tree.getArray("offsets").shape, ElementsAre(2));
    EXPECT_THAT(tree.get<std::uint8_t>("bytes"), ElementsAre(200, 3));
    EXPECT_EQ(tree.getInt("step"), 5000000000);
    EXPECT_EQ(tree.getDouble("rate"), 0.1);
    EXPECT_TRUE(tree.getArray("rate").shape.empty());
    EXPECT_EQ(tree.getText("name"), "adam");
    EXPECT_EQ(tree.bytes(), 24u + 8 + 2 + 8 + 8 + 4);
}


TEST(StateTree, AnEntryIsReplacedByALaterOne)
{
    StateTree tree;

    tree.putInt("step", 3);
    tree.putInt("step", 4);

    EXPECT_EQ(tree.getInt("step"), 4);
}


TEST(StateTree, PutCopiesAndPutArrayShares)
{
    std::vector<double> values{2, 3};
    const auto shared = std::make_shared<double>(7.5);
    StateTree tree;

    tree.put("copied", values);
    tree.putArray("shared", {StateTree::Type::float64, {1}, shared});
    values[0] = 99;
    *shared = 8.5;

    EXPECT_THAT(tree.get<double>("copied"), ElementsAre(2, 3));
    EXPECT_THAT(tree.get<double>("shared"), ElementsAre(8.5));
    EXPECT_EQ(shared.use_count(), 2);
}


TEST(StateTree, AnEmptyArrayIsAnEntry)
{
    StateTree tree;

    tree.put("none", std::vector<double>());

    EXPECT_TRUE(tree.has("none"));
    EXPECT_TRUE(tree.get<double>("none").empty());
}


TEST(StateTree, TreesNestByPath)
{
    StateTree inner;
    inner.putDouble("mean", 2.5);
    inner.putText("kind", "running");
    StateTree tree;
    tree.putTree("normaliser/input", inner);
    tree.putDouble("normaliser/inputs", 4);
    tree.putDouble("normaliser/input-", 5);

    const StateTree found = tree.subTree("normaliser").subTree("input");

    EXPECT_EQ(tree.getDouble("normaliser/input/mean"), 2.5);
    EXPECT_EQ(found.getDouble("mean"), 2.5);
    EXPECT_EQ(found.getText("kind"), "running");
    EXPECT_EQ(found.arrays().size(), 1u);
    EXPECT_EQ(found.texts().size(), 1u);
    EXPECT_TRUE(tree.subTree("norm").arrays().empty());
}


TEST(StateTree, FaultsNameTheEntry)
{
    StateTree tree;
    tree.put("optimiser/step", std::vector<std::int64_t>{1, 2});
    tree.putText("note", "text");
    std::vector<std::int64_t> three(3);
    const std::vector<std::int64_t> five(5);

    EXPECT_THAT([&] { tree.getArray("optimiser/stop"); },
        ThrowsMessage<Error>(HasSubstr("'optimiser/stop'")));
    EXPECT_THAT([&] { tree.get<double>("optimiser/step"); },
        ThrowsMessage<Error>(HasSubstr("int64, expected float64")));
    EXPECT_THAT([&] { tree.getInt("optimiser/step"); },
        ThrowsMessage<Error>(HasSubstr("2 values, expected 1")));
    EXPECT_THAT([&] { tree.get("optimiser/step", Span<std::int64_t>(three)); },
        ThrowsMessage<Error>(HasSubstr("expected 3")));
    EXPECT_THAT([&] { tree.getText("optimiser/step"); },
        ThrowsMessage<Error>(HasSubstr("no text")));
    EXPECT_THAT([&] { tree.getDouble("note"); }, ThrowsMessage<Error>(HasSubstr("no array")));
    EXPECT_THAT
    (
        ([&]
        {
            tree.put("bad", Span<const std::int64_t>(five), std::vector<std::int64_t>{2, 3});
        }),
        ThrowsMessage<Error>(HasSubstr("5 values, but its shape holds 6"))
    );
    EXPECT_FALSE(tree.has("bad"));
}
