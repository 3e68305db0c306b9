// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/Stamped.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <utility>

using namespace inSitu;

using Key = std::pair<int, int>;


TEST(Stamped, BuildsOnlyWhenTheKeyDiffers)
{
    Stamped<Key, int> cache("edges");
    int calls = 0;
    const auto build = [&] { return 10*++calls; };

    EXPECT_EQ(cache.get({1, 7}, build), 10);
    EXPECT_EQ(cache.get({1, 7}, build), 10);
    EXPECT_EQ(cache.get({1, 8}, build), 20);
    EXPECT_EQ(cache.get({1, 7}, build), 30);

    EXPECT_EQ(cache.builds(), 3);
    EXPECT_TRUE(cache.holds({1, 7}));
    EXPECT_FALSE(cache.holds({1, 8}));
    EXPECT_EQ(cache.name(), "edges");
}


TEST(Stamped, TheOldValueIsGoneBeforeANewOneIsBuilt)
{
    Stamped<int, std::shared_ptr<int>> cache("graph");
    std::weak_ptr<int> first = cache.get(1, [] { return std::make_shared<int>(5); });

    bool wasGone = false;
    cache.get(2, [&] { wasGone = first.expired(); return std::make_shared<int>(6); });

    EXPECT_TRUE(wasGone);
}


TEST(Stamped, AFailedBuildLeavesNothingAndIsTriedAgain)
{
    Stamped<int, int> cache("graph");
    cache.get(1, [] { return 5; });

    EXPECT_THROW(cache.get(2, []() -> int { throw std::runtime_error("no"); }), std::runtime_error);

    EXPECT_FALSE(cache.holds(1));
    EXPECT_FALSE(cache.holds(2));
    EXPECT_EQ(cache.get(2, [] { return 7; }), 7);
    EXPECT_EQ(cache.builds(), 2);
}
