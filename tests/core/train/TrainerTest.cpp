// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/Trainer.hpp"

#include "TrainCase.hpp"

#include <gmock/gmock.h>

#include <limits>

using namespace inSitu;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

namespace
{

using Entries = std::vector<std::pair<std::string, std::string>>;
using Case = TrainCase<double>;

const Entries smallMlp{{"precision", "float64"}, {"model.type", "mlp"}, {"model.hiddenSize", "9"}};

const Entries smallNet{{"precision", "float64"}, {"model.type", "meshGraphNet"},
    {"model.processorSize", "2"}, {"model.hiddenSize", "8"}};

Entries with(Entries entries, const Entries& more)
{
    entries.insert(entries.end(), more.begin(), more.end());
    return entries;
}


double lengthOf(const at::Tensor& tensor)
{
    return tensor.norm().item<double>();
}

}


TEST(Trainer, AccumulatedGradientsEqualOneLargeBatch)
{
    const Case data;
    const Normaliser scales = data.normaliser();
    const Entries common = with(smallNet, {{"optimizer.type", "sgd"},
        {"optimizer.learningRate", "0.02"}, {"optimizer.momentum", "0.9"}});
    TrainerBench large(trainingConfig(common), data.layout());
    TrainerBench split(trainingConfig(with(common, {{"optimizer.gradAccumulationSteps", "4"}})),
        data.layout());
    const at::Tensor initial = large.weights();

    for (int update = 0; update < 3; ++update)
    {
        std::vector<Sample> batch;
        double lossSum = 0;
        Trainer::Step last;
        for (int k = 0; k < 4; ++k)
        {
            batch.push_back(data.sample(4*update + k));
            last = split.trainer.step({batch.back()}, scales);
            lossSum += last.loss;
            EXPECT_EQ(last.updated, k == 3);
        }
        const Trainer::Step whole = large.trainer.step(batch, scales);
        EXPECT_NEAR(lossSum/4, whole.loss, 1e-12*whole.loss);
        EXPECT_NEAR(last.gradientNorm, whole.gradientNorm, 1e-11*whole.gradientNorm);
    }
    EXPECT_LT(lengthOf(split.weights() - large.weights()), 1e-11);
    EXPECT_GT(lengthOf(large.weights() - initial), 1e-3);
    EXPECT_EQ(split.trainer.nSteps(), 12);
    EXPECT_EQ(split.trainer.nUpdates(), 3);
}


TEST(Trainer, LongGradientsAreShortenedAndShortOnesKept)
{
    const Case data;
    const Normaliser scales = data.normaliser();
    for (const double limit : {0.01, 1e3})
    {
        TrainerBench bench(trainingConfig(with(smallMlp, {{"optimizer.type", "sgd"},
            {"optimizer.learningRate", "0.5"}, {"optimizer.maxGradNorm", std::to_string(limit)}})),
            data.layout());
        const at::Tensor before = bench.weights();
        const Trainer::Step step = bench.trainer.step({data.sample(0)}, scales);
        const double change = lengthOf(bench.weights() - before);

        ASSERT_GT(step.gradientNorm, 0.02);
        const double length = std::min(step.gradientNorm,
            step.gradientNorm*limit/(step.gradientNorm + 1e-6));
        EXPECT_NEAR(change, 0.5*length, 1e-12);
    }
}


TEST(Trainer, LearningRateFollowsTheScheduleOfUpdates)
{
    const Case data;
    const Normaliser scales = data.normaliser();
    TrainerBench bench(trainingConfig(with(smallMlp, {{"optimizer.learningRate", "0.01"},
        {"optimizer.gradAccumulationSteps", "2"}, {"lrScheduler.type", "step"},
        {"lrScheduler.stepSize", "1"}, {"lrScheduler.gamma", "0.5"}})), data.layout());

    std::vector<double> rates;
    for (int k = 0; k < 6; ++k)
    {
        rates.push_back(bench.trainer.step({data.sample(k)}, scales).learningRate);
    }
    EXPECT_THAT(rates, ElementsAre(0.01, 0.01, 0.005, 0.005, 0.0025, 0.0025));
}


TEST(Trainer, StoppedAtAnyStepItContinuesBitForBit)
{
    const TrainCase<float> data;
    const Normaliser scales = data.normaliser();
    const Entries entries{{"model.type", "mlp"}, {"model.hiddenSize", "9"},
        {"model.dropout", "0.2"}, {"optimizer.gradAccumulationSteps", "3"},
        {"lrScheduler.type", "plateau"}, {"lrScheduler.patience", "0"},
        {"lrScheduler.factor", "0.7"}};
    TrainerLayout layout = data.layout();
    layout.noise = 0.1;
    constexpr int nSteps = 10;

    const auto run = [&](TrainerBench& bench, int first, int last)
    {
        for (int k = first; k < last; ++k)
        {
            bench.trainer.step({data.sample(k), data.sample(3*k)}, scales);
            if (k == 4)
            {
                bench.trainer.keepBest(0.25);
            }
        }
    };

    TrainerBench unbroken(trainingConfig(entries), layout);
    run(unbroken, 0, nSteps);
    const StateTree expected = unbroken.trainer.save();
    ASSERT_EQ(unbroken.trainer.nUpdates(), 3);

    for (int stop = 0; stop < nSteps; ++stop)
    {
        TrainerBench first(trainingConfig(entries), layout);
        run(first, 0, stop);
        // Another seed: whatever is random must come from the state
        TrainerBench second(trainingConfig(with(entries, {{"seed", "77"}})), layout);
        EXPECT_THAT(second.trainer.load(first.trainer.save()), testing::IsEmpty());
        run(second, stop, nSteps);
        EXPECT_EQ(firstDifference(second.trainer.save(), expected), "") << "stopped at " << stop;
    }
}


TEST(Trainer, SameBitsForAnyNumberOfThreads)
{
    const TrainCase<float> data(41, 37);
    const Normaliser scales = data.normaliser();
    const Entries entries{{"model.type", "meshGraphNet"}, {"model.processorSize", "2"},
        {"model.hiddenSize", "16"}, {"optimizer.maxGradNorm", "0.5"}, {"loss.weights", "volume"}};

    std::vector<StateTree> states;
    std::vector<std::vector<double>> predictions;
    for (const int nThreads : {1, 2, 3})
    {
        TrainerBench bench(trainingConfig(entries), data.layout(), nThreads);
        for (int k = 0; k < 4; ++k)
        {
            bench.trainer.step({data.sample(k), data.sample(k + 9)}, scales);
        }
        states.push_back(bench.trainer.save());
        predictions.push_back(bench.prediction(data.sample(5), scales, data.nCells()));
    }
    EXPECT_EQ(firstDifference(states[1], states[0]), "");
    EXPECT_EQ(firstDifference(states[2], states[0]), "");
    EXPECT_EQ(predictions[1], predictions[0]);
    EXPECT_EQ(predictions[2], predictions[0]);
}


TEST(Trainer, PassThatIsNotFiniteLeavesNoTrace)
{
    const Case data;
    const Normaliser scales = data.normaliser();
    const Entries entries = with(smallNet, {{"optimizer.gradAccumulationSteps", "2"}});
    TrainerBench clean(trainingConfig(entries), data.layout());
    TrainerBench disturbed(trainingConfig(entries), data.layout());

    for (int k = 0; k < 5; ++k)
    {
        clean.trainer.step({data.sample(k)}, scales);
        for (const double value : {std::numeric_limits<double>::quiet_NaN(), 1e200})
        {
            const Sample bad = data.sample(k + 50);
            static_cast<double*>(bad.target.get())[7] = value;
            const at::Tensor before = disturbed.weights();
            const Trainer::Step step = disturbed.trainer.step({bad}, scales);
            EXPECT_FALSE(step.finite);
            EXPECT_FALSE(step.updated);
            EXPECT_TRUE(at::equal(disturbed.weights(), before));
        }
        EXPECT_TRUE(disturbed.trainer.step({data.sample(k)}, scales).finite);
    }
    EXPECT_TRUE(at::equal(disturbed.weights(), clean.weights()));
    EXPECT_EQ(disturbed.trainer.nUpdates(), clean.trainer.nUpdates());
    EXPECT_EQ(disturbed.trainer.nSteps(), 15);
}


TEST(Trainer, PredictionsStayWhenTheScalesGrow)
{
    const Case data;
    for (const Entries& entries : {smallMlp, smallNet})
    {
        for (const bool increment : {true, false})
        {
            const Normaliser before = data.normaliser(3, 1, 0, increment);
            const Normaliser after = data.normaliser(3, 30, 0.7, increment);
            TrainerBench bench(trainingConfig(entries), data.layout());
            bench.trainer.step({data.sample(0)}, before);

            const auto old = bench.prediction(data.sample(1), before, data.nCells());
            const auto jumped = bench.prediction(data.sample(1), after, data.nCells());
            bench.trainer.followScales(before.target(), after.target());
            const auto kept = bench.prediction(data.sample(1), after, data.nCells());

            EXPECT_LT(relativeDifference(kept, old), 1e-12);
            EXPECT_GT(relativeDifference(jumped, old), 0.1);
        }
    }
}


TEST(Trainer, PredictionsShrinkWithTheScales)
{
    const Case data;
    for (const Entries& entries : {smallMlp, smallNet})
    {
        const Normaliser before = data.normaliser(3, 1, 0, true);
        const Normaliser after = data.normaliser(3, 0.03, 0, true);
        TrainerBench bench(trainingConfig(entries), data.layout());
        bench.trainer.step({data.sample(0)}, before);

        const auto old = bench.prediction(data.sample(1), before, data.nCells());
        bench.trainer.followScales(before.target(), after.target());
        const auto shrunk = bench.prediction(data.sample(1), after, data.nCells());

        ASSERT_EQ(shrunk.size(), old.size());
        const Scaling then = before.target();
        const Scaling now = after.target();
        for (std::size_t i = 0; i < old.size(); ++i)
        {
            const std::size_t column = i % then.scale.size();
            EXPECT_NEAR(shrunk[i], old[i]*now.scale[column]/then.scale[column], 1e-12);
        }
    }
}


TEST(Trainer, BestWeightsAreKeptAndFitMovedScales)
{
    const Case data;
    const Normaliser first = data.normaliser(3, 1, 0, false);
    const Normaliser second = data.normaliser(3, 5, 0.3, false);
    const Normaliser third = data.normaliser(3, 8, -0.2, false);
    TrainerBench bench(trainingConfig(with(smallMlp, {{"optimizer.learningRate", "0.05"}})),
        data.layout());
    const auto prediction = [&](const Normaliser& scales)
    {
        return bench.prediction(data.sample(2), scales, data.nCells());
    };
    EXPECT_EQ(bench.trainer.bestSkill(), -std::numeric_limits<double>::infinity());

    bench.trainer.step({data.sample(0)}, first);
    bench.trainer.keepBest(0.6);
    const auto best = prediction(first);
    bench.trainer.followScales(first.target(), second.target());
    bench.trainer.step({data.sample(1)}, second);
    bench.trainer.followScales(second.target(), third.target());
    bench.trainer.step({data.sample(2)}, third);

    const auto current = prediction(third);
    std::vector<double> visited;
    bench.trainer.visitBest([&](const Model&) { visited = prediction(third); });

    EXPECT_LT(relativeDifference(visited, best), 1e-12);
    EXPECT_GT(relativeDifference(current, best), 1e-2);
    EXPECT_EQ(prediction(third), current);
    EXPECT_EQ(bench.trainer.bestSkill(), 0.6);
}


TEST(Trainer, AppliesWhatMayChangeAndNamesTheRest)
{
    const Case data;
    const Normaliser scales = data.normaliser();
    TrainerBench bench(trainingConfig(with(smallMlp, {{"optimizer.learningRate", "0.01"}})),
        data.layout());
    bench.trainer.step({data.sample(0)}, scales);

    EXPECT_THAT(bench.trainer.reconfigure(trainingConfig({{"precision", "float64"},
        {"model.type", "mlp"}, {"model.hiddenSize", "10"}, {"seed", "3"}, {"batchSize", "2"},
        {"optimizer.learningRate", "0.4"}, {"lrScheduler.type", "exponential"},
        {"lrScheduler.gamma", "0.5"}})), ElementsAre("model.hiddenSize", "seed"));
    EXPECT_DOUBLE_EQ(bench.trainer.step({data.sample(1)}, scales).learningRate, 0.2);

    // What was refused stays refused, and moments survive
    EXPECT_TRUE(bench.trainer.save().has("optimizer/0/expAvg"));
    EXPECT_EQ(bench.trainer.save().getInt("optimizer/0/step"), 2);
    EXPECT_THAT(bench.trainer.reconfigure(trainingConfig(with(smallMlp,
        {{"optimizer.type", "sgd"}, {"optimizer.learningRate", "0.3"}}))),
        Contains("optimizer.type"));
    EXPECT_DOUBLE_EQ(bench.trainer.step({data.sample(1)}, scales).learningRate, 0.4);
}


TEST(Trainer, StateOfAnotherModelIsRefusedByName)
{
    const Case data;
    const Normaliser scales = data.normaliser();
    TrainerBench small(trainingConfig(smallNet), data.layout());
    TrainerBench wide(trainingConfig(with(smallNet, {})), data.layout());
    TrainerBench deep(trainingConfig({{"precision", "float64"}, {"model.type", "meshGraphNet"},
        {"model.processorSize", "3"}, {"model.hiddenSize", "8"}}), data.layout());
    TrainerBench single(trainingConfig({{"model.type", "meshGraphNet"},
        {"model.processorSize", "2"}, {"model.hiddenSize", "8"}}), data.layout());
    const auto complaint = [](TrainerBench& bench, const StateTree& state) -> std::string
    {
        const StateTree before = bench.trainer.save();
        try
        {
            bench.trainer.load(state);
        }
        catch (const IncompatibleState& error)
        {
            EXPECT_EQ(firstDifference(bench.trainer.save(), before), "");
            return error.what();
        }
        return "accepted";
    };

    small.trainer.step({data.sample(0)}, scales);
    EXPECT_THAT(complaint(deep, small.trainer.save()), HasSubstr("has no tensor processor."));
    EXPECT_THAT(complaint(small, deep.trainer.save()), HasSubstr("has a tensor processor."));
    EXPECT_THAT(complaint(single, small.trainer.save()),
        HasSubstr("edge_encoder.model.0.weight is float64 [8, 3]"));
    EXPECT_THAT(complaint(wide, small.trainer.save()), "accepted");
}


TEST(Trainer, AnotherOptimiserStartsAfreshAndSaysSo)
{
    const Case data;
    const Normaliser scales = data.normaliser();
    TrainerBench adam(trainingConfig(smallMlp), data.layout());
    adam.trainer.step({data.sample(0)}, scales);
    TrainerBench sgd(trainingConfig(with(smallMlp, {{"optimizer.type", "sgd"}})), data.layout());

    EXPECT_THAT(sgd.trainer.load(adam.trainer.save()),
        ElementsAre(HasSubstr("it was adam and is sgd now")));
    EXPECT_TRUE(at::equal(sgd.weights(), adam.weights()));
    EXPECT_EQ(sgd.trainer.nUpdates(), 1);
}
