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
        Snapshot result{0.25*t, 10*t, mesh, inputs.acquire(), rawTargets.acquire()};
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
    PendingInputs pending(2, true, 2, Precision::float32);

    EXPECT_FALSE(pending.push(snapshot(1), reference, targets));
    EXPECT_FALSE(pending.push(snapshot(2), reference, targets));
    const auto first = pending.push(snapshot(3), reference, targets);
    const auto second = pending.push(snapshot(4), reference, targets);

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
    PendingInputs pending(1, false, 2, Precision::float32);
    pending.push(snapshot(2), reference, targets);

    const auto sample = pending.push(snapshot(3), reference, targets);

    ASSERT_TRUE(sample);
    EXPECT_THAT(floats(sample->input, 2), ElementsAre(200, 201));
    EXPECT_THAT(floats(sample->target, 4), ElementsAre(9, 17.5f, 27, 35.5f));
}


TEST_F(PendingInputsTest, WithHorizonZeroASnapshotCompletesItself)
{
    PendingInputs pending(0, false, 2, Precision::float32);

    const auto sample = pending.push(snapshot(3), reference, targets);

    ASSERT_TRUE(sample);
    EXPECT_THAT(floats(sample->input, 2), ElementsAre(300, 301));
    EXPECT_THAT(floats(sample->target, 4), ElementsAre(9, 17.5f, 27, 35.5f));
    EXPECT_EQ(sample->time, 0.75);
    EXPECT_TRUE(pending.snapshots().empty());
    EXPECT_EQ(pending.drop(), 0);
}


TEST_F(PendingInputsTest, IncrementsAreFormedInDoubleBeforeTheCast)
{
    PendingInputs pending(1, true, 2, Precision::float32);
    Snapshot first = snapshot(1);
    Snapshot second = snapshot(2);
    static_cast<double*>(first.target.get())[3] = 1e5;
    static_cast<double*>(second.target.get())[3] = 1e5 + 1e-6;
    pending.push(std::move(first), reference, targets);

    const auto sample = pending.push(std::move(second), reference, targets);

    EXPECT_NEAR(floats(sample->target, 4)[3], 1e-6, 2e-11);
}


TEST_F(PendingInputsTest, DoublePrecisionGivesDoubleTargets)
{
    PendingInputs pending(1, true, 2, Precision::float64);
    SlotPool wide(4*sizeof(double));
    pending.push(snapshot(1), reference, wide);

    const auto sample = pending.push(snapshot(2), reference, wide);

    const auto* values = static_cast<const double*>(sample->target.get());
    EXPECT_THAT(std::vector<double>(values, values + 4), ElementsAre(3, 6, 9, 12));
}


TEST_F(PendingInputsTest, DroppingForgetsAndCounts)
{
    PendingInputs pending(2, true, 2, Precision::float32);
    pending.push(snapshot(1), reference, targets);
    pending.push(snapshot(2), reference, targets);

    EXPECT_EQ(pending.drop(), 2);
    EXPECT_FALSE(pending.push(snapshot(5), reference, targets));
    EXPECT_FALSE(pending.push(snapshot(6), reference, targets));
    const auto sample = pending.push(snapshot(7), reference, targets);
    EXPECT_THAT(floats(sample->target, 4), ElementsAre(24, 48, 72, 96));
}


TEST_F(PendingInputsTest, ASteadyStateAllocatesNothing)
{
    PendingInputs pending(3, true, 2, Precision::float32);
    std::optional<Sample> sample;
    for (int t = 0; t < 5; ++t)
    {
        sample = pending.push(snapshot(t), reference, targets);
    }

    const long before = allocations;
    for (int t = 5; t < 50; ++t)
    {
        sample = pending.push(snapshot(t), reference, targets);
    }

    EXPECT_EQ(allocations - before, 0);
}


TEST_F(PendingInputsTest, ResumesWithWhatWaited)
{
    PendingInputs whole(3, true, 2, Precision::float32);
    for (int t = 1; t <= 4; ++t)
    {
        whole.push(snapshot(t), reference, targets);
    }

    const StateTree state = whole.save(2, 1, 2);
    PendingInputs resumed(3, true, 2, Precision::float32);
    resumed.load(state, mesh, inputs, rawTargets);

    // saved without a copy, loaded into memory of its own
    EXPECT_EQ(state.getArray("input/0").data, whole.snapshots()[0].input);
    EXPECT_NE(resumed.snapshots()[0].input, whole.snapshots()[0].input);
    ASSERT_EQ(resumed.snapshots().size(), 3u);
    EXPECT_EQ(resumed.snapshots()[1].time, 0.75);
    EXPECT_EQ(resumed.snapshots()[1].timeIndex, 30);
    for (int t = 5; t <= 7; ++t)
    {
        const auto expected = whole.push(snapshot(t), reference, targets);
        const auto sample = resumed.push(snapshot(t), reference, targets);
        EXPECT_EQ(floats(sample->input, 2), floats(expected->input, 2));
        EXPECT_EQ(floats(sample->target, 4), floats(expected->target, 4));
        EXPECT_EQ(sample->time, expected->time);
    }
}


TEST_F(PendingInputsTest, WhatDoesNotFitIsRefused)
{
    EXPECT_THAT([] { PendingInputs(0, true, 1, Precision::float32); },
        ThrowsMessage<Error>(HasSubstr("horizon 0 with target increment")));

    PendingInputs pending(1, false, 2, Precision::float32);
    pending.push(snapshot(1), reference, targets);
    EXPECT_THAT([&] { pending.push(snapshot(2), Span<const double>(&references[0], 1), targets); },
        ThrowsMessage<Error>(HasSubstr("1 references")));
    EXPECT_THAT([&] { pending.push(snapshot(2), reference, inputs); },
        ThrowsMessage<Error>(HasSubstr("target slots of 8 bytes")));

    PendingInputs other(1, false, 2, Precision::float32);
    other.push(snapshot(1), reference, targets);
    Snapshot elsewhere = snapshot(2);
    elsewhere.mesh = chain();
    EXPECT_THAT([&] { other.push(elsewhere, reference, targets); },
        ThrowsMessage<Error>(HasSubstr("new graph")));

    const StateTree state = other.save(2, 1, 2);
    SlotPool small(4);
    EXPECT_THAT([&] { other.load(state, mesh, small, rawTargets); },
        ThrowsMessage<Error>(HasSubstr("'input/0'")));
}
