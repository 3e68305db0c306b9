// SPDX-License-Identifier: GPL-3.0-or-later
#include "sample/ReplayBuffer.hpp"

#include "base/Error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

using namespace inSitu;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;
using testing::UnorderedElementsAre;

using Policy = ReplayBuffer::Policy;
using Ids = std::vector<std::int64_t>;

namespace
{

// Two rows of one input column, one cell with one target column
class ReplayBufferTest : public testing::Test
{
protected:

    Sample sample(std::int64_t id)
    {
        Sample result{id, 0.5*id, mesh, inputs.acquire(), targets.acquire(), {0.25*id}};
        static_cast<float*>(result.input.get())[0] = 10.0f*id;
        static_cast<float*>(result.input.get())[1] = 10.0f*id + 1;
        static_cast<float*>(result.target.get())[0] = -3.0f*id;
        return result;
    }

    void fill(ReplayBuffer& buffer, std::int64_t begin, std::int64_t end)
    {
        for (std::int64_t id = begin; id < end; ++id)
        {
            buffer.add(sample(id));
        }
    }

    template<class Samples>
    static Ids ids(const Samples& samples)
    {
        Ids result;
        for (const Sample& sample : samples)
        {
            result.push_back(sample.id);
        }
        return result;
    }

    static ReplayBuffer buffer(std::size_t capacity, Policy policy, std::uint64_t seed)
    {
        return ReplayBuffer({capacity}, policy, seed, 1, 1, Precision::float32);
    }

    //- One cell with a boundary row
    static MeshState oneCell()
    {
        const std::vector<std::int32_t> none, cell{0};
        MeshState state;
        state.graph = std::make_shared<MeshGraph>(
            MeshGraph::fromFaces(1, none, none, {BoundaryPatch{0, cell}}));
        return state;
    }

    static StateTree values(const ReplayBuffer& buffer)
    {
        return buffer.saveValues();
    }

    SlotPool inputs{2*sizeof(float)};
    SlotPool targets{sizeof(float)};
    const MeshState mesh = oneCell();
};


// Sum of (observed − expected)²/expected over equally likely bins
double chiSquare(const std::map<std::int64_t, int>& counts, int nBins, int n)
{
    const double expected = static_cast<double>(n)/nBins;
    double sum = expected*(nBins - static_cast<int>(counts.size()));
    for (const auto& [bin, count] : counts)
    {
        sum += (count - expected)*(count - expected)/expected;
    }
    return sum;
}

}


TEST_F(ReplayBufferTest, FifoKeepsTheNewest)
{
    ReplayBuffer buffer = this->buffer(3, Policy::fifo, 1);
    fill(buffer, 0, 2);
    EXPECT_THAT(ids(buffer.samples()), ElementsAre(0, 1));

    fill(buffer, 2, 8);

    EXPECT_THAT(ids(buffer.samples()), UnorderedElementsAre(5, 6, 7));
    EXPECT_EQ(buffer.nSeen(), 8);
    EXPECT_EQ(buffer.limits().capacity, 3u);
    EXPECT_EQ(inputs.nAllocated(), 4);
}


TEST_F(ReplayBufferTest, ReservoirKeepsEverySampleWithTheSameProbability)
{
    const int nRuns = 4000, nSamples = 12;
    std::map<std::int64_t, int> kept;
    for (int run = 0; run < nRuns; ++run)
    {
        ReplayBuffer buffer = this->buffer(3, Policy::reservoir, 1000 + run);
        fill(buffer, 0, nSamples);
        ASSERT_EQ(buffer.size(), 3u);
        for (const std::int64_t id : ids(buffer.samples()))
        {
            ++kept[id];
        }
    }

    // 11 degrees of freedom: 31.3 is exceeded once in a thousand
    EXPECT_LT(chiSquare(kept, nSamples, 3*nRuns), 31.3);
}


TEST_F(ReplayBufferTest, ReservoirKeepsDifferentSamples)
{
    ReplayBuffer buffer = this->buffer(5, Policy::reservoir, 4);
    fill(buffer, 0, 100);

    Ids kept = ids(buffer.samples());
    std::sort(kept.begin(), kept.end());

    EXPECT_EQ(std::unique(kept.begin(), kept.end()), kept.end());
    EXPECT_GT(kept.back(), 20);
}


TEST_F(ReplayBufferTest, DrawsAreUniformAndWithReplacement)
{
    ReplayBuffer buffer = this->buffer(7, Policy::fifo, 3);
    fill(buffer, 0, 10);

    std::map<std::int64_t, int> drawn;
    for (const std::int64_t id : ids(buffer.draw(7000)))
    {
        ++drawn[id];
    }

    EXPECT_EQ(drawn.size(), 7u);
    EXPECT_EQ(drawn.begin()->first, 3);
    // 6 degrees of freedom
    EXPECT_LT(chiSquare(drawn, 7, 7000), 22.5);
}


TEST_F(ReplayBufferTest, DrawsFollowTheGeneratorAlone)
{
    // The 10000th number of the standard's mt19937_64 with its own seed is fixed, so are these
    ReplayBuffer buffer = this->buffer(1000, Policy::fifo, 5489);
    fill(buffer, 0, 1000);
    std::mt19937_64 generator(5489);

    Ids expected;
    for (int i = 0; i < 10000; ++i)
    {
        expected.push_back(static_cast<std::int64_t>(generator() % 1000));
    }

    EXPECT_EQ(ids(buffer.draw(10000)), expected);
    EXPECT_EQ(expected.back(), 9981545732273789042u % 1000);
}


TEST_F(ReplayBufferTest, TheSameSeedGivesTheSameContents)
{
    ReplayBuffer a = buffer(4, Policy::reservoir, 77), b = a;
    ReplayBuffer c = buffer(4, Policy::reservoir, 78);
    fill(a, 0, 60);
    fill(b, 0, 60);
    fill(c, 0, 60);

    EXPECT_EQ(ids(a.samples()), ids(b.samples()));
    EXPECT_EQ(ids(a.draw(9)), ids(b.draw(9)));
    EXPECT_NE(ids(a.samples()), ids(c.samples()));
}


TEST_F(ReplayBufferTest, ResumesBitForBit)
{
    for (const Policy policy : {Policy::fifo, Policy::reservoir})
    {
        ReplayBuffer whole = buffer(5, policy, 6);
        fill(whole, 0, 13);
        whole.draw(4);

        const StateTree state = whole.saveState();
        const StateTree contents = values(whole);
        ReplayBuffer resumed = buffer(5, policy, 999);
        resumed.load(state, &contents);

        for (std::int64_t id = 13; id < 40; ++id)
        {
            whole.add(sample(id));
            resumed.add(sample(id));
            const std::vector<Sample> expected = whole.draw(3);
            const std::vector<Sample> drawn = resumed.draw(3);
            ASSERT_EQ(ids(drawn), ids(expected));
            for (int i = 0; i < 3; ++i)
            {
                EXPECT_EQ(static_cast<const float*>(drawn[i].input.get())[1],
                    10.0f*drawn[i].id + 1);
                EXPECT_EQ(static_cast<const float*>(drawn[i].target.get())[0], -3.0f*drawn[i].id);
                EXPECT_EQ(drawn[i].time, 0.5*drawn[i].id);
            }
        }
        EXPECT_EQ(resumed.nSeen(), 40);
    }
}


TEST_F(ReplayBufferTest, SavingSharesTheMemoryOfTheSlots)
{
    ReplayBuffer buffer = this->buffer(2, Policy::fifo, 6);
    fill(buffer, 0, 3);

    StateTree contents = values(buffer);

    EXPECT_EQ(contents.getArray("input/0").data, buffer.samples()[0].input);
    EXPECT_EQ(contents.getArray("target/1").data, buffer.samples()[1].target);
    EXPECT_THAT(contents.getArray("input/0").shape, ElementsAre(2, 1));

    // a slot that is being saved is not handed out again
    fill(buffer, 3, 5);
    EXPECT_EQ(contents.get<float>("input/0"), (std::vector<float>{10, 11}));
    EXPECT_EQ(contents.get<float>("input/1"), (std::vector<float>{20, 21}));
}


TEST_F(ReplayBufferTest, WithoutContentsCountersAndGeneratorResume)
{
    ReplayBuffer whole = buffer(3, Policy::fifo, 6);
    fill(whole, 0, 7);
    ReplayBuffer resumed = buffer(3, Policy::fifo, 1);

    resumed.load(whole.saveState(), nullptr);

    EXPECT_EQ(resumed.size(), 0u);
    EXPECT_EQ(resumed.nSeen(), 7);
    fill(whole, 7, 11);
    fill(resumed, 7, 11);
    EXPECT_EQ(ids(resumed.draw(20)), ids(whole.draw(20)));
}


TEST_F(ReplayBufferTest, ASmallerFifoKeepsItsNewestSamples)
{
    ReplayBuffer large = buffer(6, Policy::fifo, 6);
    fill(large, 0, 15);
    const StateTree contents = values(large);
    ReplayBuffer small = buffer(2, Policy::fifo, 6);

    small.load(large.saveState(), &contents);
    EXPECT_THAT(ids(small.samples()), ElementsAre(13, 14));

    fill(small, 15, 16);
    EXPECT_THAT(ids(small.samples()), UnorderedElementsAre(14, 15));
}


TEST_F(ReplayBufferTest, ALargerFifoGrowsAndThenReplacesTheOldest)
{
    ReplayBuffer small = buffer(3, Policy::fifo, 6);
    fill(small, 0, 5);
    const StateTree contents = values(small);
    ReplayBuffer large = buffer(5, Policy::fifo, 6);

    large.load(small.saveState(), &contents);
    fill(large, 5, 9);

    EXPECT_THAT(ids(large.samples()), UnorderedElementsAre(4, 5, 6, 7, 8));
}


TEST_F(ReplayBufferTest, ASmallerReservoirKeepsARandomChoice)
{
    std::map<std::int64_t, int> kept;
    for (int run = 0; run < 2000; ++run)
    {
        ReplayBuffer large = buffer(6, Policy::reservoir, run);
        fill(large, 0, 6);
        const StateTree contents = values(large);
        ReplayBuffer small = buffer(2, Policy::reservoir, 1);
        small.load(large.saveState(), &contents);
        for (const std::int64_t id : ids(small.samples()))
        {
            ++kept[id];
        }
    }

    // 5 degrees of freedom
    EXPECT_LT(chiSquare(kept, 6, 4000), 20.5);
}


TEST_F(ReplayBufferTest, WhatCannotBeDoneIsRefusedAndChangesNothing)
{
    EXPECT_THAT([] { buffer(0, Policy::fifo, 1); },
        ThrowsMessage<Error>(HasSubstr("capacity 0")));
    ReplayBuffer buffer = this->buffer(3, Policy::fifo, 1);
    EXPECT_THAT([&] { buffer.draw(1); }, ThrowsMessage<Error>(HasSubstr("empty")));

    fill(buffer, 0, 2);
    const StateTree contents = values(buffer);
    const StateTree state = buffer.saveState();
    ReplayBuffer wide({3}, Policy::fifo, 1, 1, 1, Precision::float64);
    EXPECT_THAT([&] { wide.load(state, &contents); },
        ThrowsMessage<Error>(HasSubstr("'input/0' have 8 bytes")));
    StateTree damaged = state;
    damaged.putText("generator", "17 and 4");
    EXPECT_THAT([&] { buffer.load(damaged, &contents); },
        ThrowsMessage<Error>(HasSubstr("generator")));
    EXPECT_EQ(buffer.size(), 2u);
    EXPECT_EQ(buffer.saveState().getText("generator"), state.getText("generator"));
}


// ---- samples on meshes of their own

TEST_F(ReplayBufferTest, MemoryCountsEachMeshOnce)
{
    ReplayBuffer buffer = this->buffer(9, Policy::fifo, 1);
    fill(buffer, 0, 3);
    const std::size_t values = 3*sizeof(float);
    EXPECT_EQ(buffer.bytes(), 3*values + mesh.graph->bytes());

    Sample elsewhere = sample(3);
    elsewhere.mesh = oneCell();
    buffer.add(elsewhere);
    EXPECT_EQ(buffer.bytes(), 4*values + 2*mesh.graph->bytes());

    Sample moved = sample(4);
    moved.mesh.geometry = std::make_shared<MeshGeometry>(
        makeGeometry(*mesh.graph, {1, 2, 3, 4, 5, 6}, {7}, {0, 1, 2}));
    buffer.add(moved);
    EXPECT_EQ(buffer.bytes(), 5*values + 2*mesh.graph->bytes() + 7*sizeof(double));
}


TEST_F(ReplayBufferTest, WhereMemoryIsTheLimitOldOrRandomSamplesGo)
{
    // Each sample brings its own graph, so that four fit
    const std::size_t each = 3*sizeof(float) + mesh.graph->bytes();
    for (const Policy policy : {Policy::fifo, Policy::reservoir})
    {
        ReplayBuffer buffer({100, 4*each + 5}, policy, 3, 1, 1, Precision::float32);
        for (int id = 0; id < 60; ++id)
        {
            Sample next = sample(id);
            next.mesh = oneCell();
            buffer.add(next);
            EXPECT_LE(buffer.bytes(), 4*each + 5);
            EXPECT_EQ(buffer.size(), std::min<std::size_t>(4, id + 1));
        }
        if (policy == Policy::fifo)
        {
            EXPECT_THAT(ids(buffer.samples()), ElementsAre(56, 57, 58, 59));
        }
        else
        {
            EXPECT_LT(buffer.samples()[0].id + buffer.samples()[1].id, 110);
        }
    }
}


TEST_F(ReplayBufferTest, ASampleThatIsLargerThanAllMemoryIsKeptAlone)
{
    ReplayBuffer buffer({5, 7}, Policy::fifo, 3, 1, 1, Precision::float32);
    fill(buffer, 0, 3);
    EXPECT_THAT(ids(buffer.samples()), ElementsAre(2));
}


TEST_F(ReplayBufferTest, MeshesComeBackAndTheOneOfTheRunIsShared)
{
    ReplayBuffer whole = buffer(9, Policy::reservoir, 1);
    fill(whole, 0, 2);
    Sample elsewhere = sample(2);
    const std::vector<std::int32_t> none;
    elsewhere.mesh.graph = std::make_shared<MeshGraph>(MeshGraph::fromFaces(2, none, none));
    elsewhere.target = SlotPool(2*sizeof(float)).acquire();
    static_cast<float*>(elsewhere.target.get())[1] = 4.5f;
    elsewhere.mesh.staticFeatures = std::make_shared<std::vector<float>>(2, 0.75f);
    elsewhere.mesh.cellMask = std::make_shared<std::vector<double>>(2, 0.25);
    whole.add(elsewhere);
    const StateTree contents = whole.saveValues({elsewhere.mesh, mesh});

    ReplayBuffer resumed = buffer(9, Policy::reservoir, 2);
    const MeshState present = oneCell();
    resumed.load(whole.saveState(), &contents, {{}, present});

    ASSERT_EQ(resumed.size(), 3u);
    EXPECT_EQ(resumed.samples()[1].mesh.graph, present.graph);
    EXPECT_EQ(resumed.samples()[1].features, std::vector<double>{0.25});
    EXPECT_EQ(resumed.bytes(), whole.bytes());
    const Sample& last = resumed.samples()[2];
    EXPECT_TRUE(*last.mesh.graph == *elsewhere.mesh.graph);
    EXPECT_EQ(*last.mesh.staticFeatures, *elsewhere.mesh.staticFeatures);
    EXPECT_EQ(*last.mesh.cellMask, *elsewhere.mesh.cellMask);
    EXPECT_EQ(static_cast<const float*>(last.target.get())[1], 4.5f);
}


TEST_F(ReplayBufferTest, ValuesOnEdgesCountAndComeBack)
{
    // The cell has one edge, from its boundary row
    SlotPool edges(2*sizeof(float));
    ReplayBuffer whole({9}, Policy::fifo, 1, 1, 1, Precision::float32,
        std::make_shared<SerialComm>(), 2);
    for (int id = 0; id < 3; ++id)
    {
        Sample next = sample(id);
        next.edges = edges.acquire();
        static_cast<float*>(next.edges.get())[0] = 5.0f + id;
        static_cast<float*>(next.edges.get())[1] = -7.0f*id;
        whole.add(next);
    }
    EXPECT_EQ(whole.bytes() - mesh.graph->bytes(), 3*(2 + 1 + 2)*sizeof(float));

    const StateTree contents = whole.saveValues();
    ReplayBuffer resumed({9}, Policy::fifo, 1, 1, 1, Precision::float32,
        std::make_shared<SerialComm>(), 2);
    resumed.load(whole.saveState(), &contents);
    ASSERT_EQ(resumed.size(), 3u);
    EXPECT_EQ(static_cast<const float*>(resumed.samples()[1].edges.get())[0], 6);
    EXPECT_EQ(static_cast<const float*>(resumed.samples()[2].edges.get())[1], -14);
    EXPECT_EQ(resumed.bytes(), whole.bytes());
}


TEST_F(ReplayBufferTest, AMeshThatCameBackToAnEarlierStateStaysAnotherObject)
{
    const MeshState earlier = oneCell(), now = oneCell();
    ReplayBuffer whole = buffer(9, Policy::fifo, 1);
    for (int id = 0; id < 4; ++id)
    {
        Sample next = sample(id);
        next.mesh = id < 2 ? earlier : now;
        whole.add(next);
    }
    const StateTree contents = whole.saveValues({now});

    ReplayBuffer resumed = buffer(9, Policy::fifo, 1);
    const MeshState present = oneCell();
    resumed.load(whole.saveState(), &contents, {present});
    EXPECT_EQ(resumed.samples()[0].mesh, resumed.samples()[1].mesh);
    EXPECT_NE(resumed.samples()[1].mesh, present);
    EXPECT_EQ(resumed.samples()[2].mesh, present);
    EXPECT_EQ(resumed.samples()[3].mesh, present);
    EXPECT_EQ(resumed.bytes(), whole.bytes());

    // Read again on another mesh: nothing is shared with that
    MeshState other;
    const std::vector<std::int32_t> none;
    other.graph = std::make_shared<MeshGraph>(MeshGraph::fromFaces(2, none, none));
    ReplayBuffer elsewhere = buffer(9, Policy::fifo, 1);
    elsewhere.load(whole.saveState(), &contents, {other});
    EXPECT_EQ(elsewhere.samples()[2].mesh.graph->nCells(), 1);
}
