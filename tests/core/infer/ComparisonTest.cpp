// SPDX-License-Identifier: GPL-3.0-or-later
#include "infer/Comparison.hpp"

#include "LambdaSurrogate.hpp"
#include "WaveCase.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace inSitu
{
namespace
{

Profiler profiler;
const std::vector<double> reference{0.5, -0.25, 1e5};

ModelCard card(bool increment)
{
    const TrainingCase theCase = WaveCase().theCase();
    ModelCard card;
    card.inputs = theCase.fields;
    card.targets = theCase.fields;
    card.increment = increment;
    card.horizon = 2;
    return card;
}


//- From the input as it reaches the network, less the references
double network(double input, std::size_t entry)
{
    return 0.125*input + 0.001*static_cast<double>(entry);
}


LambdaSurrogate linear(bool increment, double factor = 1)
{
    return LambdaSurrogate(card(increment), reference,
        [factor](const Sample& sample, Span<double> prediction)
        {
            const auto* input = static_cast<const double*>(sample.input.get());
            for (std::size_t i = 0; i < prediction.size(); ++i)
            {
                prediction[i] = factor*network(input[i], i);
            }
        });
}


SampleStream::Layout layoutOf(const Surrogate& surrogate, int horizon = 2, double seconds = 0)
{
    const TrainingCase theCase = WaveCase().theCase();
    SampleStream::Layout layout;
    layout.input = RowLayout::of(theCase.fields, theCase.inputs, true);
    layout.target = RowLayout::of(theCase.fields, theCase.targets, false);
    layout.horizon = {horizon, seconds};
    layout.increment = surrogate.card().increment;
    layout.precision = Precision::float64;
    return layout;
}


//- Ux Uy p of the cells at a time
std::vector<double> cells(WaveCase& host, double time)
{
    const auto& views = host.fields(time);
    std::vector<double> values;
    for (int cell = 0; cell < host.nCells(); ++cell)
    {
        values.insert(values.end(), {views[0].cells[3*cell], views[0].cells[3*cell + 1],
            views[1].cells[cell]});
    }
    return values;
}


Instant at(int step) { return {0.1*step, step, 0.1}; }

struct ByHand
{
    std::vector<double> prediction;
    double rmseOfP = 0;
    double skillOfP = 0;
};

//- For the step that follows another one by two
ByHand byHand(WaveCase& host, int step, bool increment)
{
    const std::vector<double> then = cells(host, 0.1*(step - 2));
    const std::vector<double> now = cells(host, 0.1*step);
    ByHand result;
    double error = 0;
    double still = 0;
    for (std::size_t i = 0; i < now.size(); ++i)
    {
        result.prediction.push_back(
            network(then[i] - reference[i % 3], i) + (increment ? then[i] : 0));
        if (i % 3 == 2)
        {
            error += std::pow(result.prediction[i] - now[i], 2);
            still += std::pow(then[i] - now[i], 2);
        }
    }
    result.rmseOfP = std::sqrt(error/host.nCells());
    result.skillOfP = 1 - error/still;
    return result;
}

class ComparisonTest : public testing::TestWithParam<bool> {};

}


TEST_P(ComparisonTest, PredictsTheStateFromTheOneAHorizonAgo)
{
    WaveCase host;
    LambdaSurrogate surrogate = linear(GetParam());
    Comparison comparison(surrogate, layoutOf(surrogate), host.mesh(), {0, 0, 1}, profiler);

    for (int step = 1; step <= 5; ++step)
    {
        comparison.execute(at(step), host.fields(0.1*step), SerialComm());
        if (step <= 2)
        {
            EXPECT_TRUE(comparison.prediction().empty());
            continue;
        }
        const ByHand expected = byHand(host, step, GetParam());
        ASSERT_EQ(comparison.prediction().size(), expected.prediction.size());
        for (std::size_t i = 0; i < expected.prediction.size(); ++i)
        {
            ASSERT_DOUBLE_EQ(comparison.prediction()[i], expected.prediction[i]) << step << ' ' << i;
        }
        EXPECT_EQ(comparison.errors().errors(SerialComm()).samples, 1);
        EXPECT_NEAR(comparison.errors().errors(SerialComm()).rmse[1], expected.rmseOfP, 1e-9*expected.rmseOfP);
        EXPECT_NEAR(comparison.errors().errors(SerialComm()).skill[1], expected.skillOfP, 1e-8);
        comparison.errors().reset();
    }
}

INSTANTIATE_TEST_SUITE_P(Target, ComparisonTest, testing::Values(true, false),
    [](const auto& info) { return info.param ? "increment" : "value"; });


TEST(Comparison, WaitsAnewAfterAGap)
{
    WaveCase host;
    LambdaSurrogate surrogate = linear(true);
    Comparison comparison(surrogate, layoutOf(surrogate), host.mesh(), {0, 0, 1}, profiler);
    const auto execute = [&](int step)
    {
        comparison.execute(at(step), host.fields(0.1*step), SerialComm());
        return !comparison.prediction().empty();
    };

    EXPECT_FALSE(execute(1));
    EXPECT_FALSE(execute(2));
    EXPECT_TRUE(execute(3));
    EXPECT_EQ(comparison.stream().drop(), 2);
    EXPECT_FALSE(execute(7));
    EXPECT_FALSE(execute(8));
    EXPECT_TRUE(execute(9));
    EXPECT_EQ(comparison.errors().errors(SerialComm()).samples, 2);
}


TEST(Comparison, GoesOnWithValuesThatWereMapped)
{
    WaveCase host;
    LambdaSurrogate surrogate = linear(true);
    Comparison comparison(surrogate, layoutOf(surrogate), host.mesh(), {0, 0, 1}, profiler);
    for (int step = 1; step <= 2; ++step)
    {
        comparison.execute(at(step), host.fields(0.1*step), SerialComm());
    }

    // Twice the cells; all that waits has new values: 3 for inputs less references, 4 for targets
    host.refine();
    const std::vector<double> input(static_cast<std::size_t>(host.nRows())*3, 3.0);
    const std::vector<double> target(static_cast<std::size_t>(host.nCells())*3, 4.0);
    const PendingInputs::Values mapped{Span<const double>(input), Span<const double>(target)};
    EXPECT_EQ(comparison.stream().setTopology(host.mesh().state, {mapped, mapped}), 0);

    comparison.execute(at(3), host.fields(0.3), SerialComm());
    ASSERT_EQ(comparison.prediction().size(), target.size());
    for (std::size_t i = 0; i < target.size(); ++i)
    {
        ASSERT_DOUBLE_EQ(comparison.prediction()[i], 4 + network(3, i));
    }
    comparison.stream().drop();
    comparison.execute(at(4), host.fields(0.4), SerialComm());
    EXPECT_TRUE(comparison.prediction().empty());
}


TEST(Comparison, ShowsNothingThatIsNotFinite)
{
    WaveCase host;
    int calls = 0;
    LambdaSurrogate surrogate(card(false), reference,
        [&](const Sample&, Span<double> prediction)
        {
            std::fill_n(prediction.begin(), prediction.size(), 1.5);
            prediction[7] = ++calls == 2 ? std::nan("") : 1.5;
        });
    // Inputs of times 0.1 and 0.2 complete together, at 0.5; the second one is bad
    Comparison comparison(surrogate, layoutOf(surrogate, 1, 0.3), host.mesh(), {0, 0, 1}, profiler);
    comparison.execute(at(1), host.fields(0.1), SerialComm());
    comparison.execute(at(2), host.fields(0.2), SerialComm());
    comparison.execute(at(5), host.fields(0.5), SerialComm());

    EXPECT_EQ(calls, 2);
    EXPECT_TRUE(comparison.prediction().empty());
    EXPECT_EQ(comparison.nNonFinite(), 1);
    EXPECT_EQ(comparison.errors().errors(SerialComm()).samples, 1);
    EXPECT_TRUE(std::isfinite(comparison.errors().errors(SerialComm()).rmse[1]));
}


TEST(Comparison, GoesOnWithAnotherNetwork)
{
    WaveCase host;
    LambdaSurrogate first = linear(true);
    LambdaSurrogate second = linear(true, 3);
    Comparison comparison(first, layoutOf(first), host.mesh(), {0, 0, 1}, profiler);
    comparison.execute(at(1), host.fields(0.1), SerialComm());
    comparison.execute(at(2), host.fields(0.2), SerialComm());
    comparison.replace(second);
    comparison.execute(at(3), host.fields(0.3), SerialComm());
    EXPECT_TRUE(comparison.prediction().empty());
    comparison.execute(at(4), host.fields(0.4), SerialComm());
    comparison.execute(at(5), host.fields(0.5), SerialComm());

    const std::vector<double> then = cells(host, 0.1*3);
    for (std::size_t i = 0; i < then.size(); ++i)
    {
        ASSERT_DOUBLE_EQ(comparison.prediction()[i],
            then[i] + 3*network(then[i] - reference[i % 3], i));
    }
}

}
