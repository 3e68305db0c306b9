// SPDX-License-Identifier: GPL-3.0-or-later
#include "sample/RowExchange.hpp"

#include "ThreadComm.hpp"

#include <gtest/gtest.h>

#include <random>

namespace inSitu
{
namespace
{

using Names = std::vector<std::int64_t>;

//- A random rank for each name, and a random order on each
std::vector<Names> dealt(const Names& names, int nRanks, std::mt19937& generator)
{
    std::vector<Names> result(nRanks);
    Names shuffled = names;
    std::shuffle(shuffled.begin(), shuffled.end(), generator);
    for (const std::int64_t name : shuffled)
    {
        result[generator() % nRanks].push_back(name);
    }
    return result;
}


//- Two numbers that belong to a name
std::vector<double> rowsOf(const Names& names)
{
    std::vector<double> rows;
    for (const std::int64_t name : names)
    {
        rows.insert(rows.end(), {0.5*static_cast<double>(name), 3.0 - static_cast<double>(name)});
    }
    return rows;
}


std::vector<double> moved(const RowExchange& exchange, const std::vector<double>& rows)
{
    const Comm::Bytes bytes = exchange.move(
        {reinterpret_cast<const std::uint8_t*>(rows.data()), rows.size()*sizeof(double)},
        2*sizeof(double));
    std::vector<double> result(bytes.size()/sizeof(double));
    std::copy(bytes.begin(), bytes.end(), reinterpret_cast<std::uint8_t*>(result.data()));
    return result;
}

}


TEST(RowExchange, BringsEachRowToWhereItIsWanted)
{
    std::mt19937 generator(4711);
    for (int trial = 0; trial < 60; ++trial)
    {
        // As names of faces: some from a large one on; sometimes fewer than ranks
        const int nRanks = 1 + trial % 4;
        Names names;
        std::int64_t name = trial % 3 == 0 ? 0 : 1000000;
        for (int i = trial % 7 == 0 ? 2 : 40; i > 0; --i)
        {
            names.push_back(name);
            name += 1 + generator() % 3;
        }
        const auto given = dealt(names, nRanks, generator);
        const auto wanted = dealt(names, nRanks, generator);
        onRanks(nRanks, [&](Comm& comm)
        {
            const Names& mine = wanted[comm.rank()];
            const RowExchange exchange(given[comm.rank()], mine, comm);
            EXPECT_TRUE(exchange.complete());
            EXPECT_EQ(moved(exchange, rowsOf(given[comm.rank()])), rowsOf(mine));
            EXPECT_EQ(moved(exchange, rowsOf(given[comm.rank()])), rowsOf(mine));
        });
    }
}


TEST(RowExchange, TellsAllRanksIfARowIsMissingGivenTwiceOrWantedTwice)
{
    const auto complete = [](const std::vector<Names>& given, const std::vector<Names>& wanted)
    {
        std::vector<int> answers(given.size());
        onRanks(static_cast<int>(given.size()), [&](Comm& comm)
        {
            answers[comm.rank()] =
                RowExchange(given[comm.rank()], wanted[comm.rank()], comm).complete();
        });
        EXPECT_EQ(std::count(answers.begin(), answers.end(), answers[0]), 3);
        return answers[0] == 1;
    };
    EXPECT_TRUE(complete({{5, 8}, {6}, {}}, {{}, {6, 5}, {8}}));
    EXPECT_FALSE(complete({{5}, {6}, {}}, {{}, {6, 5}, {8}}));
    EXPECT_FALSE(complete({{5, 8}, {6, 8}, {}}, {{}, {6, 5}, {8}}));
    EXPECT_FALSE(complete({{5, 8}, {6}, {}}, {{6}, {6, 5}, {8}}));
    EXPECT_TRUE(complete({{}, {}, {}}, {{}, {}, {}}));

    // Nobody wants what is left over
    EXPECT_TRUE(complete({{5, 8, 2}, {6}, {99}}, {{}, {6, 5}, {8}}));
}

}
