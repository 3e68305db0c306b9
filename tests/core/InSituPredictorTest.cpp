// SPDX-License-Identifier: GPL-3.0-or-later
#include "InSituPredictor.hpp"

#include "AllocationCounter.hpp"
#include "TrainerFixture.hpp"

#include <gmock/gmock.h>
#include <torch/script.h>

#include <cmath>

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

namespace inSitu
{
namespace
{

// The facade behind a trainer that stands beside it or has left its file.

class InSituPredictorTest : public InSituTrainerTest
{
protected:

    //- Before its first execution
    std::unique_ptr<InSituPredictor> construct(const std::string& text)
    {
        told = std::make_shared<CollectingLog>();
        return std::make_unique<InSituPredictor>(block(text + "\nnThreads: 2\n"), "reader", top,
            std::vector<std::string>{}, std::make_shared<SerialComm>(), told);
    }

    void begin(InSituPredictor& predictor, WaveCase& host) const
    {
        TrainingCase theCase = caseOf(predictor.card(), host);
        theCase.outputFolder = top + "/reader";
        theCase.stableFolder = top + "/reader";
        predictor.begin(theCase, host.mesh());
    }

    //- The fields of the wave that the card names, in the order of the wave
    static TrainingCase caseOf(const ModelCard& card, WaveCase& host)
    {
        TrainingCase theCase = host.theCase();
        const auto indices = [&](const std::vector<FieldSpec>& fields)
        {
            std::vector<int> result;
            for (const FieldSpec& field : fields)
            {
                result.push_back(field.name == "U" ? 0 : 1);
            }
            return result;
        };
        theCase.inputs = indices(card.inputs);
        theCase.targets = indices(card.targets);
        return theCase;
    }

    std::unique_ptr<InSituPredictor> make(const std::string& text, WaveCase& host)
    {
        auto predictor = construct(text);
        begin(*predictor, host);
        return predictor;
    }

    static std::vector<double> values(Span<const double> span)
    {
        return {span.begin(), span.begin() + span.size()};
    }

    //- A closure p(U), trained: stable/model.pt
    std::unique_ptr<InSituTrainer> trainedClosure(WaveCase& host, int steps = 12)
    {
        log = std::make_shared<CollectingLog>();
        auto trainer = std::make_unique<InSituTrainer>(block(closureText), "surrogate", top,
            std::vector<std::string>{}, std::make_shared<SerialComm>(), log);
        TrainingCase theCase = host.theCase();
        theCase.inputs = {0};
        theCase.targets = {1};
        theCase.staticColumns = {"isCell", "isWall", "isPatch", "U fixed", "p fixed"};
        theCase.outputFolder = top + "/closure";
        theCase.stableFolder = top + "/stable";
        trainer->begin(theCase, host.mesh());
        run(*trainer, host, 1, steps);
        trainer->write(time(steps), "c", top + "/c");
        return trainer;
    }

    std::vector<double> close(InSituPredictor& predictor, WaveCase& host, int step,
        std::vector<double> previous = {})
    {
        const auto& views = host.fields(time(step));
        if (previous.empty())
        {
            previous = {views[1].cells.begin(), views[1].cells.begin() + host.nCells()};
        }
        predictor.close(now(step), views, Span<const double>(previous));
        return values(predictor.prediction());
    }

    std::string endRecord(InSituPredictor& predictor) const
    {
        predictor.finish();
        const std::string lines = contents(top + "/reader/metrics.jsonl");
        return lines.substr(lines.rfind("{\"event\":\"end\""));
    }

    const std::string closureText = "inputs: [U]\ntargets: [p]\ntarget: value\nhorizon: 0\n"
        "nThreads: 2\n" + training;
    const std::string file = "model: stable/model.pt\nreportInterval: 2";
    std::shared_ptr<CollectingLog> told;
};

}


TEST_F(InSituPredictorTest, PredictsFromTheFileWhatTheTrainerPredicts)
{
    for (const std::string more : {"", "target: value\n", "features: [deltaT]\n"})
    {
        for (const std::string precision : {"", "  precision: float64\n"})
        {
            SCOPED_TRACE(more + precision);
            WaveCase host;
            auto trainer = InSituTrainerTest::make(base + more + training + precision, host, "a");
            run(*trainer, host, 1, 13);
            write(*trainer, 13);

            WaveCase other;
            auto predictor = make(file, other);
            EXPECT_TRUE(predictor->hasModel());
            EXPECT_EQ(predictor->card().horizon, 2);
            for (int step = 12; step <= 13; ++step)
            {
                predictor->compare(now(step), other.fields(time(step)));
                EXPECT_TRUE(predictor->prediction().empty());
            }
            predictor->compare(now(14), other.fields(time(14)));
            run(*trainer, host, 14, 14);
            EXPECT_EQ(values(predictor->prediction()), values(trainer->prediction()));
            EXPECT_EQ(predictor->prediction().size(), 90u);
        }
    }
}


TEST_F(InSituPredictorTest, FollowsATrainer)
{
    WaveCase host;
    auto trainer = InSituTrainerTest::make(base + training, host, "a");
    auto predictor = construct("model: trainer surrogate");
    EXPECT_EQ(predictor->config().trainer(), "surrogate");
    predictor->follow(*trainer);
    EXPECT_FALSE(predictor->hasModel());

    WaveCase other;
    int compared = 0;
    for (int step = 1; step <= 16; ++step)
    {
        // The trainer has learnt up to the step before
        predictor->follow(*trainer);
        if (predictor->hasModel())
        {
            if (!predictor->begun())
            {
                begin(*predictor, other);
            }
            predictor->compare(now(step), other.fields(time(step)));
        }
        run(*trainer, host, step, step);
        if (predictor->hasModel() && !predictor->prediction().empty())
        {
            ASSERT_EQ(values(predictor->prediction()), values(trainer->prediction())) << step;
            ++compared;
        }
    }
    EXPECT_EQ(compared, 11);
    predictor->follow(*trainer);
    EXPECT_GT(predictor->card().samples, 12);
    EXPECT_THAT(told->infos.at(0), HasSubstr("model: trainer surrogate"));
}


TEST_F(InSituPredictorTest, ReportsAndRecords)
{
    WaveCase host;
    auto trainer = InSituTrainerTest::make(base + training, host, "a");
    run(*trainer, host, 1, 13);
    write(*trainer, 13);

    auto predictor = make(file, host);
    std::vector<bool> due;
    for (int step = 1; step <= 6; ++step)
    {
        due.push_back(predictor->compare(now(step), host.fields(time(step))).due);
    }
    EXPECT_THAT(due, ElementsAre(false, true, false, true, false, true));
    predictor->gap();
    predictor->compare(now(9), host.fields(time(9)));
    EXPECT_TRUE(predictor->prediction().empty());

    const std::string table = contents(top + "/reader/comparison.dat");
    EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 4);
    EXPECT_THAT(table, HasSubstr("# Time\tsamples\trmse(U)\trmse(p)\tskill(U)\tskill(p)"
        "\tlargest(U)\tlargest(p)\tcell(U)\tcell(p)\n0.2\t0\tnan"));
    EXPECT_THAT(table, HasSubstr("\n0.4\t2\t"));
    const std::string end = endRecord(*predictor);
    EXPECT_THAT(end, HasSubstr("\"counts\":{\"gap\":2,\"notFinite\":0}"));
    EXPECT_THAT(end, HasSubstr("\"edgeFeatures\":1"));
    predictor->finish();
    EXPECT_EQ(endRecord(*predictor), end);
}


TEST_F(InSituPredictorTest, WarnsOnceWhereInputAndTargetAreApartAsNeverInTheTraining)
{
    WaveCase host, other;
    auto trainer = InSituTrainerTest::make(base + training, host, "leg");
    run(*trainer, host, 1, 12);
    write(*trainer, 12);

    for (const auto& [deltaT, nWarnings] : {std::pair(0.1, 0), {0.1005, 0}, {0.125, 1}, {0.075, 1}})
    {
        auto predictor = make("model: stable/model.pt", other);
        ASSERT_EQ(predictor->card().interval.size(), 2u);
        EXPECT_NEAR(predictor->card().interval[0], 0.2, 1e-12);
        EXPECT_NEAR(predictor->card().interval[1], 0.2, 1e-12);
        for (int step = 1; step <= 6; ++step)
        {
            const double t = deltaT*step;
            predictor->compare(Instant{t, step, deltaT}, other.fields(t));
        }
        EXPECT_EQ(told->warnings.size(), static_cast<std::size_t>(nWarnings)) << deltaT;
        EXPECT_EQ(CollectingLog::contains(told->warnings, "has learnt over 0.2"), nWarnings == 1);
    }
}


TEST_F(InSituPredictorTest, FollowsTheMesh)
{
    WaveCase host;
    auto trainer = InSituTrainerTest::make(base + training, host, "a");
    run(*trainer, host, 1, 13);
    write(*trainer, 13);

    auto predictor = make(file, host);
    for (int step = 1; step <= 4; ++step)
    {
        host.move(time(step));
        predictor->setGeometry(host.mesh());
        predictor->compare(now(step), host.fields(time(step)));
        predictor->check();
    }
    EXPECT_EQ(predictor->nPending(), 2u);
    EXPECT_EQ(predictor->pendingTimeIndex(0), 3);

    std::vector<PendingAccess::Pending> pending(2);
    for (std::size_t i = 0; i < 2; ++i)
    {
        predictor->getPending(i, pending[i]);
        pending[i].input.assign(static_cast<std::size_t>(2*host.nRows())*3, 0.125);
        pending[i].target.assign(static_cast<std::size_t>(2*host.nCells())*3, 0.5);
    }
    host.refine();
    predictor->setTopology(host.mesh(), pending);
    predictor->compare(now(5), host.fields(time(5)));
    EXPECT_EQ(predictor->prediction().size(), 180u);
    predictor->check();

    host.refine();
    predictor->setTopology(host.mesh(), {});
    predictor->compare(now(6), host.fields(time(6)));
    EXPECT_TRUE(predictor->prediction().empty());
    const std::string end = endRecord(*predictor);
    EXPECT_THAT(end, HasSubstr("\"mapped\":2"));
    EXPECT_THAT(end, HasSubstr("\"topologyChange\":2"));
}


TEST_F(InSituPredictorTest, NoticesAFileInThePlaceOfItsModel)
{
    WaveCase host;
    auto trainer = InSituTrainerTest::make(base + training, host, "a");
    run(*trainer, host, 1, 13);
    write(*trainer, 13);

    const auto after = [&](InSituPredictor& predictor, WaveCase& other, int step)
    {
        predictor.followFile();
        predictor.compare(now(step), other.fields(time(step)));
        return values(predictor.prediction());
    };
    WaveCase a, b;
    auto reload = make(file, a);
    auto toldOfReload = told;
    auto keep = make(file + "\nonModelChange: keep", b);
    auto toldOfKeep = told;
    for (int step = 1; step <= 3; ++step)
    {
        EXPECT_EQ(after(*reload, a, step), after(*keep, b, step));
    }

    run(*trainer, host, 14, 20);
    write(*trainer, 20);
    for (int step = 4; step <= 5; ++step)
    {
        EXPECT_TRUE(after(*reload, a, step).empty());
        EXPECT_FALSE(after(*keep, b, step).empty());
    }
    WaveCase c;
    auto fresh = make(file, c);
    after(*fresh, c, 4);
    after(*fresh, c, 5);
    const std::vector<double> expected = after(*fresh, c, 6);
    EXPECT_EQ(after(*reload, a, 6), expected);
    EXPECT_NE(after(*keep, b, 6), expected);
    EXPECT_TRUE(CollectingLog::contains(toldOfReload->infos, "was replaced and is read again"));
    ASSERT_EQ(toldOfKeep->warnings.size(), 1u);
    EXPECT_THAT(toldOfKeep->warnings[0], HasSubstr("onModelChange keep"));

    // One that does not fit, a damaged one, and none at all
    fs::copy_file(top + "/stable/model.pt", top + "/saved.pt");
    trainedClosure(host);
    EXPECT_THAT([&] { after(*reload, a, 7); }, ThrowsMessage<Error>(HasSubstr(
        "was replaced by another one that does not fit: inputs were")));
    EXPECT_FALSE(after(*keep, b, 7).empty());
    std::ofstream(top + "/stable/model.pt") << "half";
    EXPECT_THAT([&] { after(*reload, a, 8); }, ThrowsMessage<Error>(HasSubstr("stable/model.pt")));
    fs::remove(top + "/stable/model.pt");
    after(*fresh, c, 7);
    EXPECT_FALSE(after(*fresh, c, 8).empty());
}


TEST_F(InSituPredictorTest, RollsOutWithTheFileInThePlaceOfItsModel)
{
    WaveCase host;
    auto trainer = InSituTrainerTest::make(base + training, host, "a");
    run(*trainer, host, 1, 13);
    write(*trainer, 13);

    // The same input, then the horizon of two executions with the file replaced in between, or not
    const auto advance = [&](InSituPredictor& predictor, bool replaced)
    {
        WaveCase other;
        begin(predictor, other);
        Rollout& rollout = predictor.rollout();
        const auto& views = other.fields(time(12));
        rollout.begin(views);
        rollout.feed(now(12), views);
        EXPECT_FALSE(rollout.tick(now(13)));
        if (replaced)
        {
            run(*trainer, host, 14, 20);
            write(*trainer, 20);
        }
        predictor.followFile();
        EXPECT_TRUE(rollout.tick(now(14)));
        return values(rollout.advance(now(14)));
    };
    const std::string text = file + "\nmode: rollout";
    auto unchanged = construct(text), keep = construct(text + "\nonModelChange: keep");
    auto reload = construct(text);
    const std::vector<double> before = advance(*unchanged, false);
    const std::vector<double> after = advance(*reload, true);
    EXPECT_TRUE(CollectingLog::contains(told->infos, "was replaced and is read again"));
    EXPECT_NE(after, before);
    EXPECT_EQ(advance(*keep, false), before);
    auto fresh = construct(text);
    EXPECT_EQ(advance(*fresh, false), after);
}


TEST_F(InSituPredictorTest, LeavesARolloutForARestart)
{
    WaveCase host;
    auto trainer = InSituTrainerTest::make(base + training, host, "a");
    run(*trainer, host, 1, 13);
    write(*trainer, 13);

    const std::string text = file + "\nmode: rollout";
    auto unbroken = make(text, host);
    unbroken->write(top + "/r");
    EXPECT_FALSE(fs::exists(top + "/r"));
    const auto& views = host.fields(time(12));
    unbroken->rollout().begin(views);
    unbroken->rollout().feed(now(12), views);
    EXPECT_FALSE(unbroken->rollout().tick(now(13)));
    unbroken->write(top + "/r");

    auto restarted = make(text, host);
    restarted->resume(top + "/r");
    EXPECT_TRUE(CollectingLog::contains(told->infos, "the rollout goes on from its step 0"));
    for (InSituPredictor* predictor : {unbroken.get(), restarted.get()})
    {
        EXPECT_TRUE(predictor->rollout().tick(now(14)));
    }
    EXPECT_EQ(values(unbroken->rollout().advance(now(14))),
        values(restarted->rollout().advance(now(14))));

    // A place that cannot be written, a damaged folder, and one of another model
    std::ofstream(top + "/file") << "no folder";
    restarted->write(top + "/file/r");
    EXPECT_TRUE(CollectingLog::contains(told->warnings, "a restart cannot go on"));
    fs::resize_file(top + "/r/state.h5", 1000);
    EXPECT_THAT([&] { restarted->resume(top + "/r"); }, ThrowsMessage<Error>(testing::AllOf(
        HasSubstr("the rollout in " + top + "/r cannot go on: "),
        HasSubstr("It starts anew without that folder"))));
}


TEST_F(InSituPredictorTest, ClosesWithLimitsAndRelaxation)
{
    WaveCase host;
    trainedClosure(host);
    auto plain = make(file + "\nmode: closure\nclosure: {onOutlier: keep}", host);
    const std::vector<double> values = close(*plain, host, 13);
    ASSERT_EQ(values.size(), 30u);
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    ASSERT_LT(*low + 1e-3, *high);

    const double middle = (*low + *high)/2;
    auto limited = make(file + "\nmode: closure\nclosure: {onOutlier: keep, relax: 0.25}\n"
        "limits: {p: {max: " + std::to_string(middle) + "}}", host);
    const std::vector<double> previous(30, 99999.5);
    const std::vector<double> relaxed = close(*limited, host, 13, previous);
    int cut = 0;
    for (std::size_t i = 0; i < 30; ++i)
    {
        const double expected = 99999.5 + 0.25*(values[i] - 99999.5);
        const double bound = std::stod(std::to_string(middle));
        cut += expected > bound;
        EXPECT_DOUBLE_EQ(relaxed[i], std::min(expected, bound));
    }
    close(*limited, host, 14);
    EXPECT_THAT(contents(top + "/reader/closure.dat"),
        HasSubstr("# Time\texecutions\tminimum(p)\tmaximum(p)\n"));
}


TEST_F(InSituPredictorTest, FollowsTheRangeOfATrainersClosure)
{
    // A pressure that is the same everywhere, and then is not
    WaveCase host;
    const auto learn = [&](InSituTrainer& trainer, int step, double variation)
    {
        const auto& views = host.fields(time(step));
        for (double& p : host.p())
        {
            p = 1e5 + variation*(p - 1e5);
        }
        trainer.execute(now(step), views);
    };
    auto trainer = trainedClosure(host, 0);
    learn(*trainer, 1, 0);
    auto predictor = construct("model: trainer surrogate\nmode: closure\n"
        "closure: {margin: 0, onOutlier: solver}");
    predictor->follow(*trainer);
    begin(*predictor, host);
    const std::vector<double> previous(30, 99000.5);
    EXPECT_EQ(close(*predictor, host, 2, previous), previous);

    for (int step = 2; step <= 7; ++step)
    {
        learn(*trainer, step, 300);
    }
    predictor->follow(*trainer);
    EXPECT_GT(predictor->card().targetMaximum.at(0), 100200);
    const std::vector<double> closed = close(*predictor, host, 8, previous);
    for (const double value : closed)
    {
        EXPECT_NE(value, 99000.5);
    }
}


TEST_F(InSituPredictorTest, LeavesOutFieldsThatAreNotFinite)
{
    WaveCase host;
    trainedClosure(host);
    const auto closeBad = [&](InSituPredictor& predictor)
    {
        const auto& views = host.fields(time(13));
        const_cast<double&>(views[0].cells[3*4 + 1]) = std::nan("");
        const std::vector<double> previous(30, 1e5);
        predictor.close(now(13), views, Span<const double>(previous));
        return predictor.prediction().empty();
    };
    auto abort = make(file + "\nmode: closure", host);
    EXPECT_THAT([&] { closeBad(*abort); }, ThrowsMessage<Error>(HasSubstr(
        "field U is not finite, or too large for the network's precision, in row 4 at time 1.3")));
    EXPECT_TRUE(abort->prediction().empty());

    auto warn = make(file + "\nmode: closure\nonNonFinite: warn", host);
    EXPECT_TRUE(closeBad(*warn));
    EXPECT_TRUE(CollectingLog::contains(told->warnings, "field U is not finite"));
    EXPECT_THAT(endRecord(*warn), HasSubstr("\"nonFinite\":1"));
    auto skip = make(file + "\nmode: closure\nonNonFinite: skip", host);
    EXPECT_TRUE(closeBad(*skip));
    EXPECT_TRUE(told->warnings.empty());
}


TEST_F(InSituPredictorTest, RefusesWhatDoesNotFit)
{
    WaveCase host;
    auto trainer = InSituTrainerTest::make(base + training, host, "a");
    run(*trainer, host, 1, 13);
    write(*trainer, 13);

    const auto faultOf = [&](const std::string& text)
    {
        try
        {
            make(text, host);
            return std::string("nothing");
        }
        catch (const Error& fault)
        {
            return std::string(fault.what());
        }
    };
    EXPECT_THAT(faultOf("mode: compare"), HasSubstr("reader.model"));
    EXPECT_THAT(faultOf(file + "\nmode: guess"), HasSubstr("compare rollout closure"));
    EXPECT_THAT(faultOf(file + "\nmode: closure\nclosure: {onOutlier: drop}"), HasSubstr("keep clip solver abort"));
    EXPECT_THAT(faultOf(file + "\nclosure: {relax: 0}"), HasSubstr("relax"));
    EXPECT_THAT(faultOf(file + "\nclosure: {margin: -1}"), HasSubstr("margin"));
    EXPECT_THAT(faultOf(file + "\nmodell: 3"), HasSubstr("did you mean 'model'"));
    EXPECT_THAT(faultOf("model: none.pt"), HasSubstr(top + "/none.pt"));
    EXPECT_THAT(faultOf(file + "\nmode: closure"),
        HasSubstr("'target value' with 'horizon 0'"));
    EXPECT_THAT([&] { construct(file + "\nmode: closure\nlimits: {k: {min: 0}}"); },
        ThrowsMessage<Error>(HasSubstr("no target 'k'; it has U p")));
    EXPECT_THAT(faultOf(file + "\nlimit: {}"), HasSubstr("did you mean 'limits'"));

    auto predictor = construct(file);
    TrainingCase theCase = caseOf(predictor->card(), host);
    theCase.fields[1].dimensions = {1, -1, -2, 0, 0, 0, 0};
    theCase.staticColumns.pop_back();
    EXPECT_THAT([&] { predictor->begin(theCase, host.mesh()); }, ThrowsMessage<Error>(testing::AllOf(
        HasSubstr("input p, dimensions"), HasSubstr("target p, dimensions"),
        HasSubstr("node columns"))));
    EXPECT_FALSE(predictor->begun());
}


TEST_F(InSituPredictorTest, RefusesEntriesThatHaveNoEffectInAMode)
{
    const std::map<std::string, std::vector<std::string>> modesOf
    {
        {"closure: {relax: 0.5}", {"closure"}},
        {"limits: {p: {min: 2}}", {"closure"}},
        {"rollout: {steps: 3}", {"rollout"}},
        {"writePrediction: yes", {"compare"}},
        {"onTopologyChange: map", {"compare"}},
        {"onNonFinite: skip", {"compare", "closure"}},
        {"onModelChange: keep", {"compare", "rollout", "closure"}},
        {"reportInterval: 3", {"compare", "rollout", "closure"}},
        {"selfCheck: 2", {"compare", "rollout", "closure"}}
    };
    for (const auto& [entry, modes] : modesOf)
    {
        const std::string key = entry.substr(0, entry.find(':'));
        for (const std::string mode : {"compare", "rollout", "closure"})
        {
            SCOPED_TRACE(entry + " in mode " + mode);
            const std::string head = "model: none.pt\nmode: " + mode + '\n';
            const bool works = std::count(modes.begin(), modes.end(), mode) > 0;
            EXPECT_THAT([&] { construct(head + entry); }, ThrowsMessage<Error>(HasSubstr(works
              ? "none.pt\" is not there"
              : "3 reader." + key + " has no effect in mode " + mode + ", only in mode")));
        }
    }
    EXPECT_THAT([&] { construct("model: trainer a\nonModelChange: keep"); },
        ThrowsMessage<Error>(HasSubstr("reader.onModelChange has no effect with a trainer")));
}


TEST_F(InSituPredictorTest, AppliesChangedEntriesAndRefusesOthers)
{
    WaveCase host;
    trainedClosure(host);
    const std::string text = file + "\nmode: closure\nclosure: {onOutlier: keep}";
    auto predictor = make(text, host);
    const std::vector<double> before = close(*predictor, host, 13);

    predictor->reconfigure(block("model: other.pt\nmode: compare\nnThreads: 5\n"
        "onTopologyChange: drop\nwritePrediction: no\nreportInterval: 3\n"));
    EXPECT_EQ(predictor->config().model, "stable/model.pt");
    EXPECT_EQ(predictor->config().mode, "closure");
    EXPECT_EQ(predictor->config().onTopologyChange, "map");
    EXPECT_EQ(predictor->config().reportInterval, 3);
    EXPECT_TRUE(predictor->config().writePrediction);
    ASSERT_EQ(told->warnings.size(), 1u);
    EXPECT_THAT(told->warnings[0],
        HasSubstr("model mode nThreads onTopologyChange writePrediction. It takes a restart"));
    predictor->reconfigure(block(file + "\nmode: closure\nnThreads: 2\n"
        "closure: {relax: 0.5, onOutlier: keep}"));
    EXPECT_EQ(told->warnings.size(), 1u);

    const std::vector<double> previous(30, 1e5 - 1);
    const std::vector<double> after = close(*predictor, host, 13, previous);
    for (std::size_t i = 0; i < 30; ++i)
    {
        EXPECT_NEAR(after[i], (before[i] + previous[i])/2, 1e-9);
    }

    EXPECT_THROW(predictor->reconfigure(block("model: stable/model.pt\nlimits: {k: {min: 0}}")),
        ConfigError);
    EXPECT_THROW(predictor->reconfigure(block("model: stable/model.pt\nreportInterval: 0")),
        ConfigError);
    EXPECT_EQ(predictor->config().reportInterval, 2);

    predictor->reconfigure(block(file + "\nmode: closure\nnThreads: 2\n"
        "closure: {relax: 0.5, onOutlier: keep}\ngraph: {halo: none}"));
    ASSERT_EQ(told->warnings.size(), 2u);
    EXPECT_THAT(told->warnings[1], HasSubstr("during a run: graph.halo. It takes a restart"));
    EXPECT_EQ(predictor->config().graph.halo, "exchange");
}


TEST_F(InSituPredictorTest, TellsOfPredictionsThatAreNotFinite)
{
    torch::jit::Module module("theirs");
    module.define("def forward(self, nodes):\n    return nodes[:, 2:]/torch.zeros(1)\n");
    fs::create_directories(top + "/stable");
    module.save(top + "/stable/model.pt");
    std::ofstream(top + "/stable/model.pt.card.json") << R"({"format": 1, "target": "value",
        "arguments": ["nodes"], "inputs": [{"name": "U", "columns": ["Ux", "Uy"]}, {"name": "p"}],
        "targets": [{"name": "p"}]})";
    WaveCase host;
    auto predictor = make(file, host);
    for (int step = 1; step <= 4; ++step)
    {
        predictor->compare(now(step), host.fields(time(step)));
        EXPECT_TRUE(predictor->prediction().empty());
    }
    ASSERT_EQ(told->warnings.size(), 1u);
    EXPECT_THAT(told->warnings[0], HasSubstr("not finite: they are left out, and counted"));
    EXPECT_THAT(endRecord(*predictor), HasSubstr("\"notFinite\":3"));
}


TEST_F(InSituPredictorTest, StepsBetweenReportsAllocateNothing)
{
    const std::string rarely = "model: stable/model.pt\nreportInterval: 100";
    WaveCase host;
    {
        auto trainer = InSituTrainerTest::make(base + training, host, "a");
        run(*trainer, host, 1, 6);
        write(*trainer, 6);
    }
    auto comparison = make(rarely, host);
    long number = 0;
    for (int step = 6; step <= 14; ++step)
    {
        const auto& fields = host.fields(time(step));
        const long before = allocations;
        comparison->compare(now(step), fields);
        number += step > 8 ? allocations - before : 0;
        EXPECT_EQ(comparison->prediction().empty(), step < 8);
    }
    EXPECT_EQ(number, 0);
    comparison->finish();

    trainedClosure(host);
    auto closure = make(rarely + "\nmode: closure", host);
    for (int step = 12; step <= 18; ++step)
    {
        const auto& fields = host.fields(time(step));
        const Span<const double> previous(fields[1].cells.data(),
            static_cast<std::size_t>(host.nCells()));
        const long before = allocations;
        closure->close(now(step), fields, previous);
        number += step > 12 ? allocations - before : 0;
        EXPECT_EQ(closure->prediction().size(), previous.size());
    }
    EXPECT_EQ(number, 0);
}

}
