// SPDX-License-Identifier: GPL-3.0-or-later

#include "base/rankCores.hpp"

#include "ThreadComm.hpp"
#include "base/ThreadPool.hpp"

#include <gmock/gmock.h>

#include <sched.h>

#include <numeric>
#include <string>
#include <thread>
#include <vector>

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

namespace inSitu
{
namespace
{

std::vector<int> range(int first, int last)
{
    std::vector<int> cores(last - first);
    std::iota(cores.begin(), cores.end(), first);
    return cores;
}


//- A rank on a node of 16 cores with two hardware threads: cores c and c + 16 are one
RankPlace place(std::vector<int> cores, const std::string& node = "a")
{
    RankPlace place;
    place.node = node;
    place.host = "host-" + node;
    place.oneCore = cores.size() == 1 || cores == std::vector<int>{cores[0], cores[0] + 16};
    place.cores = std::move(cores);
    place.allowed = range(0, 32);
    return place;
}


TEST(RankCores, UnboundRanksShareTheNodeEqually)
{
    const auto all = place(range(0, 32));
    CoreShares shares = shareCores({all, all, all});
    EXPECT_THAT(shares.cores, ElementsAre(10, 10, 10));
    EXPECT_EQ(shares.warning, "");

    EXPECT_THAT(shareCores(std::vector<RankPlace>(45, all)).cores, Each(1));
}


TEST(RankCores, BoundRanksKeepTheirOwn)
{
    const CoreShares shares =
        shareCores({place(range(0, 3)), place(range(3, 10)), place(range(10, 12))});
    EXPECT_THAT(shares.cores, ElementsAre(3, 7, 2));
    EXPECT_EQ(shares.warning, "");
}


TEST(RankCores, ACoreIsSharedByThoseBoundToIt)
{
    // Two ranks per half of the node; and one that overlaps both
    EXPECT_THAT(shareCores({place(range(0, 16)), place(range(0, 16)), place(range(16, 32)),
        place(range(16, 32))}).cores, Each(8));
    EXPECT_THAT(shareCores({place(range(0, 16)), place(range(8, 26))}).cores,
        ElementsAre(12, 14));
}


TEST(RankCores, NodesAreApart)
{
    EXPECT_THAT(shareCores({place(range(0, 12), "a"), place(range(0, 12), "b"),
        place(range(0, 12), "b"), place(range(0, 12), "b")}).cores, ElementsAre(12, 4, 4, 4));
}


TEST(RankCores, AQuotaIsForAllRanksOfItsHost)
{
    auto limited = place(range(0, 32));
    limited.quota = 6.5;
    auto other = limited;
    other.host = "another container";
    other.quota = 2;

    // Seven of the 32 cores' time for three ranks; without a quota a quarter of the cores
    EXPECT_THAT(shareCores({limited, limited, limited, place(range(0, 32), "b")}).cores,
        ElementsAre(2, 2, 2, 32));
    EXPECT_THAT(shareCores({limited, other, other}).cores, ElementsAre(7, 1, 1));
}


TEST(RankCores, WarnsOfRanksOnOneAndTheSameCore)
{
    const CoreShares shares = shareCores({place({5}), place({5}), place({5})});
    EXPECT_THAT(shares.cores, Each(1));
    EXPECT_THAT(shares.warning, AllOf
    (
        HasSubstr("the 3 ranks on host-a are bound to 1 of its 32 cores, idle: 31"),
        HasSubstr("mpirun --bind-to none"),
        HasSubstr("--map-by slot:PE=")
    ));
}


TEST(RankCores, WarnsOfOneCoreEachWhileMostAreIdle)
{
    CoreShares shares = shareCores({place({0, 16}), place({1, 17})});
    EXPECT_THAT(shares.cores, ElementsAre(2, 2));
    EXPECT_THAT(shares.warning,
        HasSubstr("the 2 ranks on host-a are bound to one core each of its 32 cores, idle: 28"));

    // On the second node only
    shares = shareCores({place(range(0, 32)), place({3}, "b"), place({4}, "b")});
    EXPECT_THAT(shares.warning, HasSubstr("the 2 ranks on host-b"));
}


TEST(RankCores, DoesNotWarnWhereNothingIsIdle)
{
    // One core each, on all there are; or on those that the batch system has given to the job
    std::vector<RankPlace> full;
    for (int core = 0; core < 16; ++core)
    {
        full.push_back(place({core, core + 16}));
    }
    EXPECT_EQ(shareCores(full).warning, "");

    auto first = place({3});
    auto second = place({4});
    first.allowed = second.allowed = {3, 4};
    EXPECT_EQ(shareCores({first, second}).warning, "");

    // A choice of several cores, or of one core for one rank
    EXPECT_EQ(shareCores({place({0, 1}), place({2, 3})}).warning, "");
    EXPECT_EQ(shareCores({place({7})}).warning, "");
}


//- The threads that play ranks may be bound one by one, as processes are
void bind(std::initializer_list<int> cores)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int core : cores)
    {
        CPU_SET(core, &set);
    }
    ASSERT_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
}


std::vector<int> boundTo()
{
    return placeOfThisRank().cores;
}


TEST(RankCores, OneRankHasAllThatAreAvailable)
{
    const RankCores cores = coresOfThisRank(SerialComm());
    EXPECT_EQ(cores.cores, availableCores());
    EXPECT_EQ(cores.warning, "");
}


TEST(RankCores, AreThoseOfTheSystem)
{
    const std::vector<int> mine = boundTo();
    if (mine.size() < 2 || availableCores() < 2)
    {
        GTEST_SKIP() << "needs two cores";
    }
    const int nCores = availableCores();
    const int n = 3;
    onRanks(n, [&](Comm& comm)
    {
        EXPECT_EQ(coresOfThisRank(comm).cores, std::max(1, nCores/n));
        EXPECT_EQ(boundTo(), mine);
    });

    onRanks(2, [&](Comm& comm)
    {
        bind({mine[1]});
        const RankCores cores = coresOfThisRank(comm);
        EXPECT_EQ(cores.cores, 1);
        EXPECT_THAT(cores.warning, HasSubstr("the 2 ranks on "));
        EXPECT_THAT(cores.warning, HasSubstr(" are bound to 1 of its "));
        EXPECT_THAT(boundTo(), ElementsAre(mine[1]));
    });

    onRanks(2, [&](Comm& comm)
    {
        comm.isMaster() ? bind({mine[0], mine[1]}) : bind({mine[1]});
        EXPECT_EQ(coresOfThisRank(comm).cores, 1);
    });
}

}
}
