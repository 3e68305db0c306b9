// SPDX-License-Identifier: GPL-3.0-or-later
#include "TrainerFixture.hpp"

#include "InSituPredictor.hpp"

#include <gmock/gmock.h>

using testing::HasSubstr;
using testing::ThrowsMessage;

namespace inSitu
{
namespace
{

// The facades with a flux as input on the edges.

const std::string edges = "edgeInputs: [phi]\n";


class EdgeInputsTest : public InSituTrainerTest
{
protected:

    EdgeInputsTest()
    {
        host.addFlux();
        other.addFlux();
    }

    WaveCase host, other;
};

}


TEST_F(EdgeInputsTest, AResumedRunIsTheUnbrokenRun)
{
    for (const std::string precision : {"", "  precision: float64\n"})
    {
        fs::remove_all(top);
        fs::create_directories(top);
        const std::string text = base + edges + training + precision;
        auto whole = make(text, host, "whole");
        EXPECT_TRUE(CollectingLog::contains(log->infos, "edge inputs: phi"));
        run(*whole, host, 1, 17);
        write(*whole, 17);
        run(*whole, host, 18, 40);
        write(*whole, 40);

        auto resumed = make(text, other, "resumed", time(17));
        resumed->resume({{time(17), folder(17)}});
        run(*resumed, other, 18, 40);
        resumed->write(time(40), "40", top + "/again");

        EXPECT_EQ(reports("resumed", 17), reports("whole", 17));
        EXPECT_FALSE(reports("resumed", 17).empty());
        for (const std::string file : {"/state.h5", "/rank0.h5", "/replay0.h5"})
        {
            EXPECT_EQ(contents(top + "/again" + file), contents(folder(40) + file)) << file;
        }
    }
}


TEST_F(EdgeInputsTest, APredictorPredictsWhatTheTrainerPredicts)
{
    auto trainer = make(base + edges + training, host, "a");
    run(*trainer, host, 1, 13);
    write(*trainer, 13);

    const auto told = std::make_shared<CollectingLog>();
    InSituPredictor predictor(block("model: stable/model.pt\nnThreads: 2\n"), "reader", top,
        {}, std::make_shared<SerialComm>(), told);
    ASSERT_EQ(predictor.card().edgeInputs.size(), 1u);
    EXPECT_TRUE(predictor.card().edgeInputs[0].oriented);
    EXPECT_EQ(predictor.card().edgeColumns.back(), "phi");
    TrainingCase theCase = other.theCase();
    theCase.outputFolder = theCase.stableFolder = top + "/reader";
    predictor.begin(theCase, other.mesh());
    for (int step = 12; step <= 14; ++step)
    {
        predictor.compare(now(step), other.fields(time(step)));
    }
    run(*trainer, host, 14, 14);

    const Span<const double> predicted = predictor.prediction();
    const Span<const double> expected = trainer->prediction();
    ASSERT_EQ(predicted.size(), 90u);
    EXPECT_TRUE(std::equal(predicted.begin(), predicted.end(), expected.begin()));
}


TEST_F(EdgeInputsTest, NewCellsForgetWhatWaits)
{
    meshMayChange = true;
    auto trainer = make(base + edges + training, host, "leg");
    run(*trainer, host, 1, 20);
    std::vector<InSituTrainer::Pending> pending(trainer->nPending());
    ASSERT_EQ(pending.size(), 2u);
    host.refine();
    trainer->setTopology(host.mesh(), pending);
    EXPECT_EQ(trainer->nPending(), 0u);
    run(*trainer, host, 21, 30);
    trainer->check();

    trainer->finish();
    EXPECT_THAT(contents(top + "/leg/metrics.jsonl"),
        HasSubstr("\"mapped\":0,\"dropped\":{\"topologyChange\":2}"));
}


TEST_F(EdgeInputsTest, AnotherListOrANetworkWithoutEdgesIsRefused)
{
    auto trainer = make(base + edges + training, host, "a");
    run(*trainer, host, 1, 8);
    write(*trainer, 8);
    WaveCase without;
    auto resumed = make(base + training, without, "b", time(8));
    EXPECT_THAT([&] { resumed->resume({{time(8), folder(8)}}); },
        ThrowsMessage<IncompatibleState>(HasSubstr("columns of edges")));

    EXPECT_THAT([&] { make(base + edges + "training: {model: {type: mlp}}\n", other, "c"); },
        ThrowsMessage<ConfigError>(HasSubstr("edgeInputs: training.model mlp")));
}

}
