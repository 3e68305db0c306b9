// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/packedTree.hpp"

#include "base/Error.hpp"

#include <gmock/gmock.h>

#include <cstring>

using namespace inSitu;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

namespace
{

//- With a text, each type, an empty array, a scalar, and more than one dimension
StateTree tree()
{
    StateTree tree;
    tree.putText("card", "a network\nof two lines");
    tree.putText("empty", "");
    tree.put("a/weights", Span<const float>(std::vector<float>{1.5f, -2.25f, 3, 4, 5, 6.125f}),
        std::vector<std::int64_t>{3, 2});
    tree.put("doubles", std::vector<double>{0.1, -1e300});
    tree.put("a/b/offsets", std::vector<std::int32_t>{7, -8, 1 << 30});
    tree.put("ids", std::vector<std::int64_t>{-5000000000, 3});
    tree.put("bytes", std::vector<std::uint8_t>{200, 3, 0});
    tree.put("nothing", std::vector<double>());
    tree.putInt("step", 5000000000);
    tree.putDouble("rate", 0.7);
    return tree;
}

}


TEST(PackedTree, GivesBackWhatWasPut)
{
    const StateTree sent = tree();
    const StateTree got = unpackedTree(packed(sent));

    EXPECT_EQ(got.texts(), sent.texts());
    ASSERT_EQ(got.arrays().size(), sent.arrays().size());
    for (const auto& [name, array] : sent.arrays())
    {
        const StateTree::Array& other = got.getArray(name);
        EXPECT_EQ(other.type, array.type) << name;
        EXPECT_EQ(other.shape, array.shape) << name;
        ASSERT_EQ(other.bytes(), array.bytes()) << name;
        EXPECT_EQ(std::memcmp(other.data.get(), array.data.get(), array.bytes()), 0) << name;
    }
    EXPECT_THAT(got.get<std::int32_t>("a/b/offsets"), ElementsAre(7, -8, 1 << 30));
    EXPECT_THAT(got.getArray("nothing").shape, ElementsAre(0));
    EXPECT_THAT(got.getArray("step").shape, ElementsAre());
    EXPECT_EQ(got.getInt("step"), 5000000000);

    const StateTree none = unpackedTree(packed(StateTree()));
    EXPECT_TRUE(none.texts().empty());
    EXPECT_TRUE(none.arrays().empty());
}


TEST(PackedTree, OwnsItsValues)
{
    Comm::Bytes bytes = packed(tree());
    const StateTree got = unpackedTree(bytes);
    std::fill(bytes.begin(), bytes.end(), 0xff);
    EXPECT_EQ(got.getDouble("rate"), 0.7);
    EXPECT_THAT(got.get<double>("doubles"), ElementsAre(0.1, -1e300));
}


TEST(PackedTree, RefusesBytesThatAreCutOffAnywhere)
{
    const Comm::Bytes whole = packed(tree());
    for (std::size_t length = 0; length < whole.size(); ++length)
    {
        EXPECT_THAT([&] { unpackedTree({whole.begin(), whole.begin() + length}); },
            ThrowsMessage<Error>(HasSubstr("cut off"))) << length << " of " << whole.size();
    }
}


TEST(PackedTree, RefusesNumbersThatMeanNothing)
{
    // No text and one array: its name, its type, one extent
    StateTree one;
    one.put("x", std::vector<double>{2.5, 3.5});
    const Comm::Bytes whole = packed(one);
    const std::size_t type = 8 + 8 + 8 + 1, extent = type + 16;
    const auto with = [&](std::size_t at, std::int64_t number)
    {
        Comm::Bytes bytes = whole;
        std::memcpy(bytes.data() + at, &number, sizeof(number));
        return [bytes] { unpackedTree(bytes); };
    };

    EXPECT_NO_THROW(with(type, static_cast<std::int64_t>(StateTree::Type::int64))());
    EXPECT_THAT(with(type, 5), ThrowsMessage<Error>(HasSubstr("unknown type")));
    EXPECT_THAT(with(type, 256), ThrowsMessage<Error>(HasSubstr("unknown type")));
    EXPECT_THAT(with(extent, 3), ThrowsMessage<Error>(HasSubstr("cut off")));
    EXPECT_THAT(with(extent, -1), ThrowsMessage<Error>(HasSubstr("cut off")));
    EXPECT_THAT(with(16, -4), ThrowsMessage<Error>(HasSubstr("cut off")));
}
