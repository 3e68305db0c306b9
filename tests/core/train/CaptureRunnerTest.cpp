// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/CaptureRunner.hpp"

#include "FakeDevice.hpp"
#include "ThreadComm.hpp"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

using namespace inSitu;
using testing::ElementsAre;
using testing::HasSubstr;

namespace
{

using Mode = CaptureRunner::Mode;
using State = CaptureRunner::State;

struct CaptureRunnerTest : testing::Test
{
    CaptureRunner make(Mode mode, std::int64_t maxCaptures = 2)
    {
        return CaptureRunner(device, device->queue, nullptr, mode, maxCaptures,
            [this](const std::string& text) { notes.push_back(text); });
    }

    //- States of so many runs
    std::vector<State> run(CaptureRunner& runner, std::int64_t key, int times = 1)
    {
        std::vector<State> states;
        for (int i = 0; i < times; ++i)
        {
            states.push_back(runner.run(CaptureKey().add(key), [this] { ++nRuns; }));
        }
        return states;
    }

    int done()
    {
        device->queue->waitFor(device->queue->mark());
        return nRuns;
    }

    std::shared_ptr<FakeDevice> device = std::make_shared<FakeDevice>();
    std::vector<std::string> notes;
    int nRuns = 0;
};

}


TEST_F(CaptureRunnerTest, WarmsUpCapturesAndReplays)
{
    CaptureRunner runner = make(Mode::automatic);
    EXPECT_THAT(run(runner, 7, 6), ElementsAre(State::warmUp, State::warmUp, State::warmUp,
        State::captured, State::replay, State::replay));
    EXPECT_EQ(done(), 6);
    EXPECT_EQ(device->queue->nRecords, 1);
    EXPECT_EQ(runner.nCaptures(), 1);
    EXPECT_EQ(runner.nReplays(), 3);
}


//- Kernels that are loaded while the device waits for a rank that has left would wait too
TEST_F(CaptureRunnerTest, WhatIsNewFindsTheDeviceAtRest)
{
    CaptureRunner alone = make(Mode::automatic);
    run(alone, 7, 6);
    EXPECT_EQ(nRuns, 0);
    EXPECT_EQ(done(), 6);

    nRuns = 0;
    device->queue->hasOtherRanks = true;
    CaptureRunner runner = make(Mode::automatic, 2);
    run(runner, 7, 6);
    EXPECT_EQ(nRuns, 3);        // before the recording
    run(runner, 8);
    EXPECT_EQ(nRuns, 6);
    run(runner, 8, 4);
    EXPECT_EQ(nRuns, 9);        // before the second recording
    run(runner, 9);
    EXPECT_EQ(nRuns, 11);       // the recordings are too many
    run(runner, 7, 5);
    EXPECT_EQ(nRuns, 11);
    EXPECT_EQ(done(), 17);
}


TEST_F(CaptureRunnerTest, KeepsARecordingPerKey)
{
    CaptureRunner runner = make(Mode::automatic);
    run(runner, 7, 5);
    EXPECT_THAT(run(runner, 8, 5), ElementsAre(State::warmUp, State::warmUp, State::warmUp,
        State::captured, State::replay));
    EXPECT_THAT(run(runner, 7, 2), ElementsAre(State::replay, State::replay));
    EXPECT_THAT(run(runner, 8), ElementsAre(State::replay));
    EXPECT_EQ(done(), 13);
}


TEST_F(CaptureRunnerTest, GoesOnEagerlyBeyondTheLargestNumber)
{
    CaptureRunner runner = make(Mode::automatic, 2);
    run(runner, 1, 4);
    run(runner, 2, 4);
    EXPECT_THAT(run(runner, 3, 5), testing::Each(State::eager));
    EXPECT_THAT(run(runner, 4), ElementsAre(State::eager));
    EXPECT_THAT(run(runner, 1), ElementsAre(State::replay));
    EXPECT_EQ(done(), 15);
    ASSERT_EQ(notes.size(), 1u);
    EXPECT_THAT(notes.front(), HasSubstr("maxCaptures 2"));
}


TEST_F(CaptureRunnerTest, MeshesThatMoveOnTakeNoPlace)
{
    CaptureRunner runner = make(Mode::automatic, 2);
    for (int mesh = 10; mesh < 20; ++mesh)
    {
        EXPECT_THAT(run(runner, mesh, 2), ElementsAre(State::warmUp, State::warmUp));
    }
    EXPECT_THAT(run(runner, 1, 4).back(), State::captured);
    EXPECT_TRUE(notes.empty());
}


TEST_F(CaptureRunnerTest, WhatWasNotRecordedGivesWayAndStartsAnew)
{
    CaptureRunner runner = make(Mode::automatic, 2);
    run(runner, 1, 4);
    run(runner, 2, 2);
    EXPECT_THAT(run(runner, 3), ElementsAre(State::warmUp));
    EXPECT_THAT(run(runner, 2, 4), ElementsAre(State::warmUp, State::warmUp, State::warmUp,
        State::captured));
    EXPECT_TRUE(notes.empty());
    EXPECT_THAT(run(runner, 3), ElementsAre(State::eager));
    EXPECT_THAT(run(runner, 1), ElementsAre(State::replay));
    EXPECT_EQ(done(), 13);
    EXPECT_EQ(notes.size(), 1u);
}


TEST_F(CaptureRunnerTest, TheLongestUnusedGivesWay)
{
    CaptureRunner runner = make(Mode::automatic, 2);
    for (int other = 10; other < 13; ++other)
    {
        EXPECT_THAT(run(runner, 1), ElementsAre(State::warmUp));
        EXPECT_THAT(run(runner, other), ElementsAre(State::warmUp));
    }
    EXPECT_THAT(run(runner, 1), ElementsAre(State::captured));
}


TEST_F(CaptureRunnerTest, MemoryThatMovedInvalidatesAll)
{
    CaptureRunner runner = make(Mode::automatic);
    run(runner, 1, 5);
    run(runner, 2, 5);
    ++device->queue->stamp;
    EXPECT_THAT(run(runner, 1, 5), ElementsAre(State::warmUp, State::warmUp, State::warmUp,
        State::captured, State::replay));
    EXPECT_THAT(run(runner, 2), ElementsAre(State::warmUp));
    runner.forget();
    EXPECT_THAT(run(runner, 1), ElementsAre(State::warmUp));
    EXPECT_EQ(done(), 17);
}


TEST_F(CaptureRunnerTest, RefusalIsToldOnceOrFails)
{
    device->queue->refuses = true;
    CaptureRunner runner = make(Mode::automatic);
    EXPECT_THAT(run(runner, 1, 6).back(), State::eager);
    EXPECT_EQ(done(), 6);
    ASSERT_EQ(notes.size(), 1u);
    EXPECT_THAT(notes.front(), HasSubstr("refused"));

    CaptureRunner strict = make(Mode::required);
    run(strict, 1, 3);
    EXPECT_THROW(run(strict, 1), Error);

    CaptureRunner off = make(Mode::off);
    EXPECT_THAT(run(off, 1, 6), testing::Each(State::eager));
}


TEST(CaptureRunnerOfRanks, AllDoTheSameAtATime)
{
    onRanks(2, [](Comm& comm)
    {
        const bool isSecond = comm.rank() == 1;
        const auto device = std::make_shared<FakeDevice>();
        const auto ranks = device->joinRanks(0, borrowed(comm));
        const auto queue = device->queue;
        std::vector<std::string> notes;
        int nRuns = 0;
        CaptureRunner runner(device, device->makeQueue(0, ranks), ranks, Mode::automatic, 2,
            [&](const std::string& text) { notes.push_back(text); });
        const auto run = [&](std::int64_t key, int times)
        {
            std::vector<State> states;
            for (int i = 0; i < times; ++i)
            {
                states.push_back(runner.run(CaptureKey().add(key), [&] { ++nRuns; }));
            }
            return states;
        };
        const auto anew = ElementsAre(State::warmUp, State::warmUp, State::warmUp,
            State::captured, State::replay);
        EXPECT_THAT(run(7, 5), anew);

        // The memory of one of them has moved
        queue->stamp += isSecond;
        EXPECT_THAT(run(7, 5), anew);
        EXPECT_EQ(queue->nRecords, 2);

        // One of them cannot record
        queue->refuses = isSecond;
        EXPECT_THAT(run(8, 5), ElementsAre(State::warmUp, State::warmUp, State::warmUp,
            State::eager, State::eager));
        EXPECT_THAT(run(7, 2), testing::Each(State::eager));
        queue->waitFor(queue->mark());
        EXPECT_EQ(nRuns, 17);
        ASSERT_EQ(notes.size(), 1u);
        EXPECT_THAT(notes.front(), HasSubstr("rank 1: refused"));
    });
}


TEST(CaptureKey, SeesWhatATensorIs)
{
    const at::Tensor tensor = at::zeros({3, 4});
    const auto keyOf = [](const at::Tensor& t) { return CaptureKey().add(t); };
    EXPECT_TRUE(keyOf(tensor) == keyOf(tensor.alias()));
    EXPECT_FALSE(keyOf(tensor) == keyOf(tensor.clone()));
    EXPECT_FALSE(keyOf(tensor) == keyOf(tensor.view({4, 3})));
    EXPECT_FALSE(keyOf(tensor) == keyOf(tensor.view(at::kInt)));
    EXPECT_FALSE(CaptureKey().add(0.5) == CaptureKey().add(0.25));
}
