// SPDX-License-Identifier: GPL-3.0-or-later
#include "InSituTrainer.hpp"

#include "config/YamlFile.hpp"
#include "TemporaryFolder.hpp"
#include "ThreadComm.hpp"
#include "TrainerFixture.hpp"
#include "WavePart.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <mutex>
#include <sstream>

// One training on a whole mesh and on parts of it: the same numbers, to rounding

namespace inSitu
{
namespace
{

struct Course
{
    std::vector<std::vector<double>> reports;       // rows of training.dat
    std::vector<std::vector<double>> predictions;   // [step][row of the whole mesh]
};


struct Ranks
{
    int n;
    bool moves;
    std::string training;
    double tolerance;
    int trainers = 0;

    friend std::ostream& operator<<(std::ostream& stream, const Ranks& set)
    {
        return stream << set.n << " ranks, " << set.trainers << " train, "
            << (set.moves ? "moving" : "at rest");
    }
};


std::vector<std::vector<double>> tableOf(const std::string& path)
{
    std::ifstream stream(path);
    std::vector<std::vector<double>> rows;
    for (std::string line; std::getline(stream, line);)
    {
        if (line[0] == '#')
        {
            continue;
        }
        std::istringstream words(line);
        rows.emplace_back();
        for (std::string word; words >> word;)
        {
            rows.back().push_back(std::strtod(word.c_str(), nullptr));
        }
    }
    return rows;
}


Course courseOn(int nRanks, const Ranks& set, const std::string& folder)
{
    constexpr int nSteps = 24;
    Course course;
    course.predictions.resize(nSteps);
    std::mutex mutex;
    onRanks(nRanks, [&](Comm& comm)
    {
        WaveCase whole(7, 6);
        const int nColumns = 3;
        WavePart host(whole, raggedRanks(whole.nCells(), nRanks), comm);
        InSituTrainer trainer(parseYaml("inputs: [U, p]\ntargets: [U, p]\nhorizon: 2\n"
            "reportInterval: 1\nnThreads: 1\nnoise: 0.03\ncheckReplicas: 3\n"
            "buffer: {capacity: 6}\nselfCheck: 1\ntrainerRanks: " + std::to_string(set.trainers)
            + '\n' + set.training, "controlDict"), "surrogate", folder, {},
            std::shared_ptr<Comm>(&comm, [](Comm*) {}), std::make_shared<CollectingLog>());
        TrainingCase theCase = host.theCase();
        theCase.outputFolder = folder + "/on" + std::to_string(nRanks);
        theCase.stableFolder = theCase.outputFolder;
        trainer.begin(theCase, host.mesh());
        for (int step = 0; step < nSteps; ++step)
        {
            const double time = 0.1*step;
            if (set.moves)
            {
                host.whole().move(time);
                trainer.setGeometry(host.mesh());
            }
            trainer.execute({time, step, 0.1}, host.fields(time));

            const Span<const double> predicted = trainer.prediction();
            const std::lock_guard<std::mutex> lock(mutex);
            std::vector<double>& rows = course.predictions[step];
            for (std::size_t i = 0; i < predicted.size(); ++i)
            {
                rows.resize(nColumns*whole.nCells());
                rows[nColumns*host.cells()[i/nColumns] + i % nColumns] = predicted[i];
            }
        }
        trainer.check();
        trainer.finish();
    });
    course.reports = tableOf(folder + "/on" + std::to_string(nRanks) + "/training.dat");
    return course;
}


class InSituTrainerRanks : public testing::TestWithParam<Ranks>
{
protected:

    const TemporaryFolder temporary;
};


const std::string wideNet = "training: {precision: float64, seed: 7, batchSize: 2,"
    " stepsPerExecute: 2, model: {type: meshGraphNet, processorSize: 2, hiddenSize: 12},"
    " optimizer: {type: adam, learningRate: 3e-3, maxGradNorm: 0.4}}\n";

const std::string narrowNet = "training: {precision: float32, seed: 7, batchSize: 2,"
    " model: {type: meshGraphNet, processorSize: 2, hiddenSize: 12},"
    " optimizer: {type: sgd, learningRate: 1e-2}}\n";

const std::string perCell = "training: {precision: float64, seed: 3, batchSize: 3,"
    " model: {type: mlp, hiddenSize: 11}, loss: {type: l1, weights: volume},"
    " optimizer: {type: adamw, learningRate: 3e-3, gradAccumulationSteps: 2}}\n";

}


TEST_P(InSituTrainerRanks, TheDecompositionDoesNotMatter)
{
    const Ranks& set = GetParam();
    const Course alone = courseOn(1, set, temporary/"runs");
    const Course together = courseOn(set.n, set, temporary/"runs");

    ASSERT_EQ(alone.reports.size(), 24u);
    ASSERT_EQ(together.reports.size(), alone.reports.size());
    for (std::size_t row = 0; row < alone.reports.size(); ++row)
    {
        for (std::size_t column = 0; column < alone.reports[row].size(); ++column)
        {
            const double expected = alone.reports[row][column];
            const double got = together.reports[row][column];
            EXPECT_TRUE(std::abs(got - expected) <= set.tolerance*std::abs(expected)
                || (std::isnan(got) && std::isnan(expected)))
                << "row " << row << " column " << column << ": " << got << " for " << expected;
        }
    }
    EXPECT_GE(alone.reports.back()[1], 19) << "training steps";
    for (std::size_t step = 0; step < alone.predictions.size(); ++step)
    {
        ASSERT_EQ(together.predictions[step].size(), alone.predictions[step].size());
        for (std::size_t i = 0; i < alone.predictions[step].size(); ++i)
        {
            // of the pressure 1e5, of which the network predicts the increment
            EXPECT_NEAR(together.predictions[step][i], alone.predictions[step][i],
                set.tolerance*(i % 3 == 2 ? 1e5 : 1));
        }
    }
    EXPECT_EQ(alone.predictions.back().size(), 3u*42);
}


INSTANTIATE_TEST_SUITE_P(OnRanks, InSituTrainerRanks, testing::Values
(
    Ranks{2, false, wideNet, 1e-11},
    Ranks{3, false, wideNet, 1e-11},
    Ranks{4, false, wideNet, 1e-11},
    Ranks{3, true, wideNet, 1e-11},
    Ranks{2, false, perCell, 1e-11},
    Ranks{3, true, narrowNet, 1e-3},
    Ranks{4, false, wideNet, 1e-11, 1},
    Ranks{4, true, wideNet, 1e-11, 2},
    Ranks{3, true, wideNet, 1e-11, 1},
    Ranks{3, false, perCell, 1e-11, 2}
));


TEST(InSituTrainerPending, WhatOneRankHasLostIsDroppedOnAll)
{
    const TemporaryFolder temporary;
    for (const int trainers : {0, 2})
    {
        for (const bool lost : {false, true})
        {
            SCOPED_TRACE(std::to_string(trainers) + (lost ? " train, lost" : " train"));
            const std::string folder = temporary/(std::to_string(trainers) + (lost ? "lost" : ""));
            onRanks(4, [&](Comm& comm)
            {
                WavePart host(WaveCase(7, 6), raggedRanks(42, 4), comm);
                InSituTrainer trainer(parseYaml("inputs: [U, p]\ntargets: [U, p]\nhorizon: 2\n"
                    "nThreads: 1\ntrainerRanks: " + std::to_string(trainers) + '\n' + perCell,
                    "controlDict"), "surrogate", folder, {}, borrowed(comm),
                    std::make_shared<CollectingLog>());
                TrainingCase theCase = host.theCase();
                theCase.outputFolder = theCase.stableFolder = folder;
                trainer.begin(theCase, host.mesh());
                const auto run = [&](int from, int to)
                {
                    for (int step = from; step <= to; ++step)
                    {
                        trainer.execute({0.1*step, step, 0.1}, host.fields(0.1*step));
                    }
                };
                run(1, 6);
                std::vector<PendingAccess::Pending> pending(trainer.nPending());
                ASSERT_EQ(pending.size(), 2u);
                for (std::size_t i = 0; i < pending.size(); ++i)
                {
                    trainer.getPending(i, pending[i]);
                    EXPECT_EQ(pending[i].target.size(), 3*host.cells().size());
                }
                if (lost && comm.rank() == 3)
                {
                    pending.clear();
                }
                CaseMesh mesh = host.mesh();
                mesh.state.graph = std::make_shared<MeshGraph>(*mesh.state.graph);
                trainer.setTopology(mesh, pending);
                EXPECT_EQ(trainer.nPending(), lost ? 0u : 2u) << comm.rank();
                run(7, 14);
                EXPECT_EQ(trainer.nPending(), 2u);
                trainer.finish();
            });

            std::ifstream stream(folder + "/metrics.jsonl");
            const std::string lines{std::istreambuf_iterator<char>(stream), {}};
            const std::string end = lines.substr(lines.rfind("{\"event\":\"end\""));
            EXPECT_THAT(end, testing::HasSubstr(lost ? "\"mapped\":0" : "\"mapped\":2"));
            EXPECT_EQ(end.find("\"topologyChange\":2") != std::string::npos, lost) << end;
        }
    }
}

}
