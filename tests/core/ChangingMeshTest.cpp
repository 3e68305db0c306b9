// SPDX-License-Identifier: GPL-3.0-or-later
#include "TrainerFixture.hpp"

#include "base/Error.hpp"
#include "io/Checkpoint.hpp"

#include <gmock/gmock.h>

#include <cmath>

using testing::HasSubstr;
using testing::ThrowsMessage;

namespace inSitu
{
namespace
{

// The facade on meshes that move or change during the run.

class ChangingMeshTest : public InSituTrainerTest
{
protected:

    ChangingMeshTest()
    {
        meshMayChange = true;
    }

    //- Steps on points that move: each execution has a geometry of its own
    void moveAndRun(InSituTrainer& trainer, WaveCase& host, int from, int to) const
    {
        for (int step = from; step <= to; ++step)
        {
            host.move(time(step));
            trainer.setGeometry(host.mesh());
            run(trainer, host, step, step);
        }
    }

    //- Cut the cells and hand the inputs that wait over: a new cell has the value of the old one
    static void refine(InSituTrainer& trainer, WaveCase& host)
    {
        std::vector<InSituTrainer::Pending> pending(trainer.nPending());
        for (std::size_t i = 0; i < pending.size(); ++i)
        {
            trainer.getPending(i, pending[i]);
            EXPECT_EQ(pending[i].timeIndex, trainer.pendingTimeIndex(i));
            pending[i].input = doubled(pending[i].input);
            pending[i].target = doubled(pending[i].target);
        }
        host.refine();
        trainer.setTopology(host.mesh(), pending);
    }

    static std::vector<double> doubled(const std::vector<double>& rows)
    {
        std::vector<double> result;
        for (std::size_t row = 0; row < rows.size()/3; ++row)
        {
            for (int copy = 0; copy < 2; ++copy)
            {
                result.insert(result.end(), rows.begin() + 3*row, rows.begin() + 3*row + 3);
            }
        }
        return result;
    }

    std::string lastLine(const std::string& leg) const
    {
        const std::string text = contents(top + '/' + leg + "/metrics.jsonl");
        return text.substr(text.rfind('\n', text.size() - 2) + 1);
    }

    std::string checkpoint(int step) const
    {
        std::string all;
        for (const char* file : {"/state.h5", "/rank0.h5", "/replay0.h5"})
        {
            all += contents(folder(step) + file);
        }
        return all;
    }
};

}


TEST_F(ChangingMeshTest, OnAMovingMeshARestartContinuesBitForBit)
{
    WaveCase host, stopped;
    auto whole = make(base + training, host, "whole");
    moveAndRun(*whole, host, 1, 30);
    write(*whole, 30);
    const std::string expected = checkpoint(30);

    auto first = make(base + training, stopped, "first");
    moveAndRun(*first, stopped, 1, 17);
    write(*first, 17);
    auto second = make(base + training, stopped, "second", time(17));
    second->resume({{time(17), folder(17)}});
    moveAndRun(*second, stopped, 18, 30);
    write(*second, 30);

    EXPECT_EQ(reports("second", 17), reports("whole", 17));
    EXPECT_TRUE(checkpoint(30) == expected);
    second->check();
    second->finish();
    EXPECT_THAT(lastLine("second"), HasSubstr("\"edgeFeatures\":{\"start\":1,\"geometry\":"));
}


TEST_F(ChangingMeshTest, WhatWaitsAndWhatIsDrawnShareAMeshAfterARestartAsBefore)
{
    // Points move every third step: at step 19 an input waits on the points of step 16, on which
    // the buffer has samples, too
    const auto run = [this](InSituTrainer& trainer, WaveCase& host, int from, int to)
    {
        for (int step = from; step <= to; ++step)
        {
            if (step % 3 == 1)
            {
                host.move(time(step));
                trainer.setGeometry(host.mesh());
            }
            InSituTrainerTest::run(trainer, host, step, step);
        }
    };
    WaveCase host, stopped;
    auto whole = make(base + training, host, "whole");
    run(*whole, host, 1, 30);
    write(*whole, 30);
    const std::string expected = checkpoint(30);

    auto first = make(base + training, stopped, "first");
    run(*first, stopped, 1, 19);
    write(*first, 19);
    auto second = make(base + training, stopped, "second", time(19));
    second->resume({{time(19), folder(19)}});
    run(*second, stopped, 20, 30);
    write(*second, 30);

    EXPECT_EQ(reports("second", 19), reports("whole", 19));
    EXPECT_TRUE(checkpoint(30) == expected);
}


TEST_F(ChangingMeshTest, NewCellsTakeOverWhatWaitsAndARestartContinuesBitForBit)
{
    WaveCase host, stopped;
    auto whole = make(base + training, host, "whole");
    run(*whole, host, 1, 20);
    refine(*whole, host);
    run(*whole, host, 21, 30);
    write(*whole, 30);
    const std::string expected = checkpoint(30);

    // Stopped twice: just before the change, when inputs wait on the old mesh, and after it, when the
    // buffer has samples of both
    auto first = make(base + training, stopped, "first");
    run(*first, stopped, 1, 20);
    write(*first, 20);
    auto second = make(base + training, stopped, "second", time(20));
    second->resume({{time(20), folder(20)}});
    refine(*second, stopped);
    run(*second, stopped, 21, 23);
    write(*second, 23);
    auto third = make(base + training, stopped, "third", time(23));
    third->resume({{time(23), folder(23)}});
    run(*third, stopped, 24, 30);
    write(*third, 30);

    EXPECT_EQ(reports("third", 23), reports("whole", 23));
    EXPECT_TRUE(checkpoint(30) == expected);
    EXPECT_EQ(third->prediction().size(), 180u);

    whole->finish();
    second->finish();
    for (const char* leg : {"whole", "second"})
    {
        EXPECT_THAT(lastLine(leg), HasSubstr("\"mapped\":2,\"dropped\":{}")) << leg;
    }
}


TEST_F(ChangingMeshTest, WithoutValuesOfAllWhatWaitsIsDroppedAndCounted)
{
    for (const std::size_t given : {0, 1})
    {
        WaveCase host;
        auto trainer = make(base + training, host, "leg");
        run(*trainer, host, 1, 20);
        host.refine();
        trainer->setTopology(host.mesh(), std::vector<InSituTrainer::Pending>(given));
        EXPECT_EQ(trainer->nPending(), 0u);
        run(*trainer, host, 21, 30);

        trainer->finish();
        EXPECT_THAT(lastLine("leg"),
            HasSubstr("\"mapped\":0,\"dropped\":{\"topologyChange\":2}"));
    }
}


TEST_F(ChangingMeshTest, WhatWasLearntOnTheOldMeshHoldsOnTheNewOne)
{
    WaveCase host;
    auto trainer = make(base + "normaliser: {memory: 10}\n" + training, host, "leg");
    run(*trainer, host, 1, 400);
    refine(*trainer, host);
    run(*trainer, host, 401, 405);

    // of U and p, in the first report after the change
    std::istringstream row(reports("leg", 404).at(0));
    double column[10];
    for (double& value : column)
    {
        row >> value;
    }
    EXPECT_GT(column[8], 0.3);
    EXPECT_GT(column[9], 0.3);
}


TEST_F(ChangingMeshTest, AnOlderCheckpointMayHaveAnotherMeshIfTheMeshMayChange)
{
    WaveCase host;
    auto first = make(base + training, host, "first");
    run(*first, host, 1, 10);
    write(*first, 10);
    host.refine();

    auto later = make(base + training, host, "later", time(12));
    later->resume({{time(10), folder(10)}});
    EXPECT_TRUE(CollectingLog::contains(log->warnings, "what lies between is not learnt"));
    run(*later, host, 13, 30);
    later->finish();
    EXPECT_THAT(lastLine("later"), HasSubstr("\"gap\":2"));

    auto sameTime = make(base + training, host, "sameTime", time(10));
    EXPECT_THAT([&] { sameTime->resume({{time(10), folder(10)}}); },
        ThrowsMessage<IncompatibleState>(HasSubstr("the checkpoint has 30 cells, the run has 60")));
    meshMayChange = false;
    auto fixed = make(base + training, host, "fixed", time(12));
    EXPECT_THAT([&] { fixed->resume({{time(10), folder(10)}}); },
        ThrowsMessage<IncompatibleState>(HasSubstr("another mesh")));
}


TEST_F(ChangingMeshTest, WhatWaitedIsDroppedIfTheMeshIsNoLongerThatOfTheStartTime)
{
    WaveCase host;
    auto first = make(base + training, host, "first");
    run(*first, host, 1, 10);
    write(*first, 10);
    host.refine();
    meshOfStartTime = false;

    auto second = make(base + training, host, "second", time(10));
    second->resume({{time(10), folder(10)}});

    EXPECT_TRUE(CollectingLog::contains(log->warnings, "inputs that waited there are dropped"));
    EXPECT_EQ(second->nPending(), 0u);
    run(*second, host, 11, 20);
}


TEST_F(ChangingMeshTest, AMeshThatOutgrowsTheMemoryIsAWarningAndTrainingGoesOn)
{
    // 30 cells: 0.9 kB of values and 4.5 kB of mesh each; the watermark of 4 does not fit later:
    // one sample and its mesh take more
    WaveCase host;
    auto trainer = make(base + "buffer: {maxMemory: 0.03}\n" + training, host, "leg");
    run(*trainer, host, 1, 10);
    for (int times = 0; times < 3; ++times)
    {
        refine(*trainer, host);
    }
    EXPECT_TRUE(CollectingLog::contains(log->warnings, "the mesh has grown: buffer.maxMemory"));
    EXPECT_EQ(log->warnings.size(), 1u);

    run(*trainer, host, 11, 20);
    trainer->finish();
    EXPECT_TRUE(CollectingLog::contains(log->infos, "18 samples, 15 training steps"));

    // A restart finds the large mesh, a new run may not begin on it
    write(*trainer, 20);
    auto second = make(base + "buffer: {maxMemory: 0.03}\n" + training, host, "second", time(20));
    EXPECT_TRUE(CollectingLog::contains(log->warnings, "the mesh has grown: buffer.maxMemory"));
    second->resume({{time(20), folder(20)}});
    run(*second, host, 21, 22);
    second->finish();
    EXPECT_TRUE(CollectingLog::contains(log->infos, "20 samples, 17 training steps"));
    EXPECT_THAT([&] { make(base + "buffer: {maxMemory: 0.03}\n" + training, host, "new"); },
        ThrowsMessage<Error>(HasSubstr("raise maxMemory")));
}


TEST_F(ChangingMeshTest, WhatTheHostKeepsReadyForMappingCountsAsMemory)
{
    // 30 cells: 1.2 kB of an input that waits, and 1.6 kB more in the fields of the host
    std::string text = base + "horizonTime: 50\nbuffer: {maxMemory: 0.06}\n" + training;
    text.replace(text.find("horizon: 2\n"), 11, "");
    for (const bool mapped : {false, true})
    {
        WaveCase host;
        auto trainer = make(text + (mapped ? "" : "onTopologyChange: drop\n"), host, "leg");
        run(*trainer, host, 1, 40);
        EXPECT_EQ(trainer->nPending(), mapped ? 11u : 27u);
    }
}


TEST_F(ChangingMeshTest, AHorizonInSecondsHoldsWhenTheStepChanges)
{
    std::string text = base + "horizonTime: 0.2\nfeatures: [deltaT]\n" + training;
    text.replace(text.find("horizon: 2\n"), 11, "");
    WaveCase host;
    auto trainer = make(text, host, "leg");
    run(*trainer, host, 1, 10);
    EXPECT_EQ(trainer->nPending(), 2u);

    // Half the step: twice as many wait
    for (int half = 21; half <= 26; ++half)
    {
        trainer->execute({0.05*half, half, 0.05}, host.fields(0.05*half));
    }
    EXPECT_EQ(trainer->nPending(), 4u);
    EXPECT_THAT(contents(top + "/leg/metrics.jsonl"), HasSubstr("\"samples\":8"));
}


TEST_F(ChangingMeshTest, StepsThatAreNotFiniteEndTheObjectWhenThereAreTooManyInARow)
{
    // A gradient of exactly 0 (a unit that is off) makes 0/0 of Adam's step
    WaveCase host;
    std::string text = base + "maxBadSteps: 2\n" + training;
    text.replace(text.find("learningRate: 3e-3"), 18, "learningRate: 3e-3, eps: 0");
    text.replace(text.find("gradAccumulationSteps: 3"), 24, "gradAccumulationSteps: 1");
    auto trainer = make(text, host, "leg");

    EXPECT_THAT([&] { run(*trainer, host, 1, 60); },
        ThrowsMessage<Error>(HasSubstr("That makes 3 in a row (maxBadSteps 2)")));
}


TEST_F(ChangingMeshTest, NoCheckpointIsWrittenWhileStepsAreNotFinite)
{
    WaveCase host;
    std::string text = base + "maxBadSteps: 1000\n" + training;
    text.replace(text.find("learningRate: 3e-3"), 18, "learningRate: 3e-3, eps: 0");
    text.replace(text.find("gradAccumulationSteps: 3"), 24, "gradAccumulationSteps: 1");
    auto trainer = make(text, host, "leg");
    run(*trainer, host, 1, 60);

    write(*trainer, 60);

    EXPECT_TRUE(CollectingLog::contains(log->warnings, "no checkpoint at time 60: the last "));
    EXPECT_FALSE(fs::exists(folder(60)));
}


TEST_F(ChangingMeshTest, WhereNothingIsLearntAWarningSaysSoOnce)
{
    WaveCase host;
    auto trainer = make(base + training, host, "leg");
    run(*trainer, host, 1, 20);
    EXPECT_TRUE(log->warnings.empty());
    for (int step = 21; step <= 40; ++step)
    {
        trainer->setTopology(host.mesh(), {});
        run(*trainer, host, step, step);
    }

    ASSERT_EQ(log->warnings.size(), 1u);
    EXPECT_THAT(log->warnings[0], HasSubstr("up to time 2.5: 1 inputs wait for "
        "their target; left out so far: 6 (topologyChange)"));
}


TEST_F(ChangingMeshTest, AHorizonBeyondTheRunIsSaidAtItsStart)
{
    std::string text = base + "horizonTime: 7\n" + training;
    text.replace(text.find("horizon: 2\n"), 11, "");
    WaveCase host;
    endTime = 5;
    auto trainer = make(text, host, "leg");
    EXPECT_TRUE(CollectingLog::contains(log->warnings,
        "horizonTime 7 is longer than the run, which ends at 5"));
    run(*trainer, host, 1, 20);
    EXPECT_EQ(log->warnings.size(), 1u) << "inputs may still wait";
}

}
