// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "commMessages.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <memory>
#include <vector>

//- Some of the ranks, and the memory that they share
namespace inSitu::commChecks
{

inline void partsWorkByThemselves(Comm& comm, Comm&)
{
    EXPECT_EQ(comm.node(), 0);
    EXPECT_EQ(comm.numberOf(comm.size() - 1), comm.size() - 1);
    EXPECT_EQ(comm.part(-1 - comm.rank(), Comm::Waiting::busy), nullptr);

    // Those of odd number, and of these all but the first
    const int odd = comm.rank() % 2;
    const auto half = comm.part(10 + odd, Comm::Waiting::busy);
    ASSERT_EQ(half->size(), (comm.size() + 1 - odd)/2);
    EXPECT_EQ(half->rank(), comm.rank()/2);
    EXPECT_EQ(half->numberOf(half->rank()), comm.rank());
    const auto rest = half->part(half->isMaster() ? -1 : 0, Comm::Waiting::patient);
    ASSERT_EQ(rest == nullptr, half->isMaster());

    for (int round = 0; round < 20; ++round)
    {
        std::vector<double> values{1.5 + comm.rank(), 1};
        half->sum(values);
        EXPECT_EQ(values[1], half->size());
        EXPECT_EQ(values[0], half->size()*(1.5 + odd + half->size() - 1));
        if (rest)
        {
            EXPECT_EQ(rest->numberOf(0), odd + 2);
            std::vector<double> largest{-3.5 - comm.rank()};
            rest->max(largest);
            EXPECT_EQ(largest[0], -3.5 - odd - 2);
        }
        const auto all = comm.gather(message(5, comm.rank(), 0, round));
        EXPECT_EQ(all.size(), comm.isMaster() ? comm.size() : 0);
    }
}


inline void whatPartsSendCountsInTheWhole(Comm& comm, Comm& other)
{
    const auto half = comm.part(comm.rank() % 2, Comm::Waiting::busy);
    const auto part = half->part(0, Comm::Waiting::patient);
    const Traffic before = comm.traffic();

    std::vector<double> values(31, 1.5);
    std::vector<float> floats(7, 2.5f);
    comm.sum(values);
    half->sum(values);
    part->startSum(floats);
    part->finishSums();
    std::vector<Comm::Neighbour> pair;
    if (part->rank() < 2 && part->size() > 1)
    {
        pair.push_back({1 - part->rank(), 24, 24});
    }
    const auto exchange = part->exchange(pair);
    exchange->start();
    exchange->finish();

    const std::uint64_t messages = pair.size();
    for (const Traffic& now : {comm.traffic(), half->traffic(), part->traffic()})
    {
        EXPECT_EQ(now.sums - before.sums, 3);
        EXPECT_EQ(now.summedBytes - before.summedBytes, 2*31*8 + 7*4);
        EXPECT_EQ(now.messages - before.messages, messages);
        EXPECT_EQ(now.bytes - before.bytes, 24*messages);
        EXPECT_GT(now.seconds, before.seconds);
    }
    EXPECT_EQ(other.traffic().sums, 0);
}


inline void windowsAreOneMemory(Comm& comm, Comm&)
{
    const auto part = comm.part(comm.rank()/2, Comm::Waiting::patient);
    for (const std::size_t n : {3, 70001})
    {
        const auto nRanks = static_cast<std::size_t>(part->size());
        const auto window = part->shared(n*nRanks*sizeof(double));
        EXPECT_EQ(window->bytes(), n*nRanks*sizeof(double));
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(window->data()) % 64, 0u);
        auto* values = static_cast<double*>(window->data());
        for (int round = 0; round < 3; ++round)
        {
            for (std::size_t i = 0; i < n; ++i)
            {
                values[n*part->rank() + i] = number(comm.rank(), i, round);
            }
            window->meet();
            for (std::size_t i = 0; i < n*nRanks; ++i)
            {
                const int rank = part->numberOf(static_cast<int>(i/n));
                ASSERT_EQ(values[i], number(rank, i % n, round));
            }
            window->meet();
        }
    }
}

}
