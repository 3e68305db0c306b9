// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/Stamped.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

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


namespace
{

struct MeshKey
{
    int topology;
    int geometry;

    bool operator==(const MeshKey& other) const
    {
        return topology == other.topology && geometry == other.geometry;
    }

    std::string changeFrom(const MeshKey& before) const
    {
        return topology != before.topology ? "topology" : "geometry";
    }
};

}


TEST(Stamped, TellsOfEachBuildAndWhy)
{
    std::vector<std::string> told;
    double longest = -1;
    Stamped<MeshKey, int> cache("edges",
        [&](const std::string& name, const std::string& reason, double seconds)
        {
            told.push_back(name + ' ' + reason);
            longest = std::max(longest, seconds);
        });
    const auto slow = [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); return 3; };

    cache.get({4, 7}, [] { return 1; });
    cache.get({4, 7}, [] { return 2; });
    cache.get({4, 8}, slow);
    cache.get({5, 8}, [] { return 4; });

    EXPECT_EQ(told,
        (std::vector<std::string>{"edges start", "edges geometry", "edges topology"}));
    EXPECT_GE(longest, 0.002);
    EXPECT_EQ(*cache.value(), 4);
    EXPECT_EQ(cache.key()->topology, 5);
}
