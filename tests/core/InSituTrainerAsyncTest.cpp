// SPDX-License-Identifier: GPL-3.0-or-later
#include "GatedComm.hpp"
#include "ThreadComm.hpp"
#include "TrainerFixture.hpp"
#include "WavePart.hpp"

#include "io/Checkpoint.hpp"
#include "io/Hdf5File.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>
#include <sstream>
#include <thread>

// A training in a thread of its own: the same as one that the solver waits for, only later

namespace inSitu
{
namespace
{

using testing::HasSubstr;

const std::string async = "mode: async\n";


//- A network that takes longer than a step of the host by far
const std::string slowTraining = R"(
training:
  seed: 7
  batchSize: 3
  stepsPerExecute: 25
  model: {type: meshGraphNet, processorSize: 2, hiddenSize: 16}
  optimizer: {type: adam, learningRate: 3e-3, gradAccumulationSteps: 3}
)";


class InSituTrainerAsync : public InSituTrainerTest
{
protected:

    //- As make(), with a closed gate before the thread
    std::unique_ptr<InSituTrainer> makeGated(const std::string& text, WaveCase& host,
        const std::string& leg)
    {
        log = std::make_shared<CollectingLog>();
        auto trainer = std::make_unique<InSituTrainer>(block(text), "surrogate", top,
            std::vector<std::string>{}, std::make_shared<GatedComm>(gate), log);
        TrainingCase theCase = host.theCase();
        theCase.outputFolder = top + '/' + leg;
        theCase.stableFolder = top + "/stable";
        theCase.endTime = endTime;
        theCase.meshMayChange = meshMayChange;
        trainer->begin(theCase, host.mesh());
        gate->close();
        return trainer;
    }

    //- All that was learnt, and what it was learnt from: name → bytes
    std::map<std::string, std::string> learnt(const std::string& place) const
    {
        std::map<std::string, std::string> result;
        const auto add = [&](const std::string& prefix, const StateTree& tree)
        {
            for (const auto& [name, array] : tree.arrays())
            {
                result[prefix + name] = {static_cast<const char*>(array.data.get()), array.bytes()};
            }
            for (const auto& [name, text] : tree.texts())
            {
                result[prefix + name] = text;
            }
        };
        add("state/", readState(place).subTree("loop"));
        add("part/", readHdf5(place + "/rank0.h5"));
        add("replay/", readHdf5(place + "/replay0.h5"));
        return result;
    }

    void expectSame(const std::string& place, const std::string& other) const
    {
        const auto found = learnt(place), expected = learnt(other);
        EXPECT_GT(expected.size(), 40u);
        EXPECT_EQ(found.size(), expected.size());
        for (const auto& [name, bytes] : expected)
        {
            const auto entry = found.find(name);
            EXPECT_TRUE(entry != found.end() && entry->second == bytes) << name;
        }
    }

    //- Everything is learnt, then a checkpoint
    void writeSettled(InSituTrainer& trainer, const std::string& place) const
    {
        trainer.revision();
        trainer.write(time(1), "1", top + '/' + place);
    }

    static std::map<std::string, std::int64_t> dropped(const std::string& folder)
    {
        std::ifstream stream(folder + "/metrics.jsonl");
        std::map<std::string, std::int64_t> counts;
        for (std::string line; std::getline(stream, line);)
        {
            const auto begin = line.find("\"dropped\":{");
            if (line.find("\"event\":\"end\"") == std::string::npos || begin == std::string::npos)
            {
                continue;
            }
            for (const char* reason : {"lagOldest", "lagNewest", "lagReservoir", "gap"})
            {
                const std::string key = '"' + std::string(reason) + "\":";
                const auto place = line.find(key, begin);
                if (place != std::string::npos)
                {
                    counts[reason] = std::stoll(line.substr(place + key.size()));
                }
            }
        }
        return counts;
    }

    std::shared_ptr<Gate> gate = std::make_shared<Gate>();
};


TEST_F(InSituTrainerAsync, LearnsTheSameToTheBit)
{
    for (const std::string more : {"", "horizonTime: 0.25\n", "noise: 0.05\nfeatures: [deltaT]\n"})
    {
        SetUp();
        std::string text = base + more;
        if (more[0] == 'h' && more[1] == 'o')
        {
            text.erase(text.find("horizon: 2\n"), 11);
        }
        WaveCase host;
        auto sync = make(text + training, host, "sync");
        run(*sync, host, 1, 60);
        writeSettled(*sync, "syncTime");
        sync->finish();
        for (const std::string slots : {"2", "5"})
        {
            auto other = make(text + async + "queue: {slots: " + slots + "}\n" + training, host,
                "async" + slots);
            run(*other, host, 1, 60);
            writeSettled(*other, "asyncTime");
            other->finish();
            expectSame(top + "/asyncTime", top + "/syncTime");
            EXPECT_EQ(reports("async" + slots, 0), reports("sync", 0));
            EXPECT_EQ(reports("sync", 0).size(), 12u);
            fs::remove_all(top + "/asyncTime");
        }
    }
}


TEST_F(InSituTrainerAsync, AResumedRunIsTheUnbrokenRunWithItsQueue)
{
    WaveCase host;
    const std::string text = base + async + "queue: {slots: 7}\n" + slowTraining;
    auto whole = make(base + slowTraining, host, "whole");
    run(*whole, host, 1, 40);
    writeSettled(*whole, "wholeTime");

    for (const int stop : {9, 13, 22})
    {
        auto first = make(text, host, "first");
        run(*first, host, 1, stop);
        write(*first, stop);
        first.reset();      // as if it had been killed
        EXPECT_GE(readState(folder(stop)).getArray("loop/queue/id").count(), 2u) << stop;

        for (const std::string& mode : {async + "queue: {slots: 2}\n", std::string()})
        {
            auto second = make(base + mode + slowTraining, host, "second", time(stop));
            second->resume({{time(stop), folder(stop)}});
            run(*second, host, stop + 1, 40);
            writeSettled(*second, "secondTime");
            second->finish();
            expectSame(top + "/secondTime", top + "/wholeTime");
            EXPECT_EQ(reports("second", stop), reports("whole", stop));
            EXPECT_TRUE(CollectingLog::contains(log->infos, "resumed from " + folder(stop)));
            fs::remove_all(top + "/second");
            fs::remove_all(top + "/secondTime");
        }
        fs::remove_all(top + "/stable/checkpoints");
    }
}


TEST_F(InSituTrainerAsync, NothingButAFullQueueMakesTheSolverWait)
{
    // Horizon 2: the third execution is the first with a sample
    meshMayChange = true;
    WaveCase host;
    std::string text = base + async + "queue: {slots: 4}\n" + training;
    text.replace(text.find("reportInterval: 5"), 17, "reportInterval: 1");
    auto trainer = makeGated(text, host, "leg");
    run(*trainer, host, 1, 3);
    gate->awaitArrival();       // from here on nothing is learnt
    host.move(0.4);
    trainer->setGeometry(host.mesh());
    run(*trainer, host, 4, 4);
    std::vector<InSituTrainer::Pending> pending(trainer->nPending());
    EXPECT_EQ(pending.size(), 2u);
    for (std::size_t i = 0; i < pending.size(); ++i)
    {
        trainer->getPending(i, pending[i]);
        EXPECT_EQ(pending[i].timeIndex, static_cast<std::int64_t>(3 + i));
    }
    host.refine();
    trainer->setTopology(host.mesh(), {});
    run(*trainer, host, 5, 7);
    trainer->gap();
    run(*trainer, host, 8, 8);

    std::thread opener([this] { gate->open(); });
    run(*trainer, host, 9, 30);
    trainer->finish();
    opener.join();
    // 3 4, 7, 10 to 30
    EXPECT_TRUE(CollectingLog::contains(log->infos, "24 samples, "));
    EXPECT_EQ(reports("leg", 0).size(), 30u);
}


TEST_F(InSituTrainerAsync, WhoLagsLeavesOutSamplesAndNeverPairsWrongOnes)
{
    // Samples 0 to 9 while the first is in hand; three slots
    for (const auto& [onLag, reason] : std::map<std::string, std::string>
        {{"dropOldest", "lagOldest"}, {"dropNewest", "lagNewest"}, {"reservoir", "lagReservoir"}})
    {
        for (const std::string horizon : {"horizon: 2\n", "horizonTime: 0.2\n"})
        {
            SetUp();
            std::string text = base + async + "features: [deltaT]\nqueue: {slots: 3, onLag: "
                + onLag + "}\n" + training;
            text.replace(text.find("horizon: 2\n"), 11, horizon);
            WaveCase host;
            gate->open();
            auto trainer = makeGated(text, host, "leg");
            run(*trainer, host, 1, 3);
            gate->awaitArrival();
            run(*trainer, host, 4, 12);
            if (onLag == "dropNewest")
            {
                EXPECT_FALSE(trainer->hasPrediction());     // and nobody waits for one
            }
            gate->open();
            writeSettled(*trainer, "place");
            trainer->finish();

            EXPECT_EQ(dropped(top + "/leg")[reason], 7) << onLag;
            EXPECT_TRUE(CollectingLog::contains(log->infos, "3 samples, ")) << onLag;
            EXPECT_TRUE(CollectingLog::contains(log->infos, "7 (" + reason + ')'));
            const StateTree loop = readState(top + "/place").subTree("loop");
            const auto ids = loop.get<std::int64_t>("replay/id");
            const auto deltaTs = loop.get<double>("replay/features");
            ASSERT_EQ(ids.size(), 3u);
            for (const double deltaT : deltaTs)
            {
                EXPECT_NEAR(deltaT, 0.2, 1e-12);
            }
            if (onLag == "dropOldest")
            {
                EXPECT_EQ(ids, (std::vector<std::int64_t>{0, 8, 9}));
            }
            if (onLag == "dropNewest")
            {
                EXPECT_EQ(ids, (std::vector<std::int64_t>{0, 1, 2}));
            }
            EXPECT_EQ(loop.getArray("stream/pending/time").count(), 2u);
        }
    }
}


TEST_F(InSituTrainerAsync, PredictionsAreThoseOfTheirTime)
{
    WaveCase host;
    auto sync = make(base + training, host, "sync");
    auto other = make(base + async + "queue: {slots: 4, onLag: dropOldest}\n" + training, host,
        "async");
    int nPredicted = 0;
    for (int step = 1; step <= 30; ++step)
    {
        sync->execute(now(step), host.fields(time(step)));
        other->execute(now(step), host.fields(time(step)));
        const Span<const double> expected = sync->prediction(), found = other->prediction();
        ASSERT_EQ(found.size(), expected.size()) << step;
        ASSERT_TRUE(std::equal(found.begin(), found.end(), expected.begin())) << step;
        nPredicted += found.size() > 0;
        if (step == 17)
        {
            sync->gap();
            other->gap();
        }
    }
    EXPECT_EQ(nPredicted, 25);
}


TEST_F(InSituTrainerAsync, EntriesThatAreReadAgainApplyToWhatComesThen)
{
    for (const std::string leg : {"sync", "async"})
    {
        WaveCase host;
        const std::string mode = leg == "async" ? async + "queue: {slots: 9}\n" : "";
        auto trainer = make(base + mode + slowTraining, host, leg);
        run(*trainer, host, 1, 17);
        std::string text = base + mode + slowTraining;
        text.replace(text.find("3e-3"), 4, "1e-3");
        text.replace(text.find("stepsPerExecute: 25"), 19, "stepsPerExecute: 4");
        trainer->reconfigure(block(text));
        run(*trainer, host, 18, 40);
        trainer->check();
        trainer->finish();
    }
    EXPECT_EQ(reports("async", 0), reports("sync", 0));
    EXPECT_EQ(reports("sync", 0).size(), 8u);
}


TEST_F(InSituTrainerAsync, AFailureComesWithItsOwnWordsAtTheNextCall)
{
    class Failing final : public SerialComm
    {
    public:

        std::shared_ptr<Comm> forThread() override { return std::make_shared<Failing>(); }

        void sum(Span<double>) const override
        {
            if (++nSums_ > 30)
            {
                throw Error("the trainer has run out of luck");
            }
        }

    private:

        mutable int nSums_ = 0;
    };

    WaveCase host;
    log = std::make_shared<CollectingLog>();
    class Host final : public SerialComm
    {
    public:

        std::shared_ptr<Comm> forThread() override { return std::make_shared<Failing>(); }
    };
    InSituTrainer trainer(block(base + async + training), "surrogate", top, {},
        std::make_shared<Host>(), log);
    TrainingCase theCase = host.theCase();
    theCase.outputFolder = theCase.stableFolder = top + "/leg";
    trainer.begin(theCase, host.mesh());
    std::string message;
    std::int64_t revision = -1;
    int step = 1;
    try
    {
        for (; step <= 200; ++step)
        {
            trainer.execute(now(step), host.fields(time(step)));
            EXPECT_NO_THROW(revision = trainer.revision());     // one that follows goes on
        }
    }
    catch (const Error& error)
    {
        message = error.what();
    }
    EXPECT_EQ(message, "the trainer has run out of luck");
    EXPECT_GT(revision, 0);
    EXPECT_GT(step, 3);
    EXPECT_LT(step, 60);
    EXPECT_THROW(trainer.write(1, "1", top + "/time"), Error);
    EXPECT_THROW(trainer.finish(), Error);
}


TEST_F(InSituTrainerAsync, MayBeDestroyedAtAnyMoment)
{
    WaveCase host;
    for (int last = 1; last <= 12; ++last)
    {
        auto trainer = make(base + async + slowTraining, host, "leg");
        run(*trainer, host, 1, last);
    }
}


TEST_F(InSituTrainerAsync, OnMeshesThatMoveAndChangeItIsTheSameToTheBit)
{
    meshMayChange = true;
    const auto doubled = [](const std::vector<double>& rows)
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
    };
    for (const std::string leg : {"sync", "async"})
    {
        WaveCase host;
        const std::string mode = leg == "async" ? async + "queue: {slots: 8}\n" : "";
        auto trainer = make(base + mode + slowTraining, host, leg);
        for (int step = 1; step <= 24; ++step)
        {
            if (step == 13)
            {
                std::vector<InSituTrainer::Pending> pending(trainer->nPending());
                for (std::size_t i = 0; i < pending.size(); ++i)
                {
                    trainer->getPending(i, pending[i]);
                    pending[i].input = doubled(pending[i].input);
                    pending[i].target = doubled(pending[i].target);
                }
                host.refine();
                trainer->setTopology(host.mesh(), pending);
            }
            host.move(time(step));
            trainer->setGeometry(host.mesh());
            run(*trainer, host, step, step);
        }
        writeSettled(*trainer, leg + "Time");
        trainer->finish();
        EXPECT_TRUE(CollectingLog::contains(log->infos, "22 samples, "));
        EXPECT_TRUE(CollectingLog::contains(log->infos, "mapped: 2"));
    }
    expectSame(top + "/asyncTime", top + "/syncTime");
    EXPECT_EQ(reports("async", 0), reports("sync", 0));
}


//- A run on several ranks
struct Part
{
    std::string leg;
    int nRanks;
    std::string mode;
    int from = 1;
    int to = 30;
    int writeAt = 0;
    bool ends = true;
};


class InSituTrainerAsyncRanks : public InSituTrainerAsync
{
protected:

    void play(const Part& part)
    {
        log = std::make_shared<CollectingLog>();
        onRanks(part.nRanks, [&](Comm& comm)
        {
            WaveCase whole(7, 6);
            FaceMesh::Indices ranks;
            for (int cell = 0; cell < whole.nCells(); ++cell)
            {
                ranks.push_back(cell % 5 == 3 ? (cell/5) % part.nRanks
                    : part.nRanks*cell/whole.nCells());
            }
            WavePart host(whole, ranks, comm);
            InSituTrainer trainer(block("inputs: [U, p]\ntargets: [U, p]\nhorizon: 2\n"
                "reportInterval: 1\nnThreads: 1\nnoise: 0.03\ncheckReplicas: 3\n"
                "buffer: {capacity: 6}\n" + part.mode + R"(training:
  {precision: float64, seed: 7, batchSize: 2, stepsPerExecute: 6,
  model: {type: meshGraphNet, processorSize: 2, hiddenSize: 12},
  optimizer: {type: adam, learningRate: 3e-3, gradAccumulationSteps: 3}})"),
                "surrogate", top, {}, borrowed(comm),
                comm.isMaster() ? log : std::make_shared<CollectingLog>());
            TrainingCase theCase = host.theCase();
            theCase.outputFolder = top + '/' + part.leg;
            theCase.stableFolder = top + "/stable" + part.leg;
            theCase.startTime = part.from > 1 ? time(part.from - 1) : 0;
            trainer.begin(theCase, host.mesh());
            if (part.from > 1)
            {
                trainer.resume({{time(part.from - 1), folder(part.from - 1)}});
            }
            for (int step = part.from; step <= part.to; ++step)
            {
                trainer.execute(now(step), host.fields(time(step)));
                if (step == part.writeAt)
                {
                    trainer.write(time(step), std::to_string(step), folder(step));
                }
            }
            if (part.ends)
            {
                trainer.finish();
            }
        });
    }

    std::vector<std::vector<double>> numbers(const std::string& leg, int fromStep) const
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
};


TEST_F(InSituTrainerAsyncRanks, ItIsTheSameToTheBit)
{
    play({"sync", 3, ""});
    for (const std::string queue : {"queue: {slots: 2}\n", "queue: {slots: 5}\n"})
    {
        play({"async", 3, async + queue, 1, 30, 20});
        EXPECT_EQ(reports("async", 0), reports("sync", 0));
        EXPECT_EQ(reports("sync", 0).size(), 30u);
    }
}


//- In a group the fields of all are taken before its ranks go on and write the next ones
TEST_F(InSituTrainerAsyncRanks, WhoTrainsForOthersLearnsTheSameToTheBit)
{
    for (const std::string trainers : {"trainerRanks: 1\n", "trainerRanks: 2\n"})
    {
        SetUp();
        play({"sync", 4, trainers});
        for (const std::string queue : {"queue: {slots: 2}\n", "queue: {slots: 7}\n"})
        {
            play({"async", 4, trainers + async + queue, 1, 30, 20});
            EXPECT_EQ(reports("async", 0), reports("sync", 0));
            EXPECT_EQ(reports("sync", 0).size(), 30u);
            EXPECT_TRUE(CollectingLog::contains(log->infos, "of 4 ranks"));
            EXPECT_TRUE(CollectingLog::contains(log->infos, "28 samples, "));
        }
    }
}


TEST_F(InSituTrainerAsyncRanks, MembersOfAGroupHaveTheirPartOfPredictionsOfTheirTime)
{
    const auto predicted = [&](const std::string& mode)
    {
        std::vector<std::vector<double>> all(3*20);
        std::vector<std::int64_t> revisions(3*20);
        onRanks(3, [&](Comm& comm)
        {
            WaveCase whole(7, 6);
            FaceMesh::Indices ranks;
            for (int cell = 0; cell < whole.nCells(); ++cell)
            {
                ranks.push_back(cell % 5 == 3 ? (cell/5) % 3 : 3*cell/whole.nCells());
            }
            WavePart host(whole, ranks, comm);
            InSituTrainer trainer(block("inputs: [U, p]\ntargets: [U, p]\nhorizon: 2\n"
                "nThreads: 1\ntrainerRanks: 1\n" + mode + "training: {precision: float64, seed: 7,"
                " batchSize: 2, stepsPerExecute: 4,"
                " model: {type: meshGraphNet, processorSize: 2, hiddenSize: 12}}"),
                "surrogate", top, {}, borrowed(comm), std::make_shared<CollectingLog>());
            EXPECT_EQ(trainer.revision(), -1);
            TrainingCase theCase = host.theCase();
            theCase.outputFolder = theCase.stableFolder = top + "/group";
            trainer.begin(theCase, host.mesh());
            for (int step = 1; step <= 20; ++step)
            {
                trainer.execute(now(step), host.fields(time(step)));
                EXPECT_EQ(trainer.hasPrediction(), step > 3) << step;
                const Span<const double> here = trainer.prediction();
                EXPECT_EQ(here.size(), step > 3 ? 3*host.cells().size() : 0) << step;
                const int place = 3*(step - 1) + comm.rank();
                all[place].assign(here.begin(), here.end());
                revisions[place] = step % 5 == 0 ? trainer.revision() : 0;
            }
            trainer.finish();
        });
        EXPECT_GT(revisions.back(), revisions[3*14 + 2]);
        EXPECT_EQ(revisions[3*19], revisions[3*19 + 2]);
        return std::make_pair(all, revisions);
    };
    EXPECT_EQ(predicted(async + "queue: {slots: 4}\n"), predicted(""));
}


TEST_F(InSituTrainerAsyncRanks, TheQueueGoesToTheRanksThatHaveItsCells)
{
    play({"whole", 2, ""});
    play({"first", 2, async + "queue: {slots: 6}\n", 1, 17, 17, false});
    const std::size_t nQueued = readState(folder(17)).getArray("loop/queue/id").count();
    EXPECT_GE(nQueued, 2u);
    for (const auto& [nRanks, mode] : std::vector<std::pair<int, std::string>>{{2, async},
        {3, async}, {1, async}, {3, async + "trainerRanks: 1\n"}, {4, "trainerRanks: 2\n"}})
    {
        play({"second", nRanks, mode, 18, 30});
        const auto found = numbers("second", 17), expected = numbers("whole", 17);
        ASSERT_EQ(found.size(), expected.size());
        ASSERT_EQ(expected.size(), 13u);
        for (std::size_t row = 0; row < expected.size(); ++row)
        {
            for (std::size_t i = 0; i < expected[row].size(); ++i)
            {
                EXPECT_NEAR(found[row][i], expected[row][i], 1e-9*std::abs(expected[row][i]))
                    << nRanks << " ranks, row " << row << " column " << i;
            }
        }
        fs::remove_all(top + "/second");
        fs::remove_all(top + "/stablesecond");
    }
}


TEST_F(InSituTrainerAsyncRanks, WhoLagsLeavesTheSameOutOnAllRanks)
{
    play({"lag", 3, async + "queue: {slots: 2, onLag: reservoir}\n"});
    const auto left = dropped(top + "/lag")["lagReservoir"];
    EXPECT_GT(left, 0);
    EXPECT_TRUE(CollectingLog::contains(log->infos, std::to_string(28 - left) + " samples, "));
    EXPECT_EQ(reports("lag", 0).size(), 30u);
}


TEST_F(InSituTrainerAsync, IsRefusedWhereRanksWorkWithOneThread)
{
    class Single final : public SerialComm
    {
    public:

        std::shared_ptr<Comm> forThread() override { return Comm::forThread(); }
    };

    try
    {
        InSituTrainer(block(base + async + training), "surrogate", top, {},
            std::make_shared<Single>(), std::make_shared<CollectingLog>());
        FAIL() << "no error";
    }
    catch (const Error& error)
    {
        EXPECT_THAT(error.what(), HasSubstr("mode async: the trainer's thread cannot work"));
        EXPECT_THAT(error.what(), HasSubstr("'mode sync'"));
    }
}

}
}
