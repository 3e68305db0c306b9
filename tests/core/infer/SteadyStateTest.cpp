// SPDX-License-Identifier: GPL-3.0-or-later
//
// A prediction step asks for no memory once its own fits the case, whatever library would give it

#include "AllocationCounter.hpp"
#include "WaveCase.hpp"
#include "infer/Closure.hpp"
#include "infer/Comparison.hpp"
#include "infer/Rollout.hpp"
#include "model/GraphBatch.hpp"
#include "model/MeshGraphNet.hpp"
#include "model/Mlp.hpp"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <numeric>

namespace inSitu
{
namespace
{

Instant at(int step) { return {0.1*step, step, 0.1}; }


//- A network of 3 field columns, deltaT and 5 static columns that predicts Ux Uy p of the wave
struct SteadyCase
{
    SteadyCase(const std::string& type, Precision precision, std::int64_t horizon, bool increment)
    {
        card.inputs = theCase.fields;
        card.targets = theCase.fields;
        card.features = {"deltaT"};
        card.staticColumns = theCase.staticColumns;
        card.edgeColumns = {"dx", "dy", "length"};
        card.increment = increment;
        card.horizon = horizon;

        const ModelShape shape{9, 3, 3};
        MeshGraphNetOptions graphNet;
        graphNet.processorSize = 3;
        graphNet.hiddenSize = 12;
        graphNet.aggregation = "mean";
        MlpOptions mlp;
        mlp.hiddenSize = 20;
        const ModelOptions& options =
            type == "mlp" ? static_cast<const ModelOptions&>(mlp) : graphNet;

        SurrogateScales scales;
        scales.input.nodes = {{0.3, -0.1, 0.2, 0.1}, {0.5, 0.25, 2, 0.5}};
        scales.target = {{0.1, 0.2, -0.3}, {0.05, 0.02, 0.1}};
        scales.inputReference = {1, 0.1, 1e5};
        scales.targetReference = increment ? std::vector<double>(3, 0.0) : scales.inputReference;
        scales.input.mesh.edgeLength = 0.4;
        surrogate = makeSurrogate(card, options.build(shape, precision, 5, pool), scales, pool, {});
    }

    SampleStream::Layout layout() const
    {
        SampleStream::Layout layout;
        layout.input = RowLayout::of(theCase.fields, theCase.inputs, true);
        layout.target = RowLayout::of(theCase.fields, theCase.targets, false);
        layout.features = card.features;
        layout.horizon = {static_cast<int>(card.horizon), 0};
        layout.increment = card.increment;
        layout.precision = surrogate->precision();
        return layout;
    }

    WaveCase host{24, 20};              // more than one chunk of work
    TrainingCase theCase = host.theCase();
    CaseMesh mesh = host.mesh();
    ThreadPool pool{2};
    Profiler profiler;
    ModelCard card;
    std::unique_ptr<Surrogate> surrogate;
};


//- Allocations in five steps of step(i, fields), after so many that make the memory
template<class Step>
long allocationsOf(WaveCase& host, int before, const Step& step)
{
    long number = 0;
    for (int i = 1; i <= before + 5; ++i)
    {
        const auto& fields = host.fields(0.1*i);
        const long made = allocations;
        step(i, fields);
        number += i > before ? allocations - made : 0;
    }
    return number;
}


class SteadyStateTest : public testing::TestWithParam<std::tuple<const char*, Precision>>
{
protected:

    std::string type = std::get<0>(GetParam());
    Precision precision = std::get<1>(GetParam());
};

}


TEST_P(SteadyStateTest, ComparisonAllocatesNothing)
{
    SteadyCase my(type, precision, 2, true);
    Comparison comparison(*my.surrogate, my.layout(), my.mesh, {0, 0, 1}, my.profiler);
    const SerialComm comm;

    // The third execution is the first to predict
    EXPECT_EQ(allocationsOf(my.host, 3, [&](int step, const auto& fields)
    {
        comparison.execute(at(step), fields, comm);
    }), 0);
    EXPECT_EQ(comparison.errors().nSamples(), 6);
}


TEST_P(SteadyStateTest, RolloutAllocatesNothing)
{
    SteadyCase my(type, precision, 1, true);
    const SampleStream::Layout layout = my.layout();
    Rollout rollout(*my.surrogate, layout.input, layout.target, layout.horizon, my.mesh.state,
        {0, 0, 1}, my.profiler);
    const SerialComm comm;
    rollout.begin(my.host.fields(0));
    rollout.feed(at(0), my.host.fields(0));

    EXPECT_EQ(allocationsOf(my.host, 1, [&](int step, const auto& fields)
    {
        rollout.tick(at(step));
        rollout.advance(at(step));
        rollout.compare(fields, comm);
        rollout.feed(at(step), fields);
    }), 0);
    EXPECT_EQ(rollout.step(), 6);
}


TEST_P(SteadyStateTest, ClosureAllocatesNothing)
{
    SteadyCase my(type, precision, 0, false);
    SampleStream::Layout layout = my.layout();
    layout.target = RowLayout::of(my.theCase.fields, {}, false);
    SampleStream stream(layout, my.mesh.state);
    stream.setReferences(my.surrogate->inputReference(), {});
    my.card.targetMinimum = {0.9, -0.2, 1e5 - 1};
    my.card.targetMaximum = {1.05, 0.2, 1e5 - 0.5};
    ClosureConfig config;
    config.onOutlier = "clip";
    config.relax = 0.75;
    Closure closure(my.card, config, {{-9, -9, -9}, {9, 9, 1e6}});
    const std::vector<double> previous(3*my.host.nCells(), 0.5);
    std::vector<double> values(previous.size());
    const SerialComm comm;

    EXPECT_EQ(allocationsOf(my.host, 1, [&](int step, const auto& fields)
    {
        stream.take(at(step), fields, comm);
        auto completed = stream.next();
        my.surrogate->predict(completed->sample, Span<double>(values));
        stream.recycle(std::move(completed->sample));
        closure.apply(Span<double>(values), Span<const double>(previous));
    }), 0);
    EXPECT_GT(closure.nOutliers(), 0);
}

INSTANTIATE_TEST_SUITE_P(Network, SteadyStateTest,
    testing::Combine(testing::Values("meshGraphNet", "mlp"),
        testing::Values(Precision::float32, Precision::float64)),
    [](const auto& info)
    {
        return std::get<0>(info.param)
            + std::string(std::get<1>(info.param) == Precision::float32 ? "32" : "64");
    });


//- What the zeros above would hide if nothing were counted
TEST(AllocationCounter, SeesTensorsAndContainers)
{
    const long before = allocations;
    const std::vector<double> values(37);
    const long behindVector = allocations;
    const at::Tensor tensor = at::empty({37});
    EXPECT_EQ(behindVector - before, 1);
    EXPECT_GE(allocations - behindVector, 2);       // the tensor and its values
    EXPECT_EQ(tensor.numel(), static_cast<std::int64_t>(values.size()));
}


//- A result that is held must not be overwritten by the next one
TEST(SteadyState, AResultThatIsHeldStays)
{
    const at::NoGradGuard noGradients;
    for (const std::string type : {"meshGraphNet", "mlp"})
    {
        ThreadPool pool(1);
        WaveCase host;
        const CaseMesh mesh = host.mesh();
        const ModelShape shape{4, 3, 2};
        MeshGraphNetOptions graphNet;
        graphNet.processorSize = 1;
        graphNet.hiddenSize = 8;
        const auto network = type == "mlp" ? MlpOptions().build(shape, Precision::float32, 3, pool)
            : graphNet.build(shape, Precision::float32, 3, pool);
        const auto batch = [&](double value)
        {
            return GraphBatch{mesh.state.graph, at::full({1, mesh.state.graph->nNodes(), 4}, value),
                at::full({mesh.state.graph->nEdges(), 3}, 0.5)};
        };

        const at::Tensor first = network->forward(batch(0.25));
        const at::Tensor copy = first.clone();
        const at::Tensor row = network->forward(batch(-2)).select(1, 3);
        const at::Tensor copyOfRow = row.clone();
        EXPECT_FALSE(at::equal(first.select(1, 3), row)) << type;
        network->forward(batch(7));
        EXPECT_TRUE(at::equal(first, copy)) << type;
        EXPECT_TRUE(at::equal(row, copyOfRow)) << type;
    }
}

}
