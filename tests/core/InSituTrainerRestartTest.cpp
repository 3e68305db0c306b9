// SPDX-License-Identifier: GPL-3.0-or-later
#include "InSituTrainer.hpp"

#include "base/Text.hpp"
#include "io/Hdf5File.hpp"
#include "io/Manifest.hpp"
#include "ThreadComm.hpp"
#include "TrainerFixture.hpp"
#include "WatchedComm.hpp"
#include "WavePart.hpp"

#include <gmock/gmock.h>

#include <optional>

// Trainings over several ranks that stop and go on, on as many ranks or on others

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

namespace inSitu
{
namespace
{

//- A part of a run, between two starts of the solver
struct Leg
{
    std::string name;
    int nRanks = 1;
    int from = 1;                       //!< its first step; > 1: resumes at the one before
    int to = 40;
    std::vector<int> writeAt = {};
    bool shifted = false;               //!< another decomposition
    bool named = true;                  //!< rows have the names of the undecomposed mesh
    bool moves = false;
    std::string more = "";              //!< of the configuration
    WaveCase whole = WaveCase(7, 6);
    FaceMesh::Indices ranks = {};       //!< of the cells; empty: as shifted says

    //- Called on each rank after each call of all ranks
    std::function<void(int rank, int step)> watch = [](int, int) {};
};


class InSituTrainerRestart : public InSituTrainerTest
{
protected:

    static FaceMesh::Indices ranksOf(const Leg& leg)
    {
        if (!leg.ranks.empty())
        {
            return leg.ranks;
        }
        return raggedRanks(leg.whole.nCells(), leg.nRanks, leg.shifted ? 2 : 3);
    }

    void play(const Leg& leg)
    {
        logs.assign(leg.nRanks, nullptr);
        onRanks(leg.nRanks, [&](Comm& comm)
        {
            int step = 0;
            WatchedComm watched(comm, [&](int) { leg.watch(comm.rank(), step); });
            WavePart host(leg.whole, ranksOf(leg), comm);
            if (!leg.named)
            {
                host.forgetNames();
            }
            const auto ownLog = std::make_shared<CollectingLog>();
            logs[comm.rank()] = ownLog;
            InSituTrainer trainer(block(configuration + leg.more), "surrogate", top, {},
                borrowed(watched), ownLog);

            const double start = leg.from > 1 ? time(leg.from - 1) : 0;
            if (leg.moves)
            {
                host.whole().move(start);
            }
            TrainingCase theCase = host.theCase();
            theCase.outputFolder = top + '/' + leg.name;
            theCase.stableFolder = stable;
            theCase.startTime = start;
            theCase.meshMayChange = leg.moves;
            trainer.begin(theCase, host.mesh());
            if (leg.from > 1)
            {
                trainer.resume(places(leg.from - 1));
            }
            for (step = leg.from; step <= leg.to; ++step)
            {
                if (leg.moves)
                {
                    host.whole().move(time(step));
                    trainer.setGeometry(host.mesh());
                }
                trainer.execute(now(step), host.fields(time(step)));
                if (std::count(leg.writeAt.begin(), leg.writeAt.end(), step))
                {
                    trainer.write(time(step), numberText(time(step)), folder(step));
                }
            }
            trainer.finish();
        });
    }

    //- Checkpoints that are there, newest first
    std::vector<CheckpointPlace> places(int latest) const
    {
        std::vector<CheckpointPlace> result;
        for (int step = latest; step > 0; --step)
        {
            if (fs::exists(folder(step)))
            {
                result.push_back({time(step), folder(step)});
            }
        }
        return result;
    }

    std::vector<std::vector<double>> table(const std::string& leg, int fromStep) const
    {
        std::vector<std::vector<double>> rows;
        for (const std::string& line : reports(leg, fromStep))
        {
            std::istringstream words(line);
            rows.emplace_back();
            for (std::string word; words >> word;)
            {
                rows.back().push_back(std::strtod(word.c_str(), nullptr));
            }
        }
        return rows;
    }

    void expectSameCourse(const std::string& leg, const std::string& unbroken, int stop) const
    {
        const auto expected = table(unbroken, stop);
        const auto found = table(leg, stop);
        ASSERT_EQ(found.size(), expected.size());
        ASSERT_GE(expected.size(), 20u);
        for (std::size_t row = 0; row < expected.size(); ++row)
        {
            for (std::size_t column = 0; column < expected[row].size(); ++column)
            {
                EXPECT_NEAR(found[row][column], expected[row][column],
                    1e-10*std::abs(expected[row][column]))
                    << leg << " row " << row << " column " << column;
            }
        }
    }

    //- All files but the manifest, which has their checksums
    std::map<std::string, std::string> filesIn(const std::string& place) const
    {
        std::map<std::string, std::string> files;
        for (const auto& entry : fs::directory_iterator(place))
        {
            files[entry.path().filename().string()] = contents(entry.path().string());
        }
        return files;
    }

    bool warns(const std::string& text) const
    {
        return CollectingLog::contains(logs.at(0)->warnings, text);
    }

    bool tells(const std::string& text) const
    {
        return CollectingLog::contains(logs.at(0)->infos, text);
    }

    const std::string configuration = "inputs: [U, p]\ntargets: [U, p]\nhorizon: 2\n"
        "reportInterval: 1\nnThreads: 1\nnoise: 0.03\nfeatures: [deltaT]\nbuffer: {capacity: 6}\n"
        "training: {precision: float64, seed: 7, batchSize: 3, stepsPerExecute: 2,"
        " model: {type: meshGraphNet, processorSize: 2, hiddenSize: 12},"
        " optimizer: {type: adam, learningRate: 3e-3, gradAccumulationSteps: 3},"
        " lrScheduler: {type: exponential, gamma: 0.99}}\n";
    const std::string stable = top + "/stable";
    std::vector<std::shared_ptr<CollectingLog>> logs;
};

}


TEST_F(InSituTrainerRestart, OnTheSameRanksItIsTheUnbrokenRunBitForBit)
{
    // Accumulation over three steps: two of the stops lie within
    for (const int stop : {17, 18, 19})
    {
        play({"whole", 2, 1, 40, {stop, 40}});
        const auto expected = filesIn(folder(40));
        play({"resumed", 2, stop + 1, 40, {40}});

        EXPECT_EQ(reports("resumed", stop), reports("whole", stop)) << stop;
        EXPECT_EQ(reports("resumed", stop).size(), 40u - stop);
        const auto found = filesIn(folder(40));
        EXPECT_EQ(found.size(), 6u);
        for (const auto& [name, content] : expected)
        {
            EXPECT_TRUE(found.at(name) == content) << name << ", stopped at " << stop;
        }
        EXPECT_THAT(logs[1]->warnings, IsEmpty());
        SetUp();
    }
}


TEST_F(InSituTrainerRestart, AlsoOnAMeshThatMoves)
{
    Leg whole{"whole", 3, 1, 30, {17, 30}}, resumed{"resumed", 3, 18, 30, {30}};
    whole.moves = resumed.moves = true;
    play(whole);
    const auto expected = filesIn(folder(30));
    play(resumed);

    EXPECT_EQ(reports("resumed", 17), reports("whole", 17));
    const auto found = filesIn(folder(30));
    EXPECT_EQ(found.size(), 8u);
    for (const auto& [name, content] : expected)
    {
        EXPECT_TRUE(found.at(name) == content) << name;
    }
}


TEST_F(InSituTrainerRestart, TheGeneratorOfTheModelIsThatOfTheRank)
{
    // Units that are left out at random
    std::string text = configuration;
    text.replace(text.find("type: meshGraphNet, processorSize: 2"), 36,
        "type: mlp, dropout: 0.3");
    WaveCase host;
    auto whole = make(text, host, "whole");
    run(*whole, host, 1, 17);
    write(*whole, 17);
    run(*whole, host, 18, 30);
    const auto goOn = [&](const std::string& leg)
    {
        auto resumed = make(text, host, leg, time(17));
        resumed->resume({{time(17), folder(17)}});
        run(*resumed, host, 18, 30);
        return reports(leg, 17);
    };
    EXPECT_EQ(goOn("resumed"), reports("whole", 17));

    StateTree part = readHdf5(folder(17) + "/rank0.h5");
    part.put("modelGenerator", std::vector<std::uint8_t>(16, 1));
    writeHdf5(folder(17) + "/rank0.h5", part);
    Manifest manifest = Manifest::read(folder(17));
    for (Manifest::File& file : manifest.files)
    {
        file = Manifest::measure(folder(17), file.name);
    }
    manifest.write(folder(17));
    EXPECT_NE(goOn("other"), reports("whole", 17));
}


TEST_F(InSituTrainerRestart, OnOtherRanksTheCourseIsTheSame)
{
    for (const auto& [before, after] : std::vector<std::pair<int, int>>
        {{2, 3}, {2, 1}, {1, 3}, {4, 2}, {2, 2}})
    {
        play({"whole", before, 1, 40, {19}});
        Leg resumed{"resumed", after, 20, 40};
        resumed.shifted = true;
        play(resumed);

        expectSameCourse("resumed", "whole", 19);
        EXPECT_THAT(logs[0]->warnings, IsEmpty());
        EXPECT_TRUE(tells("17 samples, 28 training steps\n    saved on " + std::to_string(before)
            + (before == 1 ? " rank: " : " ranks: "))) << before << " to " << after;
        SetUp();
    }
}


TEST_F(InSituTrainerRestart, WithoutNamesSamplesAndWaitingInputsAreDroppedWithAMessage)
{
    play({"whole", 2, 1, 19, {19}});
    const StateTree saved = readState(folder(19)).subTree("loop");

    for (const int nRanks : {3, 2})
    {
        Leg resumed{"resumed", nRanks, 20, 40, {20}};
        resumed.shifted = true;
        resumed.named = false;
        play(resumed);

        // On as many ranks samples hold with their own meshes; an input needs the rows now
        EXPECT_THAT(logs[0]->warnings, Contains(AllOf(
            HasSubstr(nRanks == 2 ? "0 samples and 2 inputs" : "6 samples and 2 inputs"),
            HasSubstr("written on 2 ranks and is read on " + std::to_string(nRanks)),
            HasSubstr("cellProcAddressing"))));
        EXPECT_EQ(logs[1]->warnings, logs[0]->warnings);
        const StateTree after = readState(folder(20)).subTree("loop");
        EXPECT_EQ(after.getInt("stream/samples"), 17);
        EXPECT_EQ(after.getArray("replay/id").count(), nRanks == 2 ? 6u : 0u);
        EXPECT_EQ(after.getArray("stream/pending/time").count(), 1u);
        EXPECT_EQ(after.getInt("trainer/nSteps"), saved.getInt("trainer/nSteps"));
        const StateTree optimizer = saved.subTree("trainer/optimizer");
        for (const auto& [name, array] : optimizer.arrays())
        {
            const StateTree::Array& now = after.getArray("trainer/optimizer/" + name);
            EXPECT_EQ(std::memcmp(now.data.get(), array.data.get(), array.bytes()), 0) << name;
        }
        EXPECT_EQ(table("resumed", 39).size(), 1u);
        fs::remove_all(top + "/resumed");
    }
}


TEST_F(InSituTrainerRestart, SamplesOnAnEarlierMeshAreNotBroughtToOtherRanks)
{
    // Refined between steps 16 and 17 on one rank: what waits goes on there
    WaveCase host(7, 6);
    auto first = make(configuration, host, "first");
    run(*first, host, 1, 16);
    host.refine();
    std::vector<InSituTrainer::Pending> pending(first->nPending());
    for (std::size_t i = 0; i < pending.size(); ++i)
    {
        first->getPending(i, pending[i]);
        for (std::vector<double>* rows : {&pending[i].input, &pending[i].target})
        {
            std::vector<double> twice;
            for (auto row = rows->begin(); row != rows->end(); row += 3)
            {
                twice.insert(twice.end(), row, row + 3);
                twice.insert(twice.end(), row, row + 3);
            }
            *rows = twice;
        }
    }
    first->setTopology(host.mesh(), pending);
    run(*first, host, 17, 19);
    write(*first, 19);
    const auto ids = readState(folder(19)).get<std::int64_t>("loop/replay/id");
    const auto nOld = std::count_if(ids.begin(), ids.end(), [](auto id) { return id < 14; });
    ASSERT_GT(nOld, 0);
    ASSERT_LT(nOld, 6);

    Leg resumed{"resumed", 2, 20, 24, {20}};
    resumed.whole.refine();
    play(resumed);
    EXPECT_TRUE(warns(std::to_string(nOld) + " of 6 samples are dropped: they lie on an earlier"
        " state of the mesh"));
    EXPECT_EQ(logs[0]->warnings.size(), 1u);
    EXPECT_EQ(readState(folder(20)).getInt("loop/stream/samples"), 18);
}


TEST_F(InSituTrainerRestart, OnAMeshThatHasMovedValuesStayWithTheirRanks)
{
    Leg whole{"whole", 2, 1, 19, {19}}, resumed{"resumed", 3, 20, 24};
    whole.moves = resumed.moves = true;
    play(whole);
    play(resumed);
    EXPECT_TRUE(warns("the 2 inputs that waited for their target are dropped: they lie on an"
        " earlier state"));
    EXPECT_TRUE(warns("6 of 6 samples are dropped"));
    EXPECT_TRUE(tells("resumed from " + folder(19)));
}


TEST_F(InSituTrainerRestart, AnotherMeshIsRefusedOnAllRanks)
{
    play({"whole", 2, 1, 10, {10}});

    const auto faultsOf = [&](Leg leg)
    {
        leg.from = 11;
        leg.to = 12;
        std::string fault;
        try
        {
            play(leg);
        }
        catch (const IncompatibleState& refusal)
        {
            fault = refusal.what();
        }
        return fault;
    };
    for (const int nRanks : {1, 2, 3})
    {
        // 42 cells, too
        Leg other{"other", nRanks};
        other.whole = WaveCase(6, 7);
        EXPECT_THAT(faultsOf(other), HasSubstr("another mesh: the checkpoint has 42 cells, the run"
            " has 42 cells")) << nRanks;

        // Every third row stays: those of the first rank
        Leg moved{"moved", nRanks};
        for (int cell = 0; cell < 42; ++cell)
        {
            moved.ranks.push_back(cell % 3 == 0 ? 0 : cell % nRanks);
        }
        moved.whole.move(0.2);
        EXPECT_THAT(faultsOf(moved), HasSubstr("same topology, but other points")) << nRanks;
    }
}


TEST_F(InSituTrainerRestart, APartThatIsDamagedOrMissingMakesTheNextOlderOneServe)
{
    const auto spoil = [](const std::string& file)
    {
        std::fstream(file, std::ios::in | std::ios::out | std::ios::binary).seekp(900).put('#');
    };
    for (const bool missing : {false, true})
    {
        play({"whole", 3, 1, 20, {10, 20}});
        for (const std::string& place : {folder(20), stable + "/checkpoints/2"})
        {
            // Both are the same file
            missing ? static_cast<void>(fs::remove(place + "/rank2.h5"))
                : place == folder(20) ? spoil(place + "/replay1.h5") : void();
        }
        play({"resumed", 3, 21, 22});

        EXPECT_TRUE(warns(missing ? "rank2.h5 is missing" : "rank 1: checkpoint '" + folder(20)
            + "': replay1.h5 is damaged")) << logs[0]->warnings.at(0);
        EXPECT_TRUE(warns("checkpoints/2"));
        EXPECT_TRUE(tells("resumed from " + folder(10) + ": 8 samples"));
        for (const auto& log : logs)
        {
            EXPECT_EQ(log->warnings, logs[0]->warnings);
        }
        SetUp();
    }
}


TEST_F(InSituTrainerRestart, ARankThatCannotWriteIsAWarningAndTriedAgain)
{
    Leg leg{"whole", 3, 1, 20, {10, 20}};
    leg.watch = [&](int rank, int step)
    {
        const std::string temporary = folder(10) + ".tmp" + std::to_string(getpid());
        if (rank == 1 && step == 10 && fs::exists(temporary)
         && !fs::exists(temporary + "/rank1.h5"))
        {
            fs::create_directory(temporary + "/rank1.h5");
        }
    };
    play(leg);

    ASSERT_EQ(logs[0]->warnings.size(), 1u);
    EXPECT_THAT(logs[0]->warnings[0], AllOf(HasSubstr("at time 1 no new checkpoint: rank 1: "),
        HasSubstr("rank1.h5"), HasSubstr("tried again at the next write time")));
    EXPECT_FALSE(fs::exists(folder(10)));
    EXPECT_TRUE(isGoodCheckpoint(folder(20)));
    play({"resumed", 3, 21, 22});
    EXPECT_TRUE(tells("resumed from " + folder(20)));
}


TEST_F(InSituTrainerRestart, AnEarlierFormatIsRefusedClearly)
{
    play({"whole", 2, 1, 10, {10}});
    for (const int nRanks : {1, 2})
    {
        // As earlier versions wrote it
        StateTree state = readState(folder(10));
        state.putInt("run/format", 4);
        fs::remove_all(folder(10));
        fs::create_directory(folder(10));
        writeHdf5(folder(10) + "/state.h5", state);
        writeHdf5(folder(10) + "/replay.h5", StateTree());
        Manifest manifest;
        manifest.files.push_back(Manifest::measure(folder(10), "state.h5"));
        manifest.files.push_back(Manifest::measure(folder(10), "replay.h5"));
        manifest.write(folder(10));

        EXPECT_THAT([&] { play({"resumed", nRanks, 11, 12}); },
            testing::ThrowsMessage<IncompatibleState>(AllOf(HasSubstr("does not fit this run:"),
                HasSubstr("format 4 of another version of inSituFoam; this one reads 7"))));
    }
}


TEST_F(InSituTrainerRestart, TheGraphAndTheCardAreThoseOfTheWholeMesh)
{
    const auto graphOn = [&](int nRanks, const std::string& more, bool named)
    {
        Leg leg{"whole", nRanks, 1, 5, {5}};
        leg.more = more;
        leg.named = named;
        play(leg);
        return readHdf5(stable + "/graph.h5");
    };
    const StateTree alone = graphOn(1, "", true);
    const std::string model = contents(stable + "/model.pt");
    const StateTree together = graphOn(3, "", true);

    EXPECT_EQ(together.texts(), alone.texts());
    for (const auto& [name, array] : alone.arrays())
    {
        const bool ofOneProcess = name == "edge_face" || name == "edge_sign";
        ASSERT_EQ(together.has(name), !ofOneProcess) << name;
        if (ofOneProcess)
        {
            continue;
        }
        const StateTree::Array& found = together.getArray(name);
        EXPECT_EQ(found.shape, array.shape) << name;
        if (name != "edges")
        {
            EXPECT_EQ(std::memcmp(found.data.get(), array.data.get(), array.bytes()), 0) << name;
        }
    }
    const auto expected = alone.get<double>("edges");
    const auto edges = together.get<double>("edges");
    for (std::size_t i = 0; i < expected.size(); ++i)
    {
        EXPECT_NEAR(edges[i], expected[i], 1e-14);
    }
    EXPECT_EQ(alone.get<std::int64_t>("faces").size(), 7u);
    const auto cardOf = [](const std::string& text)
    {
        const auto begin = text.find("\"mesh\":");
        return text.substr(begin, text.find(",\"precision", begin) - begin);
    };
    EXPECT_EQ(cardOf(model), "\"mesh\":\"42 cells\"");
    EXPECT_EQ(cardOf(contents(stable + "/model.pt")), cardOf(model));

    const StateTree counted = graphOn(3, "", false);
    EXPECT_EQ(counted.getText("order"), "ranks");
    EXPECT_FALSE(counted.has("faces"));
    EXPECT_EQ(counted.getInt("n_edges"), alone.getInt("n_edges"));
}

}
