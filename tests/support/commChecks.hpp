// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Error.hpp"
#include "commLeaveChecks.hpp"
#include "commMessages.hpp"
#include "commPartChecks.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ostream>
#include <thread>
#include <utility>
#include <vector>

//- What every Comm must do, for any number of ranks: each check is called on all of them at once,
//  with two communicators of the same ranks that nobody has used.
namespace inSitu::commChecks
{

inline void ranksHaveTheirPlace(Comm& comm, Comm& other)
{
    EXPECT_EQ(comm.nodeSize(), comm.size());
    EXPECT_EQ(comm.isMaster(), comm.rank() == 0);
    EXPECT_EQ(other.rank(), comm.rank());

    std::vector<double> seen(comm.size(), 0);
    seen.at(comm.rank()) = 1;
    comm.sum(seen);
    EXPECT_THAT(seen, testing::Each(1));
}


inline void sumsAddAllRanks(Comm& comm, Comm&)
{
    // The largest is one that MPI adds in another way
    for (const std::size_t n : {0, 1, 1001, 100003})
    {
        std::vector<double> values = numbers<double>(comm.rank(), n);
        comm.sum(values);
        expectSum(comm, values);

        std::vector<double> again = numbers<double>(comm.rank(), n);
        comm.sum(again);
        EXPECT_EQ(values, again);

        // The same bits everywhere
        Bytes bytes(n*sizeof(double));
        std::copy_n(reinterpret_cast<const std::uint8_t*>(values.data()), bytes.size(),
            bytes.begin());
        EXPECT_THAT(comm.gather(bytes), testing::Each(bytes));
    }
}


inline void maximaAreOfAllRanks(Comm& comm, Comm&)
{
    const int last = comm.size() - 1;
    const double rank = comm.rank();
    std::vector<double> values{-2.5 - rank, -9.25 + rank, -(rank - 1)*(rank - 1) - 3};
    comm.max(values);
    EXPECT_EQ(values, (std::vector<double>{-2.5, -9.25 + last, last == 0 ? -4.0 : -3.0}));

    for (int odd = 0; odd < comm.size(); ++odd)
    {
        values = {comm.rank() == odd ? std::nan("") : 4.5, 1.5*rank};
        comm.max(values);
        EXPECT_TRUE(std::isnan(values[0])) << "of rank " << odd;
        EXPECT_EQ(values[1], 1.5*last);
    }
}


inline void manySumsTravelAtOnce(Comm& comm, Comm&)
{
    comm.finishSums();
    const auto some = neighbours(comm);
    const auto exchange = comm.exchange(some);
    for (int round = 0; round < 20; ++round)
    {
        std::vector<float> first = numbers<float>(comm.rank(), 517, round);
        std::vector<double> second = numbers<double>(comm.rank(), 20011 - round, round);
        std::vector<float> none;
        std::vector<float> third = numbers<float>(comm.rank(), 3, round);
        std::vector<double> single{number(comm.rank(), 77, round)};

        comm.startSum(first);
        fill(comm, *exchange, some, round);
        exchange->start();
        comm.startSum(second);
        comm.startSum(none);
        comm.sum(single);
        exchange->finish();
        comm.startSum(third);
        comm.finishSums();

        expectSum(comm, first, round);
        expectSum(comm, second, round);
        expectSum(comm, third, round);
        expectMessages(comm, *exchange, some, round);
        double sum = 0;
        for (int rank = 0; rank < comm.size(); ++rank)
        {
            sum += number(rank, 77, round);
        }
        EXPECT_NEAR(single[0], sum, 1e-13);
    }
}


inline void broadcastsReachAll(Comm& comm, Comm&)
{
    for (const std::size_t n : {1, 0, 777, 5003})
    {
        Bytes bytes = message(comm.isMaster() ? n : n/2 + 5, comm.rank(), 1);
        comm.broadcast(bytes);
        EXPECT_EQ(bytes, message(n, 0, 1));
    }
}


inline void gathersKeepTheOrder(Comm& comm, Comm&)
{
    for (int round = 0; round < 20; ++round)
    {
        const auto all = comm.gather(message(size(comm.rank(), 3, round), comm.rank(), 0, round));
        ASSERT_EQ(all.size(), comm.isMaster() ? comm.size() : 0);
        for (std::size_t rank = 0; rank < all.size(); ++rank)
        {
            const int from = static_cast<int>(rank);
            EXPECT_EQ(all[rank], message(size(from, 3, round), from, 0, round));
        }
    }
}


inline void swapsReachTheirRank(Comm& comm, Comm&)
{
    for (int round = 0; round < 20; ++round)
    {
        std::vector<Bytes> outgoing;
        for (int to = 0; to < comm.size(); ++to)
        {
            outgoing.push_back(message(size(comm.rank(), to, round), comm.rank(), to, round));
        }
        const auto incoming = comm.swap(outgoing);
        ASSERT_EQ(incoming.size(), outgoing.size());
        for (int from = 0; from < comm.size(); ++from)
        {
            EXPECT_EQ(incoming[from],
                message(size(from, comm.rank(), round), from, comm.rank(), round));
        }
    }
    EXPECT_THROW(comm.swap(std::vector<Bytes>(comm.size() + 1)), Error);
}


inline void exchangesTravelAtOnce(Comm& comm, Comm&)
{
    const auto some = neighbours(comm);
    const auto others = neighbours(comm, 2);
    const auto first = comm.exchange(some);
    const auto second = comm.exchange(others);
    const auto third = comm.exchange(some);
    for (int round = 0; round < 20; ++round)
    {
        fill(comm, *first, some, round);
        fill(comm, *second, others, round + 100);
        fill(comm, *third, some, round + 200);
        first->start();
        third->start();
        second->start();
        for (int i = 0; i < comm.rank(); ++i)
        {
            comm.progress();
        }
        second->finish();
        expectMessages(comm, *second, others, round + 100);

        // One ahead of the others, which still travel
        fill(comm, *second, others, round + 300);
        second->start();
        third->finish();
        second->finish();
        first->finish();
        expectMessages(comm, *first, some, round);
        expectMessages(comm, *second, others, round + 300);
        expectMessages(comm, *third, some, round + 200);
    }
}


inline void exchangesMayBeRemade(Comm& comm, Comm&)
{
    for (int round = 0; round < 20; ++round)
    {
        // One side may know a neighbour to which the other has nothing to say
        auto some = neighbours(comm, round);
        if (comm.rank() % 2 == 0)
        {
            some.erase(std::remove_if(some.begin(), some.end(), [](const Comm::Neighbour& other)
            {
                return other.bytesToSend + other.bytesToReceive == 0;
            }), some.end());
        }
        const auto exchange = comm.exchange(some);
        for (const int step : {1, 2})
        {
            fill(comm, *exchange, some, 10*round + step);
            exchange->start();
            exchange->finish();
            expectMessages(comm, *exchange, some, 10*round + step);
        }
    }
}


inline void wrongUseIsRefused(Comm& comm, Comm&)
{
    EXPECT_THROW(comm.exchange({{comm.size(), 8, 8}}), Error);
    EXPECT_THROW(comm.exchange({{-1, 8, 8}}), Error);
    EXPECT_THROW(comm.exchange({{0, 0, 0}, {0, 0, 0}}), Error);

    const auto some = neighbours(comm);
    const auto exchange = comm.exchange(some);
    EXPECT_THROW(exchange->finish(), Error);
    fill(comm, *exchange, some, 5);
    exchange->start();
    EXPECT_THROW(exchange->start(), Error);
    exchange->finish();
    expectMessages(comm, *exchange, some, 5);
}


inline void lengthsMustAgree(Comm& comm, Comm& other)
{
    if (comm.size() > 1 && comm.rank() < 2)
    {
        const bool receiver = comm.rank() == 1;
        const auto shorter = comm.exchange({{1 - comm.rank(), 8, receiver ? 16u : 8u}});
        shorter->start();
        const auto longer = other.exchange({{1 - comm.rank(), 24, receiver ? 16u : 24u}});
        longer->start();
        if (receiver)
        {
            EXPECT_THROW(shorter->finish(), Error);
            EXPECT_THROW(longer->finish(), Error);
        }
        else
        {
            shorter->finish();
            longer->finish();
        }
    }
}


inline void trafficIsExact(Comm& comm, Comm& other)
{
    EXPECT_EQ(comm.traffic().sums, 0);
    EXPECT_EQ(comm.traffic().seconds, 0);

    std::vector<double> values(31, 1.5);
    std::vector<float> floats(7, 2.5f);
    comm.sum(values);
    comm.max(values);
    comm.startSum(floats);
    comm.startSum(values);
    comm.finishSums();
    std::uint64_t bytes = 3*31*8 + 7*4;
    EXPECT_EQ(comm.traffic().sums, 4);
    EXPECT_EQ(comm.traffic().summedBytes, bytes);

    Bytes own(13 + comm.rank());
    comm.gather(own);
    bytes += 13 + comm.rank();
    comm.broadcast(own);
    bytes += comm.isMaster() ? 13 : 0;
    comm.swap(std::vector<Bytes>(comm.size(), Bytes(5)));
    bytes += 5*(comm.size() - 1);
    EXPECT_EQ(comm.traffic().sums, 7);
    EXPECT_EQ(comm.traffic().summedBytes, bytes);
    EXPECT_EQ(comm.traffic().messages, 0);

    const auto some = neighbours(comm);
    std::uint64_t messages = 0, sent = 0;
    for (const Comm::Neighbour& neighbour : some)
    {
        messages += neighbour.bytesToSend > 0 ? 1 : 0;
        sent += neighbour.bytesToSend;
    }
    const auto exchange = comm.exchange(some);
    for (int round = 1; round <= 3; ++round)
    {
        fill(comm, *exchange, some, round);
        exchange->start();
        exchange->finish();
        EXPECT_EQ(comm.traffic().messages, round*messages);
        EXPECT_EQ(comm.traffic().bytes, round*sent);
    }
    EXPECT_EQ(comm.traffic().sums, 7);
    EXPECT_EQ(other.traffic().sums + other.traffic().messages, 0);
}


inline void waitingTakesTime(Comm& comm, Comm&)
{
    std::vector<double> values(3);
    comm.sum(values);
    const double before = comm.traffic().seconds;
    if (comm.isMaster())
    {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
    comm.sum(values);
    if (!comm.isMaster())
    {
        EXPECT_GT(comm.traffic().seconds - before, 0.05);
    }
    EXPECT_GT(comm.traffic().seconds, before);
}


inline void twoAreIndependent(Comm& comm, Comm& other)
{
    const auto some = neighbours(comm);
    const auto first = comm.exchange(some);
    const auto second = other.exchange(some);
    for (int round = 0; round < 20; ++round)
    {
        std::vector<float> values = numbers<float>(comm.rank(), 411, round);
        std::vector<float> others = numbers<float>(comm.rank(), 411, round + 7);
        comm.startSum(values);
        other.startSum(others);
        fill(comm, *first, some, round);
        fill(comm, *second, some, round + 50);
        second->start();
        first->start();
        first->finish();
        other.finishSums();
        second->finish();
        comm.finishSums();
        expectSum(comm, values, round);
        expectSum(comm, others, round + 7);
        expectMessages(comm, *first, some, round);
        expectMessages(comm, *second, some, round + 50);
    }
}


struct Check
{
    const char* name;
    void (*body)(Comm& comm, Comm& other);
};


inline void PrintTo(const Check& check, std::ostream* out)
{
    *out << check.name;
}


inline std::vector<Check> all()
{
    return
    {
        {"RanksHaveTheirPlace", ranksHaveTheirPlace},
        {"SumsAddAllRanks", sumsAddAllRanks},
        {"MaximaAreOfAllRanks", maximaAreOfAllRanks},
        {"ManySumsTravelAtOnce", manySumsTravelAtOnce},
        {"BroadcastsReachAll", broadcastsReachAll},
        {"GathersKeepTheOrder", gathersKeepTheOrder},
        {"SwapsReachTheirRank", swapsReachTheirRank},
        {"ExchangesTravelAtOnce", exchangesTravelAtOnce},
        {"ExchangesMayBeRemade", exchangesMayBeRemade},
        {"PartsWorkByThemselves", partsWorkByThemselves},
        {"WhatPartsSendCountsInTheWhole", whatPartsSendCountsInTheWhole},
        {"WindowsAreOneMemory", windowsAreOneMemory},
        {"WrongUseIsRefused", wrongUseIsRefused},
        {"LengthsMustAgree", lengthsMustAgree},
        {"TrafficIsExact", trafficIsExact},
        {"WaitingTakesTime", waitingTakesTime},
        {"TwoAreIndependent", twoAreIndependent},
        {"LeaveInASum", leaveInASum},
        {"LeaveInSumsOnTheirWay", leaveInSumsOnTheirWay},
        {"LeaveInABroadcast", leaveInABroadcast},
        {"LeaveInAGather", leaveInAGather},
        {"LeaveInASwap", leaveInASwap},
        {"LeaveInAnExchange", leaveInAnExchange},
        {"LeaveWhereSomeWaitInAPart", leaveWhereSomeWaitInAPart},
        {"LeaveDuringWork", leaveDuringWork}
    };
}

}
