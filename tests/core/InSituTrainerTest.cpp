// SPDX-License-Identifier: GPL-3.0-or-later
#include "TrainerFixture.hpp"

#include "base/Error.hpp"
#include "io/Checkpoint.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <sstream>

namespace inSitu
{
namespace
{

TEST_F(InSituTrainerTest, LearnsAWaveBetterThanPersistence)
{
    WaveCase host;
    auto trainer = make(base + training, host, "leg");

    run(*trainer, host, 1, 400);

    const std::string last = reports("leg", 399).at(0);
    const std::string skillOfP = last.substr(last.rfind('\t') + 1);
    EXPECT_GT(std::stod(skillOfP), 0.5) << last;
}


// Before the first step, at the line where it is written
TEST_F(InSituTrainerTest, WhatOnlyAGpuDoesIsRefusedWhereNoneIs)
{
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
    const auto fault = [&](const std::string& entries, const std::string& more = "")
    {
        try
        {
            InSituTrainer(block("inputs: [U]\ntargets: [U]\n" + more + "training:\n  seed: 7\n"
                + entries), "surrogate", top, {}, std::make_shared<SerialComm>(),
                std::make_shared<CollectingLog>());
            return std::string("none");
        }
        catch (const ConfigError& error)
        {
            return std::to_string(error.line()) + ' ' + error.message();
        }
    };
    const std::string where = " and this run is on the cpu (no GPU is visible).\n    Remedy: ";
    EXPECT_EQ(fault("  device: auto\n"), "none");
    EXPECT_EQ(fault("  device: cuda\n"), "5 surrogate.training.device: device cuda cannot be used: no"
        " GPU is visible.\n    Remedy: choose device cpu, or auto, which takes a GPU where it can");
    EXPECT_EQ(fault("  castOn: device\n"),
        "5 surrogate.training.castOn: castOn device is for GPUs," + where + "castOn host");
    EXPECT_EQ(fault("  precision: float16\n"),
        "5 surrogate.training.precision: precision float16 is for GPUs," + where
            + "precision float32");
    EXPECT_EQ(fault("", "buffer: {location: device}\n"),
        "3 surrogate.buffer.location: buffer.location device is for GPUs," + where
            + "buffer { location auto; }, or host");
    unsetenv("CUDA_VISIBLE_DEVICES");
}


TEST_F(InSituTrainerTest, AResumedRunIsTheUnbrokenRun)
{
    // 17 executions complete 15 samples, of which 12 were trained on from the watermark on:
    // steps 13 and 14 of an accumulation over three lie on both sides of the later stops
    for (const int stop : {3, 17, 18, 19})
    {
        fs::remove_all(top);
        fs::create_directories(top);
        WaveCase host;

        auto whole = make(base + training, host, "whole");
        run(*whole, host, 1, stop);
        write(*whole, stop);
        run(*whole, host, stop + 1, 40);
        write(*whole, 40);

        auto resumed = make(base + training, host, "resumed", time(stop));
        resumed->resume({{time(stop), folder(stop)}});
        run(*resumed, host, stop + 1, 40);
        resumed->write(time(40), "40", top + "/again");

        EXPECT_EQ(reports("resumed", stop), reports("whole", stop)) << "stopped at " << stop;
        EXPECT_FALSE(reports("resumed", stop).empty());
        for (const char* file : {"/state.h5", "/rank0.h5", "/replay0.h5"})
        {
            EXPECT_EQ(contents(top + "/again" + file), contents(folder(40) + file)) << file;
        }
    }
}


TEST_F(InSituTrainerTest, NumberOfThreadsDoesNotChangeABit)
{
    std::vector<std::string> states;
    for (const char* threads : {"1", "2", "3"})
    {
        WaveCase host;
        std::string text = base + training;
        text.replace(text.find("nThreads: 2"), 11, std::string("nThreads: ") + threads);
        auto trainer = make(text, host, threads);
        run(*trainer, host, 1, 40);
        write(*trainer, 40);
        states.push_back(contents(folder(40) + "/replay0.h5"));
        EXPECT_EQ(reports(threads, 0), reports("1", 0));
    }
    EXPECT_EQ(states[0], states[1]);
    EXPECT_EQ(states[0], states[2]);
}


TEST_F(InSituTrainerTest, PassesOverADamagedCheckpoint)
{
    WaveCase host;
    auto first = make(base + training, host, "first");
    run(*first, host, 1, 10);
    write(*first, 10);
    run(*first, host, 11, 20);
    write(*first, 20);
    for (const std::string& damaged : {folder(20), top + "/stable/checkpoints/20"})
    {
        fs::resize_file(damaged + "/state.h5", 4000);
    }

    auto second = make(base + training, host, "second", time(20));
    second->resume({{time(20), folder(20)}, {time(10), folder(10)}});

    EXPECT_TRUE(CollectingLog::contains(log->warnings, folder(20)));
    EXPECT_TRUE(CollectingLog::contains(log->infos, "resumed from " + folder(10) + ": 8 samples"));
    EXPECT_TRUE(CollectingLog::contains(log->warnings, "is of time 1, the run starts at 2"));
    EXPECT_EQ(second->nPending(), 0u) << "their targets have gone by";
}


TEST_F(InSituTrainerTest, RefusesAnotherMeshOrModelAndNamesTheDifference)
{
    WaveCase host, other(5, 6);
    auto first = make(base + training, host, "first");
    run(*first, host, 1, 10);
    write(*first, 10);

    const auto complaint = [&](const std::string& text, WaveCase& wave)
    {
        auto second = make(text, wave, "second", time(10));
        try
        {
            second->resume({{time(10), folder(10)}});
        }
        catch (const IncompatibleState& fault)
        {
            return std::string(fault.what());
        }
        return std::string("no error");
    };

    // Both have 30 cells: counts must not fool it
    EXPECT_NE(complaint(base + training, other).find("another mesh"), std::string::npos);

    std::string wider = base + training;
    wider.replace(wider.find("hiddenSize: 12"), 14, "hiddenSize: 16");
    EXPECT_NE(complaint(wider, host).find("training.model.hiddenSize: 12 -> 16"), std::string::npos);

    // A learning rate is applied, and said
    std::string slower = base + training;
    slower.replace(slower.find("3e-3"), 4, "2e-3");
    EXPECT_EQ(complaint(slower, host), "no error");
    EXPECT_TRUE(CollectingLog::contains(log->infos, "training.optimizer.learningRate: 0.003 -> 0.002"));
}


TEST_F(InSituTrainerTest, StrictWantsTheCheckpointOfTheStartTime)
{
    WaveCase host;
    auto first = make(base + training, host, "first");
    run(*first, host, 1, 10);
    write(*first, 10);

    auto exact = make(base + "resume: strict\n" + training, host, "exact", time(10));
    EXPECT_NO_THROW(exact->resume({{time(10), folder(10)}}));
    auto later = make(base + "resume: strict\n" + training, host, "later", time(12));
    EXPECT_THROW(later->resume({{time(10), folder(10)}}), IncompatibleState);
}


TEST_F(InSituTrainerTest, APredictionThatIsNotFiniteIsNotShownEvenIfAnotherWasGood)
{
    std::string text = base + "horizonTime: 0.15\n" + training;
    text.replace(text.find("horizon: 2\n"), 11, "");
    text.replace(text.find("targets: [U, p]"), 15, "targets: [U]");
    text.replace(text.find("hiddenSize: 12"), 14, "hiddenSize: 12, activation: silu");
    WaveCase host;
    auto trainer = make(text, host, "leg");
    run(*trainer, host, 1, 6);
    EXPECT_FALSE(trainer->prediction().empty());

    // Finite, but no network gets past it; after a jump in time it meets its target with the input
    // of step 6, which is sound
    const auto& fields = host.fields(time(7));
    std::fill(host.p().begin(), host.p().end(), 3.4e38);
    trainer->execute(now(7), fields);
    EXPECT_FALSE(trainer->prediction().empty());
    run(*trainer, host, 12, 12);
    EXPECT_TRUE(trainer->prediction().empty());
    trainer->finish();
    EXPECT_NE(contents(top + "/leg/metrics.jsonl").find("\"badPrediction\":1"), std::string::npos);
}


TEST_F(InSituTrainerTest, NamesAValueThatIsNotFinite)
{
    WaveCase host;
    auto trainer = make(base + training, host, "leg");
    run(*trainer, host, 1, 6);

    host.fields(time(7));
    host.p()[13] = std::numeric_limits<double>::infinity();
    const std::vector<FieldView<double>> broken
    {
        host.fields(time(8))[0], {Span<const double>(host.p().data(), 30), {{host.p().data() + 30, 6}}}
    };
    host.p()[13] = std::numeric_limits<double>::infinity();
    try
    {
        trainer->execute(now(7), broken);
        FAIL() << "no error";
    }
    catch (const Error& fault)
    {
        EXPECT_NE(std::string(fault.what()).find("field p is not finite, or too large for"
            " float32, in row 13 at time 0.7"),
            std::string::npos) << fault.what();
    }
}


TEST_F(InSituTrainerTest, SaysAtItsEndThatNothingWasLearnt)
{
    WaveCase host;
    for (const auto& [nSteps, nWarnings] : {std::pair(2, 1u), {3, 0u}})
    {
        auto trainer = make(base + training, host, "leg");
        run(*trainer, host, 1, nSteps);
        trainer->finish();
        EXPECT_EQ(log->warnings.size(), nWarnings) << nSteps;
        EXPECT_EQ(CollectingLog::contains(log->warnings,
            "no input has met its target in 2 executions, which are fewer"), nWarnings == 1);
    }
}


TEST_F(InSituTrainerTest, AnUnwritablePlaceIsAWarningAndTriedAgain)
{
    WaveCase host;
    auto trainer = make(base + training, host, "leg");
    run(*trainer, host, 1, 10);
    std::ofstream(top + "/blocked") << "a file";

    EXPECT_NO_THROW(trainer->write(1, "10", top + "/blocked/uniform/surrogate"));
    EXPECT_TRUE(CollectingLog::contains(log->warnings, "at time 10 no new checkpoint"));

    write(*trainer, 10);
    EXPECT_TRUE(fs::exists(folder(10) + "/manifest.json"));
}


TEST_F(InSituTrainerTest, TakesOverWhatCanChangeAndRefusesTheRest)
{
    WaveCase host;
    auto trainer = make(base + training, host, "leg");
    run(*trainer, host, 1, 20);

    std::string changed = base + training;
    changed.replace(changed.find("3e-3"), 4, "1e-5");
    changed.replace(changed.find("horizon: 2"), 10, "horizon: 3");
    trainer->reconfigure(block(changed));
    run(*trainer, host, 21, 30);

    EXPECT_TRUE(CollectingLog::contains(log->infos, "applied training.optimizer.learningRate: 0.003 -> 1e-05"));
    EXPECT_TRUE(CollectingLog::contains(log->warnings, "horizon: 2 -> 3"));
    const std::string row = reports("leg", 29).at(0);
    EXPECT_NE(row.find("e-06"), std::string::npos) << row;      // 1e-5 · 0.99^k
}


TEST_F(InSituTrainerTest, PredictsTheValueOfItsOwnTime)
{
    WaveCase host;
    auto trainer = make(base + training, host, "leg");

    run(*trainer, host, 1, 3);
    EXPECT_TRUE(trainer->prediction().empty()) << "the first sample has no scales yet";
    run(*trainer, host, 4, 300);

    ASSERT_EQ(trainer->prediction().size(), 90u);
    double error = 0;
    double change = 0;
    const double now = time(300);
    const double then = time(298);
    for (int cell = 0; cell < 30; ++cell)
    {
        const double truth = host.fields(now)[1].cells[cell];
        const double before = host.fields(then)[1].cells[cell];
        error += std::pow(trainer->prediction()[3*cell + 2] - truth, 2);
        change += std::pow(before - truth, 2);
    }
    EXPECT_LT(error, 0.5*change);
}


TEST_F(InSituTrainerTest, AFlowThatSettlesDoesNotLeaveItsPastBehind)
{
    // After 600 steps the wave is exp(-0.3 60) = 1.5e-8 of what it was, and so are the scales
    WaveCase host(6, 5, 0.3);
    auto trainer = make(base + "normaliser: {memory: 10}\n" + training, host, "leg");

    run(*trainer, host, 1, 600);

    std::istringstream row(reports("leg", 599).at(0));
    double time, step, samples, loss, rate, norm, rmseU;
    row >> time >> step >> samples >> loss >> rate >> norm >> rmseU;
    EXPECT_LT(rmseU, 1e-5);     // increments were 0.1 at first
}


TEST_F(InSituTrainerTest, WeightsThatWouldNotBeFiniteAreNotTaken)
{
    // A gradient of exactly 0 (a unit that is off) makes 0/0 of Adam's step
    WaveCase host;
    std::string text = base + training;
    text.replace(text.find("learningRate: 3e-3"), 18, "learningRate: 3e-3, eps: 0");
    auto trainer = make(text, host, "leg");

    run(*trainer, host, 1, 40);
    write(*trainer, 40);

    EXPECT_TRUE(CollectingLog::contains(log->warnings, "new weights are not finite"));
    const StateTree weights = readState(folder(40)).subTree("loop/trainer/model");
    ASSERT_FALSE(weights.arrays().empty());
    for (const auto& [name, array] : weights.arrays())
    {
        for (const float value : weights.get<float>(name))
        {
            ASSERT_TRUE(std::isfinite(value)) << name;
        }
    }
}


TEST_F(InSituTrainerTest, ADamagedOldCheckpointStopsNothing)
{
    WaveCase host;
    auto first = make(base + training, host, "first");
    for (const int step : {10, 20})
    {
        run(*first, host, step - 9, step);
        write(*first, step);
    }
    std::ofstream(folder(10) + "/state.h5", std::ios::app) << 'x';

    auto second = make(base + training, host, "second", time(20));
    second->resume({{time(20), folder(20)}, {time(10), folder(10)}});
    for (const int step : {30, 40})
    {
        run(*second, host, step - 9, step);
        write(*second, step);
    }

    EXPECT_FALSE(CollectingLog::contains(log->warnings, "no new "));
    for (const char* kept : {"30", "40"})
    {
        EXPECT_TRUE(readCheckpoint(top + "/stable/checkpoints/" + kept).hasReplay) << kept;
    }
}


TEST_F(InSituTrainerTest, KeysOfAnotherTypeOfOptimiserAreNotApplied)
{
    WaveCase host;
    auto trainer = make(base + training, host, "leg");
    run(*trainer, host, 1, 20);

    std::string changed = base + training;
    changed.replace(changed.find("type: adam, learningRate: 3e-3"), 30, "type: sgd, learningRate: 0.5");
    trainer->reconfigure(block(changed));
    run(*trainer, host, 21, 30);

    EXPECT_FALSE(CollectingLog::contains(log->infos, "applied"));
    EXPECT_TRUE(CollectingLog::contains(log->warnings, "training.optimizer.learningRate: 0.003 -> 0.5"));
    std::istringstream row(reports("leg", 29).at(0));
    double time, step, samples, loss, rate;
    row >> time >> step >> samples >> loss >> rate;
    EXPECT_LT(rate, 0.003);
}


TEST_F(InSituTrainerTest, MisspeltKeysAreErrorsWithAProposal)
{
    const auto message = [&](const std::string& text)
    {
        try
        {
            InSituTrainer(block(text), "surrogate", top, {}, std::make_shared<SerialComm>(),
                std::make_shared<CollectingLog>());
        }
        catch (const ConfigError& fault)
        {
            return std::string(fault.what());
        }
        return std::string("no error");
    };

    EXPECT_NE(message(base + "horizont: 3\n").find("horizon"), std::string::npos);
    EXPECT_NE(message(base + "training: {optimizer: {type: adm}}\n").find("adam"), std::string::npos);
    EXPECT_NE(message(base + "buffer: {capacity: 4}\ntraining: {batchSize: 5}\n").find("batchSize 5"),
        std::string::npos);
}

}
}
