// SPDX-License-Identifier: GPL-3.0-or-later

#include "base/ThreadPool.hpp"

#include "base/Error.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cfenv>
#include <chrono>
#include <csignal>
#include <future>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

#include <pthread.h>
#include <sched.h>

namespace inSitu
{
namespace
{

TEST(ThreadPool, CallsEveryChunkOnceInEveryLoop)
{
    for (const int nThreads : {1, 2, 5})
    {
        ThreadPool pool(nThreads);
        EXPECT_EQ(pool.nThreads(), nThreads);
        for (const int nChunks : {0, 1, 3, 64, 1000})
        {
            std::vector<std::atomic<int>> calls(nChunks);
            std::atomic<bool> inside{true};
            pool.run(nChunks, [&](int chunk, int thread)
            {
                ++calls[chunk];
                inside = inside && thread >= 0 && thread < nThreads;
            });

            EXPECT_TRUE(inside);
            for (const auto& count : calls)
            {
                EXPECT_EQ(count, 1);
            }
        }
    }
}


TEST(ThreadPool, ThreadsWorkAtTheSameTimeUnderDifferentNumbers)
{
    ThreadPool pool(3);
    std::atomic<int> arrived{0};
    std::mutex mutex;
    std::set<int> threads;
    pool.run(3, [&](int, int thread)
    {
        // Each waits for the others: only three threads at once can finish this
        ++arrived;
        while (arrived < 3)
        {
            std::this_thread::yield();
        }
        std::lock_guard<std::mutex> lock(mutex);
        threads.insert(thread);
    });

    EXPECT_EQ(threads, (std::set<int>{0, 1, 2}));
}


TEST(ThreadPool, ManyShortLoopsLoseNoChunk)
{
    ThreadPool pool(4);
    std::atomic<long> sum{0};
    for (int loop = 0; loop < 3000; ++loop)
    {
        pool.run(7, [&](int chunk, int) { sum += chunk + 1; });
    }

    EXPECT_EQ(sum, 3000*28);
}


TEST(ThreadPool, WorksAfterItsThreadsFellAsleep)
{
    ThreadPool pool(3);
    std::atomic<int> sum{0};
    for (int loop = 0; loop < 3; ++loop)
    {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        pool.run(9, [&](int chunk, int) { sum += chunk; });
    }

    EXPECT_EQ(sum, 3*36);
}


std::atomic<bool> hold{false};
std::atomic<int> nHeld{0};

TEST(ThreadPool, ALoopDoesNotWaitForWorkersThatHaveNotComeToIt)
{
    ThreadPool pool(3);
    std::array<pthread_t, 3> threads{};
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    const auto meet = [&](int how)
    {
        std::atomic<int> arrived{0};
        pool.run(3, [&](int, int thread)
        {
            threads[thread] = pthread_self();
            if (thread > 0)
            {
                pthread_sigmask(how, &signals, nullptr);
            }
            ++arrived;
            while (arrived < 3)
            {
                std::this_thread::yield();
            }
        });
    };
    meet(SIG_UNBLOCK);

    struct sigaction held{}, before{};
    held.sa_handler = [](int)
    {
        ++nHeld;
        while (hold)
        {
            sched_yield();
        }
    };
    sigaction(SIGUSR1, &held, &before);
    nHeld = 0;
    hold = true;
    pthread_kill(threads[1], SIGUSR1);
    pthread_kill(threads[2], SIGUSR1);
    while (nHeld < 2)
    {
        std::this_thread::yield();
    }
    std::atomic<int> sum{0};
    const auto loops = std::async(std::launch::async, [&]
    {
        for (int loop = 0; loop < 3; ++loop)
        {
            pool.run(9, [&](int chunk, int) { sum += chunk; });
        }
    });
    EXPECT_EQ(loops.wait_for(std::chrono::seconds(20)), std::future_status::ready);
    hold = false;
    loops.wait();
    sigaction(SIGUSR1, &before, nullptr);
    EXPECT_EQ(sum, 3*36);
    meet(SIG_BLOCK);
}


TEST(ThreadPool, RethrowsAnExceptionAndGoesOnAfterIt)
{
    for (const int nThreads : {1, 3})
    {
        ThreadPool pool(nThreads);
        try
        {
            pool.run(50, [](int chunk, int)
            {
                if (chunk == 17)
                {
                    throw Error("chunk 17");
                }
            });
            ADD_FAILURE() << "no exception";
        }
        catch (const Error& error)
        {
            EXPECT_STREQ(error.what(), "chunk 17");
        }

        std::atomic<int> calls{0};
        pool.run(11, [&](int, int) { ++calls; });
        EXPECT_EQ(calls, 11);
    }
}


TEST(ThreadPool, ALoopInsideALoopIsAnError)
{
    ThreadPool pool(2);

    EXPECT_THROW(pool.run(2, [&](int, int) { pool.run(2, [](int, int) {}); }), Error);
}


TEST(ThreadPool, ATeamOfNobodyIsAnError)
{
    EXPECT_THROW(ThreadPool(0), Error);
}


TEST(ThreadPool, WorkersInheritTheRoundingOfTheirMaker)
{
    std::fesetround(FE_UPWARD);
    ThreadPool pool(2);
    std::fesetround(FE_TONEAREST);

    std::atomic<int> arrived{0};
    int rounding[2];
    pool.run(2, [&](int, int thread)
    {
        ++arrived;
        while (arrived < 2)
        {
            std::this_thread::yield();
        }
        rounding[thread] = std::fegetround();
    });

    EXPECT_EQ(rounding[0], FE_TONEAREST);
    EXPECT_EQ(rounding[1], FE_UPWARD);
}


TEST(ThreadPool, TheProcessHasAtLeastOneCore)
{
    EXPECT_GE(availableCores(), 1);
    EXPECT_LE(availableCores(), static_cast<int>(std::thread::hardware_concurrency()));
}

}
}
