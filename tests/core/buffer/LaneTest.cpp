// SPDX-License-Identifier: GPL-3.0-or-later
#include "buffer/Lane.hpp"

#include "buffer/SlotPool.hpp"
#include "ThreadComm.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace inSitu
{
namespace
{

constexpr std::size_t nValues = 300;


//- What a host gathers
struct Values
{
    int number = -1;
    SlotPool::Handle slot;
};


//- A trainer that does as many steps as the test lets it do. A slot that was handed over is its
//  own: it finds there what was gathered, and leaves not-a-numbers.
class FakeTrainer
{
public:

    void work(Values& item)
    {
        {
            std::unique_lock<std::mutex> lock(mutex_);
            ++begun_;
            changed_.notify_all();
            changed_.wait(lock, [this] { return begun_ <= allowed_; });
        }
        auto* values = static_cast<double*>(item.slot.get());
        const bool whole = std::all_of(values, values + nValues,
            [&](double value) { return value == 0.5 + item.number; });
        std::memset(values, 0xff, nValues*sizeof(double));

        const std::lock_guard<std::mutex> lock(mutex_);
        if (item.number == failAt)
        {
            throw Error("step " + std::to_string(item.number) + " has failed");
        }
        done_.push_back(whole ? item.number : -100 - item.number);
        changed_.notify_all();
    }

    void allow(int nSteps)
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        allowed_ += nSteps;
        changed_.notify_all();
    }

    void allowAll() { allow(1000000); }

    //- Until the n-th step has begun
    void awaitBegun(int n)
    {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [&] { return begun_ >= n; });
    }

    std::vector<int> done()
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        return done_;
    }

    int begun()
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        return begun_;
    }

    int failAt = -1;

private:

    std::mutex mutex_;
    std::condition_variable changed_;
    int begun_ = 0;
    int allowed_ = 0;
    std::vector<int> done_;
};


//- Gathers into slots and hands them over
class Host
{
public:

    Host(FakeTrainer& trainer, std::size_t nSlots, OnLag onLag,
        std::shared_ptr<Comm> comm = std::make_shared<SerialComm>())
    :
        lane(nSlots, onLag, 5, comm, comm->forThread(),
            [&](std::int64_t, Values& item) { trainer.work(item); })
    {}

    bool step()
    {
        Values item{next_++, pool.acquire()};
        auto* values = static_cast<double*>(item.slot.get());
        std::fill(values, values + nValues, 0.5 + item.number);
        return lane.hand(std::move(item), true).isClean();
    }

    SlotPool pool{nValues*sizeof(double)};
    Lane<Values> lane;

private:

    int next_ = 0;
};


std::vector<int> upTo(int n)
{
    std::vector<int> numbers;
    for (int i = 0; i < n; ++i)
    {
        numbers.push_back(i);
    }
    return numbers;
}


TEST(Lane, WorksOnAllInOrderAndOnWholeSlots)
{
    FakeTrainer trainer;
    trainer.allowAll();
    Host host(trainer, 2, OnLag::block);
    for (int i = 0; i < 500; ++i)
    {
        EXPECT_TRUE(host.step());
    }
    host.lane.drain();
    EXPECT_EQ(trainer.done(), upTo(500));

    // Two on their way and one that is gathered
    EXPECT_LE(host.pool.nAllocated(), 3);
}


TEST(Lane, TheHostWaitsOnlyWhenAllSlotsAreInFlight)
{
    FakeTrainer trainer;
    Host host(trainer, 3, OnLag::block);
    for (int i = 0; i < 3; ++i)
    {
        host.step();        // would never come back if it waited
    }
    std::atomic<bool> back{false};
    std::thread other([&]
    {
        host.step();
        back = true;
    });
    trainer.awaitBegun(1);
    EXPECT_FALSE(back);
    EXPECT_TRUE(trainer.done().empty());
    trainer.allow(1);
    other.join();
    trainer.awaitBegun(2);
    EXPECT_EQ(trainer.done(), upTo(1));
    trainer.allowAll();
    host.lane.drain();
    EXPECT_EQ(trainer.done(), upTo(4));
}


TEST(Lane, WhoLagsLeavesOutWhatThePolicySays)
{
    for (const auto& [onLag, expected] : std::vector<std::pair<OnLag, std::vector<int>>>
        {{OnLag::dropOldest, {0, 5, 6}}, {OnLag::dropNewest, {0, 1, 2}}})
    {
        FakeTrainer trainer;
        Host host(trainer, 3, onLag);
        EXPECT_TRUE(host.step());
        trainer.awaitBegun(1);
        int nClean = 0;
        for (int i = 1; i < 7; ++i)
        {
            nClean += host.step();
        }
        EXPECT_EQ(nClean, 2);
        trainer.allowAll();
        host.lane.drain();
        EXPECT_EQ(trainer.done(), expected);
        EXPECT_TRUE(host.step());
        host.lane.drain();
        EXPECT_EQ(trainer.done().back(), 7);
    }
}


TEST(Lane, AHoldIsBetweenTwoItems)
{
    FakeTrainer trainer;
    Host host(trainer, 4, OnLag::block);
    host.step();
    host.step();
    host.step();
    trainer.awaitBegun(1);
    std::atomic<bool> held{false};
    std::thread steps([&]
    {
        // Nearly always the first item ends while the host waits for its hold
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        for (; !held; std::this_thread::sleep_for(std::chrono::milliseconds(30)))
        {
            trainer.allow(1);
        }
    });
    {
        const auto hold = host.lane.hold();
        held = true;
        steps.join();
        const std::vector<int> done = trainer.done();
        const int n = static_cast<int>(done.size());
        EXPECT_EQ(done, upTo(n));
        EXPECT_GE(n, 1);
        EXPECT_EQ(trainer.begun(), n);
        ASSERT_EQ(host.lane.entries().size(), 3u - n);
        for (int i = 0; i < 3 - n; ++i)
        {
            const Values& item = host.lane.entries()[i].item;
            EXPECT_EQ(item.number, n + i);
            EXPECT_EQ(static_cast<double*>(item.slot.get())[17], 0.5 + n + i);
        }
        trainer.allowAll();
        host.step();        // may be handed over, is not worked on
        EXPECT_EQ(trainer.done(), done);
    }
    host.lane.drain();
    EXPECT_EQ(trainer.done(), upTo(4));
    const auto idle = host.lane.hold();
    EXPECT_TRUE(host.lane.entries().empty());
}


TEST(Lane, AMarkIsWaitedForWithinAStep)
{
    std::atomic<bool> go{false};
    const auto comm = std::make_shared<SerialComm>();
    Lane<Values>* place = nullptr;
    Lane<Values> lane(2, OnLag::block, 1, comm, comm, [&](std::int64_t number, Values&)
    {
        place->mark(number);
        while (!go)
        {
            std::this_thread::yield();
        }
    });
    place = &lane;
    lane.hand({}, true);
    lane.awaitMark(0);      // the step goes on
    go = true;
    lane.drain();
    lane.awaitMark(7);      // all is done: it never comes
}


TEST(Lane, AFailureIsThrownAtEachLaterCall)
{
    FakeTrainer trainer;
    trainer.failAt = 2;
    Host host(trainer, 2, OnLag::block);
    trainer.allowAll();
    std::string message;
    int nSteps = 0;
    try
    {
        for (; nSteps < 100; ++nSteps)
        {
            host.step();
        }
    }
    catch (const Error& error)
    {
        message = error.what();
    }
    EXPECT_EQ(message, "step 2 has failed");
    EXPECT_LE(nSteps, 5);
    EXPECT_THROW(host.lane.check(), Error);
    EXPECT_THROW(host.lane.drain(), Error);
    EXPECT_THROW(host.lane.hold(), Error);
    EXPECT_THROW(host.lane.awaitMark(50), Error);
    EXPECT_EQ(trainer.done(), upTo(2));
}


TEST(Lane, MayBeDestroyedAtAnyMoment)
{
    for (int moment = 0; moment < 300; ++moment)
    {
        FakeTrainer trainer;
        trainer.failAt = moment % 7 == 0 ? 3 : -1;
        trainer.allowAll();
        const OnLag onLag = std::vector<OnLag>{OnLag::block, OnLag::dropOldest, OnLag::dropNewest,
            OnLag::reservoir}[moment % 4];
        Host host(trainer, 2 + moment % 3, onLag);
        try
        {
            for (int i = 0; i < moment % 13; ++i)
            {
                host.step();
                if (i == 5)
                {
                    const auto hold = host.lane.hold();
                }
            }
        }
        catch (const Error&)
        {
            EXPECT_EQ(trainer.failAt, 3);
        }
        const std::vector<int> done = trainer.done();
        EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
        EXPECT_TRUE(done.empty() || done.front() >= 0);
    }
}


TEST(Lane, AllRanksWorkOnTheSameItemsWhateverTheirSpeed)
{
    for (const OnLag onLag : {OnLag::block, OnLag::dropOldest, OnLag::dropNewest, OnLag::reservoir})
    {
        constexpr int nRanks = 3;
        std::vector<std::vector<int>> done(nRanks);
        std::vector<int> nLeftOut(nRanks, 0);
        onRanks(nRanks, [&](Comm& comm)
        {
            const auto threadComm = comm.forThread();
            std::vector<int>& mine = done[comm.rank()];
            Lane<int> lane(3, onLag, 9, borrowed(comm), threadComm, [&](std::int64_t, int& item)
            {
                double sum = item;
                threadComm->sum(Span<double>(&sum, 1));
                mine.push_back(sum == nRanks*item ? item : -1);
                if ((item + comm.rank()) % 5 == 0)
                {
                    std::this_thread::yield();
                }
            });
            for (int i = 0; i < 200; ++i)
            {
                nLeftOut[comm.rank()] += !lane.hand(i, true).isClean();
                if (i % 50 == 49)
                {
                    const auto hold = lane.hold();
                    double last = mine.empty() ? -1 : mine.back();
                    double sum = last;
                    comm.sum(Span<double>(&sum, 1));
                    EXPECT_EQ(sum, nRanks*last);
                }
            }
            lane.drain();
        });
        EXPECT_EQ(done[1], done[0]);
        EXPECT_EQ(done[2], done[0]);
        EXPECT_EQ(nLeftOut[1], nLeftOut[0]);
        EXPECT_EQ(done[0].size() + nLeftOut[0], 200u);
        EXPECT_EQ(std::count(done[0].begin(), done[0].end(), -1), 0);
        EXPECT_TRUE(std::is_sorted(done[0].begin(), done[0].end()));
    }
}


TEST(Lane, AFailureOnOneRankEndsTheWorkOnAll)
{
    std::vector<std::string> messages(3);
    onRanks(3, [&](Comm& comm)
    {
        const auto threadComm = comm.forThread();
        Lane<int> lane(2, OnLag::block, 9, borrowed(comm), threadComm, [&](std::int64_t, int& item)
        {
            if (item == 4 && comm.rank() == 1)
            {
                throw Error("the processor is on fire");
            }
            double sum = item;
            threadComm->sum(Span<double>(&sum, 1));
        });
        try
        {
            for (int i = 0; i < 100; ++i)
            {
                lane.hand(i, true);
            }
            lane.drain();
        }
        catch (const Error& error)
        {
            messages[comm.rank()] = error.what();
        }
    });
    EXPECT_EQ(messages[1], "the processor is on fire");
    EXPECT_EQ(messages[0], "rank 1: the processor is on fire");
    EXPECT_EQ(messages[2], "rank 1: the processor is on fire");
}


TEST(LaneDeathTest, ExitWhileItWorksEndsBehindTheStep)
{
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT
    (
        {
            // As static objects of a library that the work uses
            static const std::vector<int> data(1000, 7);
            const auto comm = std::make_shared<SerialComm>();
            std::atomic<bool> begun{false};
            auto* lane = new Lane<int>(4, OnLag::block, 1, comm, comm, [&](std::int64_t, int& item)
            {
                begun = true;
                for (int i = 0; i < 20000; ++i)
                {
                    item += data.at(i % 1000);
                    std::this_thread::yield();
                }
                std::fputs("whole ", stderr);
            });
            for (int i = 0; i < 4; ++i)
            {
                lane->hand(i, true);
            }
            while (!begun)
            {
                std::this_thread::yield();
            }
            std::exit(1);
        },
        testing::ExitedWithCode(1), "^whole $"
    );
}

}
}
