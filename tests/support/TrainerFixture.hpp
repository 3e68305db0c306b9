// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "InSituTrainer.hpp"

#include "base/Error.hpp"
#include "config/YamlFile.hpp"
#include "TemporaryFolder.hpp"
#include "WaveCase.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

namespace fs = std::filesystem;

namespace inSitu
{

struct CollectingLog final : LogSink
{
    void info(const std::string& text) override { infos.push_back(text); }
    void warning(const std::string& text) override { warnings.push_back(text); }

    static bool contains(const std::vector<std::string>& texts, const std::string& part)
    {
        return std::any_of(texts.begin(), texts.end(),
            [&](const std::string& text) { return text.find(part) != std::string::npos; });
    }

    std::vector<std::string> infos;
    std::vector<std::string> warnings;
};


inline const std::string base = R"(
inputs: [U, p]
targets: [U, p]
horizon: 2
reportInterval: 5
nThreads: 2
)";

inline const std::string training = R"(
training:
  seed: 7
  batchSize: 2
  model: {type: meshGraphNet, processorSize: 2, hiddenSize: 12}
  optimizer: {type: adam, learningRate: 3e-3, gradAccumulationSteps: 3}
  lrScheduler: {type: exponential, gamma: 0.99}
)";


//- Runs of a WaveCase in legs, as a solver that is stopped and started
class InSituTrainerTest : public testing::Test
{
protected:

    void SetUp() override
    {
        fs::remove_all(top);
        fs::create_directories(top);
    }

    Node block(const std::string& text) const
    {
        return parseYaml(text, "controlDict");
    }

    std::unique_ptr<InSituTrainer> make(const std::string& text, WaveCase& host, const std::string& leg,
        double startTime = 0)
    {
        log = std::make_shared<CollectingLog>();
        auto trainer = std::make_unique<InSituTrainer>(block(text), "surrogate", top,
            std::vector<std::string>{}, std::make_shared<SerialComm>(), log);

        TrainingCase theCase = host.theCase();
        theCase.outputFolder = top + '/' + leg;
        theCase.stableFolder = top + "/stable";
        theCase.startTime = startTime;
        theCase.endTime = endTime;
        theCase.meshMayChange = meshMayChange;
        theCase.meshOfStartTime = meshOfStartTime;
        trainer->begin(theCase, host.mesh());
        return trainer;
    }

    static double time(int step) { return 0.1*step; }
    static Instant now(int step) { return {time(step), step, 0.1}; }

    std::string folder(int step) const { return top + "/time" + std::to_string(step); }

    void run(InSituTrainer& trainer, WaveCase& host, int from, int to) const
    {
        for (int step = from; step <= to; ++step)
        {
            trainer.execute(now(step), host.fields(time(step)));
        }
    }

    void write(InSituTrainer& trainer, int step) const
    {
        trainer.write(time(step), std::to_string(step), folder(step));
    }

    // Report lines of a leg from a time on
    std::vector<std::string> reports(const std::string& leg, int fromStep) const
    {
        std::ifstream stream(top + '/' + leg + "/training.dat");
        std::vector<std::string> rows;
        for (std::string row; std::getline(stream, row);)
        {
            if (row[0] != '#' && std::stod(row) > time(fromStep) + 1e-9)
            {
                rows.push_back(row);
            }
        }
        return rows;
    }

    std::string contents(const std::string& path) const
    {
        std::ifstream stream(path, std::ios::binary);
        EXPECT_TRUE(stream.is_open()) << path;
        return {std::istreambuf_iterator<char>(stream), {}};
    }

    const TemporaryFolder temporary;
    const std::string top = temporary/"inSituTrainer";
    double endTime = 1000;
    bool meshMayChange = false;
    bool meshOfStartTime = true;
    std::shared_ptr<CollectingLog> log;
};

}
