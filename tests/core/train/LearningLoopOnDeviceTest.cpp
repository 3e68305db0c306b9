// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/LearningLoop.hpp"

#include "FakeDevice.hpp"
#include "WaveCase.hpp"
#include "base/Error.hpp"
#include "config/YamlFile.hpp"
#include "train/Settings.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

// With `mode async` a device is served by the learner's thread. This one is the CPU and does nothing
// before it must.

namespace inSitu
{
namespace
{

//- What a run has come to: the reports, and all that was learnt
struct Outcome
{
    std::vector<std::vector<double>> reports;
    std::vector<std::vector<double>> predictions;
    std::map<std::string, std::string> learnt;
};


std::map<std::string, std::string> bytesOf(const StateTree& state)
{
    std::map<std::string, std::string> result;
    for (const auto& [name, array] : state.arrays())
    {
        result[name] = {static_cast<const char*>(array.data.get()), array.bytes()};
    }
    return result;
}


//- settleEach: steps after which everything is waited for; 0: only at the end
Outcome play(const std::string& mode, const std::string& more, int settleEach)
{
    const Settings settings = readSettings(parseYaml("inputs: [U, p]\ntargets: [U, p]\nhorizon: 2\n"
        "reportInterval: 3\nnThreads: 1\nnoise: 0.03\nbuffer: {capacity: 9, watermark: 2}\n" + mode
        + "training: {precision: float64, device: cuda, seed: 7, batchSize: 3, stepsPerExecute: 3,"
          " model: {type: meshGraphNet, processorSize: 2, hiddenSize: 8},"
          " optimizer: {type: adam, learningRate: 0.0078125, gradAccumulationSteps: 2,"
          " maxGradNorm: 0.4}" + more + "}\n", "controlDict"), "surrogate", ".", {});
    WaveCase host;
    TrainingCase theCase = host.theCase();
    theCase.meshMayChange = true;
    CaseMesh mesh = host.mesh();
    Profiler profiler;
    const auto device = std::make_shared<FakeDevice>();
    LearningLoop::Place place;
    place.devices = device;
    LearningLoop loop(settings, theCase, mesh, std::make_shared<SerialComm>(), profiler,
        [](const std::string&, const std::string&, double) {},
        [](const std::string& warning) { ADD_FAILURE() << warning; }, place);
    EXPECT_EQ(loop.trainer().device(), "cuda:0 (fake)");

    Outcome outcome;
    const auto takeReports = [&]
    {
        while (const auto report = loop.nextReport())
        {
            outcome.reports.push_back({report->time, static_cast<double>(report->step),
                static_cast<double>(report->samples),
                std::isnan(report->loss) ? -1 : report->loss, report->gradientNorm});
        }
    };
    for (int step = 1; step <= 40; ++step)
    {
        const double time = 0.1*step;
        if (step == 23)
        {
            host.move(0.3);
            mesh = host.mesh();
            loop.setGeometry(mesh);
        }
        loop.execute({time, step, 0.1}, host.fields(time));
        loop.askForReport(time, step);
        takeReports();
        if (settleEach > 0 && step % settleEach == 0)
        {
            const Span<const double> predicted = loop.prediction();
            outcome.predictions.emplace_back(predicted.begin(), predicted.end());
            const LearningLoop::Hold hold = loop.hold();
            EXPECT_EQ(loop.badSteps(), 0);
        }
    }
    loop.settle();
    takeReports();
    outcome.learnt = bytesOf(loop.save());
    EXPECT_EQ(loop.nSamples(), 38);
    EXPECT_EQ(loop.trainer().nSteps(), 3*37);
    EXPECT_EQ(device->queue->nRecords > 0, more.find("capture: no") == std::string::npos);
    return outcome;
}

}


namespace
{

//- A run whose cells are cut on its way, which drops what waits, and which stops and goes on if it
//  is asked to; the buffer gives up samples all the time
std::map<std::string, std::string> playOn(const std::string& location, const std::string& more,
    bool stops)
{
    const Settings settings = readSettings(parseYaml("inputs: [U, p]\ntargets: [U, p]\nhorizon: 2\n"
        "reportInterval: 4\nnThreads: 1\nnoise: 0.03\nonTopologyChange: drop\n" + more
        + "buffer: {capacity: 6, watermark: 2, location: " + location + "}\n"
          "training: {precision: float32, device: cuda, seed: 7, batchSize: 3, stepsPerExecute: 2,"
          " maxCaptures: 40, model: {type: meshGraphNet, processorSize: 2, hiddenSize: 8},"
          " optimizer: {type: adam, learningRate: 0.0078125}}\n", "controlDict"),
        "surrogate", ".", {});
    WaveCase host;
    TrainingCase theCase = host.theCase();
    theCase.meshMayChange = true;
    CaseMesh mesh = host.mesh();
    Profiler profiler;
    const auto makeLoop = [&]
    {
        LearningLoop::Place place;
        place.devices = std::make_shared<FakeDevice>();
        auto loop = std::make_unique<LearningLoop>(settings, theCase, mesh,
            std::make_shared<SerialComm>(), profiler,
            [](const std::string&, const std::string&, double) {},
            [](const std::string& warning) { ADD_FAILURE() << warning; }, place);
        EXPECT_EQ(loop->trainer().keepsSamplesThere(), location == "device");
        return loop;
    };
    std::unique_ptr<LearningLoop> loop = makeLoop();
    for (int step = 1; step <= 36; ++step)
    {
        const double time = 0.1*step;
        if (step == 14)
        {
            host.refine();
            mesh = host.mesh();
            loop->setTopology(mesh, {});
        }
        if (step % 5 == 0)
        {
            host.move(time);
            mesh = host.mesh();
            loop->setGeometry(mesh);
        }
        loop->execute({time, step, 0.1}, host.fields(time));
        loop->askForReport(time, step);
        if (stops && (step == 9 || step == 20))
        {
            loop->settle();
            const StateTree state = loop->save(), part = loop->savePart();
            const StateTree replay = loop->saveReplay();
            loop = makeLoop();
            loop->load(state, part, &replay);
            loop->learnLoaded();
        }
    }
    loop->settle();
    EXPECT_EQ(loop->nSamples(), 32);
    EXPECT_EQ(loop->badSteps(), 0);
    return bytesOf(loop->save());
}

}


TEST(LearningLoopOnDevice, ABufferOnTheDeviceLearnsAsTheHostsToTheBit)
{
    for (const std::string more : {"", "mode: async\nqueue: {slots: 3}\n"})
    {
        const auto expected = playOn("host", more, false);
        EXPECT_EQ(playOn("device", more, false), expected);
        EXPECT_EQ(playOn("device", more, true), expected);
    }
    EXPECT_EQ(playOn("auto", "", false), playOn("host", "", false));
}


TEST(LearningLoopOnDevice, WhatOnlyAGpuDoesIsRefusedWithTheCpu)
{
    const auto read = [](const std::string& location, const std::string& training)
    {
        return readSettings(parseYaml("inputs: [p]\ntargets: [p]\nbuffer:\n  location: " + location
            + "\ntraining:\n  seed: 7\n  " + training, "controlDict"), "surrogate", ".", {});
    };
    const auto fault = [&](const std::string& location, const std::string& training)
    {
        try
        {
            read(location, training + "\n  device: cpu");
            return std::string("none");
        }
        catch (const ConfigError& error)
        {
            return std::to_string(error.line()) + ' ' + error.message();
        }
    };
    const std::string where = " is for GPUs, and this run is on the cpu (training.device cpu).\n"
        "    Remedy: ";
    EXPECT_EQ(fault("device", "batchSize: 3"), "4 surrogate: buffer.location device" + where
        + "buffer { location auto; }, or host");
    EXPECT_EQ(fault("auto", "castOn: device"), "7 surrogate: castOn device" + where
        + "castOn host");
    EXPECT_EQ(fault("auto", "precision: float16"), "7 surrogate: precision float16" + where
        + "precision float32");
    EXPECT_EQ(fault("auto", "precision: float64"), "none");
    EXPECT_EQ(read("device", "castOn: device").object.buffer.location, "device");
}


TEST(LearningLoopOnDevice, AThreadOfItsOwnLearnsTheSameToTheBit)
{
    for (const std::string more : {"", ", capture: no", ", lrScheduler: {type: step, stepSize: 7}"})
    {
        const Outcome sync = play("", more, 0);
        EXPECT_EQ(sync.reports.size(), 13u);
        EXPECT_GT(sync.learnt.size(), 40u);
        for (const int slots : {2, 6})
        {
            const Outcome async = play("mode: async\nqueue: {slots: " + std::to_string(slots)
                + "}\n", more, 0);
            EXPECT_EQ(async.reports, sync.reports);
            EXPECT_EQ(async.learnt, sync.learnt);
        }
    }
}


TEST(LearningLoopOnDevice, WhoLooksInBetweenChangesNothing)
{
    const Outcome sync = play("", "", 4);
    const Outcome async = play("mode: async\nqueue: {slots: 5}\n", "", 4);
    EXPECT_EQ(async.reports, sync.reports);
    EXPECT_EQ(async.predictions, sync.predictions);
    EXPECT_EQ(async.learnt, sync.learnt);
    EXPECT_EQ(sync.predictions.size(), 10u);
    EXPECT_FALSE(sync.predictions.back().empty());
    EXPECT_EQ(play("", "", 0).learnt, sync.learnt);
}

}
