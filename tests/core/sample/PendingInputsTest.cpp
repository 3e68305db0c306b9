// SPDX-License-Identifier: GPL-3.0-or-later
#include "sample/PendingInputs.hpp"

#include "AllocationCounter.hpp"
#include "base/Error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace inSitu;
using testing::ElementsAre;
using testing::FloatEq;
using testing::HasSubstr;
using testing::ThrowsMessage;

namespace
{

//  0 | 1     two cells, one input column, two target columns
class PendingInputsTest : public testing::Test
{
protected:

    static MeshState chain()
    {
        const std::vector<std::int32_t> owner{0}, neighbour{1};
        MeshState state;
        state.graph = std::make_shared<MeshGraph>(MeshGraph::fromFaces(2, owner, neighbour));
        return state;
    }

    Snapshot snapshot(int t)
    {
        Snapshot result{0.25*t, 10*t, 0.125 + t, mesh, inputs.acquire(), rawTargets.acquire()};
        auto* input = static_cast<float*>(result.input.get());
        auto* target = static_cast<double*>(result.target.get());
        for (int i = 0; i < 2; ++i)
        {
            input[i] = static_cast<float>(100*t + i);
        }
        for (int i = 0; i < 4; ++i)
        {
            target[i] = 1e5 + t*t*(i + 1);
        }
        return result;
    }

    using Values = std::vector<double>;

    static std::vector<PendingInputs::Values> one(const Values& input, const Values& target)
    {
        return {{Span<const double>(input), Span<const double>(target)}};
    }

    static std::vector<PendingInputs::Values> two(const Values& input, const Values& target,
        const Values& later, const Values& laterTarget)
    {
        return {one(input, target)[0], one(later, laterTarget)[0]};
    }

    //- The sample that the snapshot completes
    std::optional<Sample> push(PendingInputs& pending, Snapshot snapshot, SlotPool& pool,
        std::optional<Span<const double>> references = std::nullopt)
    {
        pending.push(std::move(snapshot));
        auto completed = pending.next(pool);
        if (!completed)
        {
            return std::nullopt;
        }
        pending.formTarget(*completed, references.value_or(reference));
        return std::move(completed->sample);
    }

    static std::vector<float> floats(const SlotPool::Handle& slot, std::size_t n)
    {
        const auto* values = static_cast<const float*>(slot.get());
        return {values, values + n};
    }

    const MeshState mesh = chain();
    SlotPool inputs{2*sizeof(float)};
    SlotPool rawTargets{4*sizeof(double)};
    SlotPool targets{4*sizeof(float)};
    const std::vector<double> references{1e5, 1e5 + 0.5};
    const Span<const double> reference{references};
};

}


TEST_F(PendingInputsTest, AnIncrementIsWhatTheHorizonAddedAndTheInputIsTheOldOne)
{
    PendingInputs pending({2}, true, 2, Precision::float32);

    EXPECT_FALSE(push(pending, snapshot(1), targets));
    EXPECT_FALSE(push(pending, snapshot(2), targets));
    const auto first = push(pending, snapshot(3), targets);
    const auto second = push(pending, snapshot(4), targets);

    ASSERT_TRUE(first && second);
    EXPECT_THAT(floats(first->input, 2), ElementsAre(100, 101));
    EXPECT_THAT(floats(first->target, 4), ElementsAre(8, 16, 24, 32));
    EXPECT_EQ(first->time, 0.25);
    EXPECT_EQ(first->id, -1);
    EXPECT_EQ(first->mesh.graph, mesh.graph);
    EXPECT_THAT(floats(second->input, 2), ElementsAre(200, 201));
    EXPECT_THAT(floats(second->target, 4), ElementsAre(12, 24, 36, 48));
    EXPECT_EQ(pending.snapshots().size(), 2u);
    EXPECT_EQ(pending.snapshots().front().timeIndex, 30);
}


TEST_F(PendingInputsTest, AValueIsLessItsReference)
{
    PendingInputs pending({1}, false, 2, Precision::float32);
    push(pending, snapshot(2), targets);

    const auto sample = push(pending, snapshot(3), targets);

    ASSERT_TRUE(sample);
    EXPECT_THAT(floats(sample->input, 2), ElementsAre(200, 201));
    EXPECT_THAT(floats(sample->target, 4), ElementsAre(9, 17.5f, 27, 35.5f));
}


TEST_F(PendingInputsTest, WithHorizonZeroASnapshotCompletesItself)
{
    PendingInputs pending({0}, false, 2, Precision::float32);

    const auto sample = push(pending, snapshot(3), targets);

    ASSERT_TRUE(sample);
    EXPECT_THAT(floats(sample->input, 2), ElementsAre(300, 301));
    EXPECT_THAT(floats(sample->target, 4), ElementsAre(9, 17.5f, 27, 35.5f));
    EXPECT_EQ(sample->time, 0.75);
    EXPECT_TRUE(pending.snapshots().empty());
    EXPECT_EQ(pending.drop(), 0);
}


TEST_F(PendingInputsTest, IncrementsAreFormedInDoubleBeforeTheCast)
{
    PendingInputs pending({1}, true, 2, Precision::float32);
    Snapshot first = snapshot(1);
    Snapshot second = snapshot(2);
    static_cast<double*>(first.target.get())[3] = 1e5;
    static_cast<double*>(second.target.get())[3] = 1e5 + 1e-6;
    push(pending, std::move(first), targets);

    const auto sample = push(pending, std::move(second), targets);

    EXPECT_NEAR(floats(sample->target, 4)[3], 1e-6, 2e-11);
}


TEST_F(PendingInputsTest, DoublePrecisionGivesDoubleTargets)
{
    PendingInputs pending({1}, true, 2, Precision::float64);
    SlotPool wide(4*sizeof(double));
    push(pending, snapshot(1), wide);

    const auto sample = push(pending, snapshot(2), wide);

    const auto* values = static_cast<const double*>(sample->target.get());
    EXPECT_THAT(std::vector<double>(values, values + 4), ElementsAre(3, 6, 9, 12));
}


TEST_F(PendingInputsTest, DroppingForgetsAndCounts)
{
    PendingInputs pending({2}, true, 2, Precision::float32);
    push(pending, snapshot(1), targets);
    push(pending, snapshot(2), targets);

    EXPECT_EQ(pending.drop(), 2);
    EXPECT_FALSE(push(pending, snapshot(5), targets));
    EXPECT_FALSE(push(pending, snapshot(6), targets));
    const auto sample = push(pending, snapshot(7), targets);
    EXPECT_THAT(floats(sample->target, 4), ElementsAre(24, 48, 72, 96));
}


TEST_F(PendingInputsTest, ASteadyStateAllocatesNothing)
{
    PendingInputs pending({3}, true, 2, Precision::float32);
    std::optional<Sample> sample;
    for (int t = 0; t < 5; ++t)
    {
        sample = push(pending, snapshot(t), targets);
    }

    const long before = allocations;
    for (int t = 5; t < 50; ++t)
    {
        sample = push(pending, snapshot(t), targets);
    }

    EXPECT_EQ(allocations - before, 0);
}


TEST_F(PendingInputsTest, ResumesWithWhatWaited)
{
    PendingInputs whole({3}, true, 2, Precision::float32);
    for (int t = 1; t <= 4; ++t)
    {
        push(whole, snapshot(t), targets);
    }

    const StateTree values = whole.saveValues(1, 0, mesh);
    PendingInputs resumed({3}, true, 2, Precision::float32);
    resumed.load(whole.save(), values, mesh, inputs, rawTargets);

    // saved without a copy, loaded into memory of its own
    EXPECT_EQ(values.getArray("input/0").data, whole.snapshots()[0].input);
    EXPECT_NE(resumed.snapshots()[0].input, whole.snapshots()[0].input);
    ASSERT_EQ(resumed.snapshots().size(), 3u);
    EXPECT_EQ(resumed.snapshots()[1].time, 0.75);
    EXPECT_EQ(resumed.snapshots()[1].timeIndex, 30);
    for (int t = 5; t <= 7; ++t)
    {
        const auto expected = push(whole, snapshot(t), targets);
        const auto sample = push(resumed, snapshot(t), targets);
        EXPECT_EQ(floats(sample->input, 2), floats(expected->input, 2));
        EXPECT_EQ(floats(sample->target, 4), floats(expected->target, 4));
        EXPECT_EQ(sample->time, expected->time);
    }
}


TEST_F(PendingInputsTest, WhatDoesNotFitIsRefused)
{
    EXPECT_THAT([] { PendingInputs({0}, true, 1, Precision::float32); },
        ThrowsMessage<Error>(HasSubstr("horizon 0 with target increment")));

    PendingInputs pending({1}, false, 2, Precision::float32);
    push(pending, snapshot(1), targets);
    EXPECT_THAT([&] { push(pending, snapshot(2), targets, Span<const double>(&references[0], 1)); },
        ThrowsMessage<Error>(HasSubstr("1 references")));
    EXPECT_THAT([&] { push(pending, snapshot(2), inputs); },
        ThrowsMessage<Error>(HasSubstr("target slots of 8 bytes")));

    PendingInputs other({1}, false, 2, Precision::float32);
    push(other, snapshot(1), targets);
    Snapshot elsewhere = snapshot(2);
    elsewhere.mesh = chain();
    EXPECT_THAT([&] { push(other, elsewhere, targets); },
        ThrowsMessage<Error>(HasSubstr("new cells")));

    const StateTree values = other.saveValues(1, 0, mesh);
    SlotPool small(4);
    EXPECT_THAT([&] { other.load(other.save(), values, mesh, small, rawTargets); },
        ThrowsMessage<Error>(HasSubstr("'input/0'")));
}


TEST_F(PendingInputsTest, AHorizonInSecondsWaitsForTheFirstExecutionBeyondIt)
{
    // Executions at 0.25 t: 0.6 s later is the third one after, 0.5 s (with rounding) the second
    PendingInputs far({1, 0.6}, true, 2, Precision::float32);
    PendingInputs near({1, 0.5 + 1e-9}, true, 2, Precision::float32);
    for (int t = 1; t < 3; ++t)
    {
        EXPECT_FALSE(push(far, snapshot(t), targets));
        EXPECT_FALSE(push(near, snapshot(t), targets));
    }

    EXPECT_FALSE(push(far, snapshot(3), targets));
    EXPECT_TRUE(push(near, snapshot(3), targets));
    far.push(snapshot(4));
    const auto completed = far.next(targets);
    ASSERT_TRUE(completed);
    far.formTarget(*completed, reference);
    EXPECT_EQ(completed->sample.time, 0.25);
    EXPECT_DOUBLE_EQ(completed->deltaT, 0.75);
    EXPECT_THAT(floats(completed->sample.target, 4), ElementsAre(15, 30, 45, 60));
}


TEST_F(PendingInputsTest, ALargeStepCompletesSeveralInputs)
{
    PendingInputs pending({1, 0.6}, true, 2, Precision::float32);
    for (int t = 1; t < 4; ++t)
    {
        EXPECT_FALSE(push(pending, snapshot(t), targets));
    }

    pending.push(snapshot(5));

    EXPECT_DOUBLE_EQ(pending.next(targets)->deltaT, 1);
    EXPECT_DOUBLE_EQ(pending.next(targets)->deltaT, 0.75);
    EXPECT_FALSE(pending.next(targets));
    EXPECT_EQ(pending.snapshots().size(), 2u);
}


TEST_F(PendingInputsTest, AStepIsTheSolversIfTheHorizonIsNone)
{
    PendingInputs pending({0}, false, 2, Precision::float32);
    pending.push(snapshot(3));
    EXPECT_EQ(pending.next(targets)->deltaT, 3.125);
}


TEST_F(PendingInputsTest, WithoutRoomASnapshotOnlyCompletes)
{
    PendingInputs pending({1, 0.5}, true, 2, Precision::float32);
    EXPECT_TRUE(pending.push(snapshot(1), 2));
    EXPECT_TRUE(pending.push(snapshot(2), 2));
    EXPECT_FALSE(pending.push(snapshot(3), 2));

    const auto completed = pending.next(targets);

    ASSERT_TRUE(completed);
    pending.formTarget(*completed, reference);
    EXPECT_THAT(floats(completed->sample.target, 4), ElementsAre(8, 16, 24, 32));
    EXPECT_EQ(pending.snapshots().size(), 1u);
    EXPECT_TRUE(pending.push(snapshot(4), 2));
}


TEST_F(PendingInputsTest, WhatWaitsGoesOnWithTheValuesOnANewMesh)
{
    PendingInputs pending({2}, true, 2, Precision::float32);
    pending.push(snapshot(1));
    pending.push(snapshot(2));
    MeshState refined;
    const std::vector<std::int32_t> owner{0, 1}, neighbour{1, 2};
    refined.graph = std::make_shared<MeshGraph>(MeshGraph::fromFaces(3, owner, neighbour));
    refined.inner = std::make_shared<MeshGraph>(*refined.graph);
    SlotPool wideInputs(3*sizeof(float)), wideRaw(6*sizeof(double)), wideTargets(6*sizeof(float));
    const std::vector<double> input{7, 8, 9}, later{17, 18, 19};
    const std::vector<double> target{1, 2, 3, 4, 5, 6}, laterTarget{11, 12, 13, 14, 15, 16};

    EXPECT_THAT([&] { pending.carryOver(refined, one(input, target), wideInputs, wideRaw); },
        ThrowsMessage<Error>(HasSubstr("1 inputs were carried over to the new mesh, 2 wait")));
    EXPECT_THAT([&] { pending.carryOver(refined, two(input, target, target, target), wideInputs,
        wideRaw); }, ThrowsMessage<Error>(HasSubstr("6 values were carried over")));
    EXPECT_EQ(pending.snapshots().front().mesh.graph, mesh.graph);
    pending.carryOver(refined, two(input, target, later, laterTarget), wideInputs, wideRaw);

    Snapshot now = snapshot(3);
    now.mesh = refined;
    now.input = wideInputs.acquire();
    now.target = wideRaw.acquire();
    for (int i = 0; i < 6; ++i)
    {
        static_cast<double*>(now.target.get())[i] = 20*i;
    }
    pending.push(std::move(now));
    const auto completed = pending.next(wideTargets);
    ASSERT_TRUE(completed);
    pending.formTarget(*completed, reference);
    EXPECT_EQ(completed->sample.mesh.graph, refined.graph);
    EXPECT_EQ(completed->sample.mesh.inner, nullptr);
    EXPECT_EQ(completed->sample.time, 0.25);
    EXPECT_THAT(floats(completed->sample.input, 3), ElementsAre(7, 8, 9));
    EXPECT_THAT(floats(completed->sample.target, 6), ElementsAre(-1, 18, 37, 56, 75, 94));
}


TEST_F(PendingInputsTest, AMovedMeshIsSavedWithTheInputThatWaitsOnIt)
{
    MeshState moved = mesh;
    const auto geometry = [&](double x)
    {
        return std::make_shared<MeshGeometry>(
            makeGeometry(*mesh.graph, {x, 1, 2, 3, 4, 5}, {6, 7}, {0, 1, 2}));
    };
    moved.geometry = geometry(0.5);
    MeshState present = mesh;
    present.geometry = geometry(0.75);
    present.inner = mesh.graph;
    PendingInputs pending({3}, true, 2, Precision::float32);
    Snapshot first = snapshot(1), second = snapshot(2);
    first.mesh = moved;
    second.mesh = present;
    second.mesh.inner = nullptr;
    pending.push(first);
    pending.push(second);

    const StateTree values = pending.saveValues(1, 0, present);
    PendingInputs resumed({3}, true, 2, Precision::float32);
    resumed.load(pending.save(), values, present, inputs, rawTargets);

    EXPECT_EQ(resumed.snapshots()[0].mesh.graph, mesh.graph);
    EXPECT_EQ(resumed.snapshots()[0].mesh.inner, present.inner);
    EXPECT_NE(resumed.snapshots()[0].mesh.geometry, present.geometry);
    EXPECT_EQ(resumed.snapshots()[0].mesh.geometry->centres[0], 0.5);
    EXPECT_EQ(resumed.snapshots()[1].mesh.geometry, present.geometry);
    EXPECT_EQ(resumed.snapshots()[1].deltaT, 2.125);
    EXPECT_FALSE(values.has("meshes/graph/0/senders"));
    EXPECT_THAT(MeshArchive::knownIn(values.subTree("meshes")), ElementsAre(-1, 0));
}
