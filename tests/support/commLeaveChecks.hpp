// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Error.hpp"
#include "commMessages.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

//- A rank leaves while the others wait
namespace inSitu::commChecks
{

//- The last rank leaves instead of doing what all others do; they hear why, soon, and can go on
//  with the other communicator
inline void leave(Comm& comm, Comm& other, const std::function<void()>& call)
{
    const int last = comm.size() - 1;
    const std::string why = "no luck with field T, " + std::string(3000, '=');

    // Nobody leaves before all have come this far
    std::vector<double> values(5);
    other.sum(values);

    if (comm.rank() == last)
    {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        comm.leave(why);
    }
    else
    {
        const auto begin = std::chrono::steady_clock::now();
        const std::string heard = "rank " + std::to_string(last) + ": no luck with field T, ===";
        for (int time = 0; time < 2; ++time)
        {
            try
            {
                call();
                ADD_FAILURE() << "rank " << comm.rank() << " has not heard of it";
            }
            catch (const Error& error)
            {
                EXPECT_THAT(error.what(), testing::StartsWith(heard));
            }
        }
        EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
        comm.leave("an echo");
    }
    EXPECT_THROW(comm.sum(Span<double>()), Error);

    values = numbers<double>(comm.rank(), 5);
    other.sum(values);
    expectSum(comm, values);
}


inline void leaveInASum(Comm& comm, Comm& other)
{
    leave(comm, other, [&]
    {
        std::vector<double> values(40000, 3.5);
        comm.sum(values);
    });
}


inline void leaveInSumsOnTheirWay(Comm& comm, Comm& other)
{
    std::vector<float> first(300, 1.5f);
    std::vector<float> second(70000, 2.5f);
    comm.startSum(first);
    if (comm.rank() != comm.size() - 1)
    {
        comm.startSum(second);
    }
    leave(comm, other, [&] { comm.finishSums(); });
}


inline void leaveInABroadcast(Comm& comm, Comm& other)
{
    // The master need not wait for anybody, so it is told at its next call
    leave(comm, other, [&]
    {
        std::vector<double> values(1);
        Bytes bytes(comm.isMaster() ? 9 : 0);
        comm.broadcast(bytes);
        comm.sum(values);
    });
}


inline void leaveInAGather(Comm& comm, Comm& other)
{
    leave(comm, other, [&]
    {
        comm.gather(Bytes(100000));
        comm.gather(Bytes(1));
        std::vector<double> values(1);
        comm.sum(values);
    });
}


inline void leaveInASwap(Comm& comm, Comm& other)
{
    leave(comm, other, [&] { comm.swap(std::vector<Bytes>(comm.size(), Bytes(100000))); });
}


inline void leaveInAnExchange(Comm& comm, Comm& other)
{
    // A ring: only two wait for the rank that leaves, the others hear at their next call
    const int next = (comm.rank() + 1) % comm.size();
    const int last = (comm.rank() + comm.size() - 1) % comm.size();
    std::vector<Comm::Neighbour> ring{{next, 40000, next == last ? 40000u : 0u}};
    if (next != last)
    {
        ring.push_back({last, 0, 40000});
    }
    const auto exchange = comm.exchange(ring);
    bool started = false;
    leave(comm, other, [&]
    {
        if (!std::exchange(started, true))
        {
            exchange->start();
        }
        exchange->finish();
        std::vector<double> values(1);
        comm.sum(values);
    });
}


inline void leaveWhereSomeWaitInAPart(Comm& comm, Comm& other)
{
    const auto part = comm.part(0, Comm::Waiting::patient);
    const auto window = part->shared(64);
    int nCalls = 0;
    leave(comm, other, [&]
    {
        std::vector<double> values(1);
        if (comm.rank() % 2 == 0 && nCalls++ == 0)
        {
            window->meet();
        }
        (comm.rank() % 2 == 0 ? *part : comm).sum(values);
    });
}


inline void leaveDuringWork(Comm& comm, Comm& other)
{
    leave(comm, other, [&]
    {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
        while (std::chrono::steady_clock::now() < end)
        {
            comm.progress();
        }
    });
}

}
