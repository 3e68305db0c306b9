// SPDX-License-Identifier: GPL-3.0-or-later
#include "infer/Rollout.hpp"

#include "LambdaSurrogate.hpp"
#include "WaveCase.hpp"
#include "base/Error.hpp"

#include <gmock/gmock.h>

#include <cmath>

using testing::HasSubstr;
using testing::ThrowsMessage;

namespace inSitu
{
namespace
{

Profiler profiler;
const std::vector<double> reference{0.5, -0.25, 3};

ModelCard card(bool increment)
{
    const TrainingCase theCase = WaveCase().theCase();
    ModelCard card;
    card.inputs = theCase.fields;
    card.targets = theCase.fields;
    card.features = {"deltaT"};
    card.increment = increment;
    return card;
}


//- Of the three columns of a cell: they mix, and the length of the step counts
std::array<double, 3> network(const double* x, double deltaT)
{
    return {0.25*x[1] + 0.5*deltaT, 0.125*x[0] - 0.25*x[2], 0.5*x[2] - 0.0625*x[0] + deltaT};
}


LambdaSurrogate linear(bool increment, Precision precision = Precision::float64)
{
    return LambdaSurrogate(card(increment), reference,
        [precision](const Sample& sample, Span<double> prediction)
        {
            for (std::size_t i = 0; i < prediction.size(); i += 3)
            {
                double x[3];
                for (std::size_t c = 0; c < 3; ++c)
                {
                    x[c] = precision == Precision::float64
                      ? static_cast<const double*>(sample.input.get())[i + c]
                      : static_cast<double>(static_cast<const float*>(sample.input.get())[i + c]);
                }
                const auto y = network(x, sample.features.at(0));
                std::copy(y.begin(), y.end(), prediction.begin() + i);
            }
        }, precision);
}


//- Fields that the host keeps for the rollout: cells and the wall behind them
struct State
{
    explicit State(WaveCase& host, double time)
    :
        nCells(host.nCells())
    {
        const auto& views = host.fields(time);
        for (const FieldView<double>& view : views)
        {
            memory.emplace_back(view.cells.begin(), view.cells.begin() + view.cells.size());
            memory.back().insert(memory.back().end(), view.patches[0].begin(),
                view.patches[0].begin() + view.patches[0].size());
        }
        for (double& p : memory[1])
        {
            p -= 1e5;
        }
    }

    std::vector<FieldView<double>> views() const
    {
        std::vector<FieldView<double>> result(2);
        for (int field = 0; field < 2; ++field)
        {
            const std::size_t n = nCells*(field == 0 ? 3 : 1);
            const std::vector<double>& values = memory[field];
            result[field] = {{values.data(), n}, {{values.data() + n, values.size() - n}}};
        }
        return result;
    }

    double* cell(std::size_t i, int c)
    {
        return c < 2 ? &memory[0][3*i + c] : &memory[1][i];
    }

    void set(Span<const double> values)
    {
        for (std::size_t i = 0; i < values.size(); ++i)
        {
            *cell(i/3, static_cast<int>(i % 3)) = values[i];
        }
    }

    std::vector<double> values()
    {
        std::vector<double> result(3*nCells);
        for (std::size_t i = 0; i < result.size(); ++i)
        {
            result[i] = *cell(i/3, static_cast<int>(i % 3));
        }
        return result;
    }

    std::size_t nCells;
    std::vector<std::vector<double>> memory;
};


Rollout rolloutOf(Surrogate& surrogate, WaveCase& host, Horizon horizon)
{
    const TrainingCase theCase = host.theCase();
    return Rollout(surrogate, RowLayout::of(theCase.fields, theCase.inputs, true),
        RowLayout::of(theCase.fields, theCase.targets, false), horizon, host.mesh().state,
        {0, 0, 1}, profiler);
}


Instant at(int step) { return {0.1*step, step, 0.1}; }

class RolloutTest : public testing::TestWithParam<bool> {};

}


//- The solver's flux at the input's time comes along
TEST(Rollout, TakesEdgeInputsWithEachInput)
{
    WaveCase host;
    host.addFlux();
    const TrainingCase theCase = host.theCase();
    ModelCard card;
    card.inputs = {theCase.fields[0], theCase.fields[1]};
    card.targets = card.inputs;
    std::vector<double> seen;
    LambdaSurrogate surrogate(card, reference,
        [&](const Sample& sample, Span<double> prediction)
        {
            seen.push_back(static_cast<const double*>(sample.edges.get())[1]);
            std::fill(prediction.begin(), prediction.end(), 0.0);
        });
    Rollout rollout(surrogate, RowLayout::of(theCase.fields, theCase.inputs, true),
        RowLayout::of(theCase.fields, theCase.targets, false), {1, 0}, host.mesh().state,
        {0, 0, 1}, profiler, EdgeLayout::of(theCase.fields, theCase.edgeInputs));

    rollout.begin(host.fields(0.1));
    std::vector<double> expected;
    for (int step = 1; step <= 3; ++step)
    {
        const auto& fields = host.fields(0.1*step);
        expected.push_back(-fields[2].cells[1]);    // cell 0 from cell 6, through face 1
        rollout.feed(at(step), fields);
        EXPECT_TRUE(rollout.tick(at(step + 1)));
        rollout.advance(at(step + 1));
    }
    EXPECT_EQ(seen, expected);
}


TEST_P(RolloutTest, IsTheLoopByHand)
{
    WaveCase host;
    LambdaSurrogate surrogate = linear(GetParam());
    Rollout rollout = rolloutOf(surrogate, host, {2, 0});
    EXPECT_FALSE(rollout.begun());
    EXPECT_FALSE(rollout.fed());

    State state(host, 0.1);
    const std::vector<double> start = state.values();
    std::vector<double> hand = start;
    rollout.begin(state.views());
    rollout.feed(at(1), state.views());
    EXPECT_TRUE(rollout.begun());
    EXPECT_TRUE(rollout.fed());

    for (int step = 2; step <= 7; ++step)
    {
        if (!rollout.tick(at(step)))
        {
            EXPECT_EQ(step % 2, 0);
            EXPECT_EQ(rollout.waited(), 1);
            EXPECT_DOUBLE_EQ(rollout.inputTime(), 0.1*(step - 1));
            continue;
        }
        EXPECT_EQ(step % 2, 1);
        state.set(rollout.advance(at(step)));
        EXPECT_FALSE(rollout.fed());
        EXPECT_EQ(rollout.step(), step/2);

        for (std::size_t i = 0; i < hand.size(); i += 3)
        {
            const double x[3]{hand[i] - reference[0], hand[i + 1] - reference[1],
                hand[i + 2] - reference[2]};
            const auto y = network(x, at(step).time - at(step - 2).time);
            for (std::size_t c = 0; c < 3; ++c)
            {
                hand[i + c] = y[c] + (GetParam() ? hand[i + c] : 0);
                ASSERT_NEAR(state.values()[i + c], hand[i + c], 1e-13) << step;
            }
        }

        // Against the solver: p alone, the last column
        State solver(host, 0.1*step);
        const std::vector<double> truth = solver.values();
        double error = 0, still = 0, size = 0;
        for (std::size_t i = 2; i < truth.size(); i += 3)
        {
            error += std::pow(hand[i] - truth[i], 2);
            still += std::pow(start[i] - truth[i], 2);
            size += truth[i]*truth[i];
        }
        const RolloutErrors errors = rollout.compare(solver.views(), SerialComm());
        EXPECT_EQ(errors.step, step/2);
        ASSERT_EQ(errors.rmse.size(), 2u);
        EXPECT_NEAR(errors.rmse[1], std::sqrt(error/host.nCells()), 1e-12);
        EXPECT_NEAR(errors.relative[1], std::sqrt(error/size), 1e-12);
        EXPECT_NEAR(errors.persistence[1], std::sqrt(still/size), 1e-12);
        EXPECT_NE(errors.relative[0], errors.relative[1]);

        rollout.feed(at(step), state.views());
    }
    EXPECT_EQ(rollout.step(), 3);
}

INSTANTIATE_TEST_SUITE_P(Target, RolloutTest, testing::Values(true, false),
    [](const auto& info) { return info.param ? "increment" : "value"; });


TEST(Rollout, StepsAtTheFirstExecutionBehindTheHorizonInSeconds)
{
    WaveCase host;
    LambdaSurrogate surrogate = linear(false);
    Rollout rollout = rolloutOf(surrogate, host, {1, 0.25});
    State state(host, 0.1);
    rollout.begin(state.views());
    rollout.feed({0.1, 1, 0.1}, state.views());

    EXPECT_FALSE(rollout.tick({0.2, 2, 0.1}));
    EXPECT_TRUE(rollout.tick({0.35 - 1e-9, 3, 0.15}));
    // The network is told how far it went: Ux = (Uy - reference)/4 + deltaT/2
    const double uy = *state.cell(5, 1);
    const Span<const double> values = rollout.advance({0.4, 4, 0.05});
    EXPECT_DOUBLE_EQ(values[15], 0.25*(uy + 0.25) + 0.5*(0.4 - 0.1));
}


//- Sees where the cells are, too
LambdaSurrogate onTheMove()
{
    return LambdaSurrogate(card(true), reference, [](const Sample& sample, Span<double> prediction)
    {
        const float* const input = static_cast<const float*>(sample.input.get());
        const std::vector<double>& centres = sample.mesh.geometry->centres;
        for (std::size_t i = 0; i < prediction.size(); ++i)
        {
            prediction[i] = 0.25*static_cast<double>(input[i]) + centres[3*(i/3)]
                + 0.0625*sample.features.at(0);
        }
    }, Precision::float32);
}


TEST(Rollout, GoesOnWhereARestartLeftIt)
{
    WaveCase host;
    LambdaSurrogate surrogate = onTheMove();
    Rollout unbroken = rolloutOf(surrogate, host, {3, 0});
    const auto move = [&](int step)
    {
        host.move(0.1*step);
        return host.mesh().state;
    };
    State state(host, 0);
    unbroken.begin(state.views());
    unbroken.feed(at(0), state.views());
    for (int step = 1; step <= 3; ++step)
    {
        unbroken.setMesh(move(step));
        EXPECT_EQ(unbroken.tick(at(step)), step == 3);
    }
    state.set(unbroken.advance(at(3)));
    unbroken.feed(at(3), state.views());
    unbroken.setMesh(move(4));
    EXPECT_FALSE(unbroken.tick(at(4)));

    // The host reads its mesh again: that of now, in other objects
    const StateTree saved = unbroken.save(), values = unbroken.saveValues();
    Rollout restarted = rolloutOf(surrogate, host, {3, 0});
    EXPECT_FALSE(restarted.begun());
    restarted.load(saved, values);
    EXPECT_TRUE(restarted.begun());
    EXPECT_TRUE(restarted.fed());
    EXPECT_EQ(restarted.waited(), 1);
    EXPECT_DOUBLE_EQ(restarted.inputTime(), 0.1*3);

    for (int step = 5; step <= 6; ++step)
    {
        const MeshState mesh = move(step);
        for (Rollout* rollout : {&unbroken, &restarted})
        {
            rollout->setMesh(mesh);
            EXPECT_EQ(rollout->tick(at(step)), step == 6);
        }
    }
    const Span<const double> a = unbroken.advance(at(6));
    const Span<const double> b = restarted.advance(at(6));
    EXPECT_TRUE(std::equal(a.begin(), a.begin() + a.size(), b.begin()));
    State solver(host, 0.6);
    const RolloutErrors errors = restarted.compare(solver.views(), SerialComm());
    EXPECT_EQ(errors.step, 2);
    EXPECT_EQ(errors.persistence, unbroken.compare(solver.views(), SerialComm()).persistence);

    restarted.reset();
    EXPECT_FALSE(restarted.begun());
    EXPECT_FALSE(restarted.fed());
    EXPECT_EQ(restarted.step(), 0);
}


TEST(Rollout, RefusesTheStateOfAnotherMesh)
{
    WaveCase small, large(7, 5);
    LambdaSurrogate surrogate = onTheMove();
    Rollout rollout = rolloutOf(surrogate, small, {3, 0});
    State state(small, 0.1);
    rollout.begin(state.views());
    rollout.feed(at(1), state.views());

    Rollout other = rolloutOf(surrogate, large, {3, 0});
    const StateTree values = rollout.saveValues();
    EXPECT_THAT([&] { other.load(rollout.save(), values); }, ThrowsMessage<Error>(HasSubstr(
        "the saved rollout has 90 values in start, mesh and model here 105")));
    EXPECT_FALSE(other.begun());
}


TEST(Rollout, GoesOnWithAnotherNetwork)
{
    WaveCase host;
    LambdaSurrogate first = linear(true);
    LambdaSurrogate second(card(true), {-2, 1.5, 0.25},
        [](const Sample& sample, Span<double> prediction)
        {
            const float* const input = static_cast<const float*>(sample.input.get());
            std::copy(input, input + prediction.size(), prediction.begin());
        }, Precision::float32);
    Rollout rollout = rolloutOf(first, host, {2, 0});
    State state(host, 0.1);
    rollout.begin(state.views());
    rollout.feed(at(1), state.views());
    EXPECT_FALSE(rollout.tick(at(2)));
    rollout.replace(second);
    EXPECT_TRUE(rollout.tick(at(3)));

    // It takes its own references off the input that the first one would have had
    const std::vector<double> then = state.values();
    const Span<const double> now = rollout.advance(at(3));
    const double shift[3]{-2, 1.5, 0.25};
    for (std::size_t i = 0; i < then.size(); ++i)
    {
        const double increment = static_cast<float>(then[i] - shift[i % 3]);
        ASSERT_EQ(now[i], then[i] + increment);
    }
}


TEST(Rollout, EndsWhereItDiverges)
{
    WaveCase host;
    LambdaSurrogate surrogate(card(true), reference, [](const Sample&, Span<double> prediction)
    {
        std::fill_n(prediction.begin(), prediction.size(), 0.5);
        prediction[4] = std::nan("");
    });
    Rollout rollout = rolloutOf(surrogate, host, {1, 0});
    State state(host, 0.1);
    rollout.begin(state.views());
    rollout.feed(at(1), state.views());
    EXPECT_THAT([&] { rollout.advance(at(2)); }, ThrowsMessage<Error>(
        HasSubstr("diverged: it is not finite at its step 1")));

    *state.cell(3, 2) = std::nan("");
    EXPECT_THAT([&] { rollout.feed(at(1), state.views()); }, ThrowsMessage<Error>(
        HasSubstr("not finite at its step 0")));
    EXPECT_FALSE(rollout.fed());

    LambdaSurrogate narrow = onTheMove();
    Rollout large = rolloutOf(narrow, host, {1, 0});
    *state.cell(3, 2) = 1e39;
    large.begin(state.views());
    large.feed(at(1), state.views());
    EXPECT_THAT([&] { large.advance(at(2)); }, ThrowsMessage<Error>(
        HasSubstr("too large for the network's precision")));

    EXPECT_THAT([&] { rolloutOf(surrogate, host, {0, 0}); }, ThrowsMessage<Error>(
        HasSubstr("horizon 0")));
}

}
