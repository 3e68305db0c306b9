// SPDX-License-Identifier: GPL-3.0-or-later
#include "sample/SampleStream.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>

namespace inSitu
{
namespace
{

const SerialComm comm;

//  0 | 1    two cells, a patch face at cell 1; U keeps x and y, p is near 1e5
class SampleStreamTest : public testing::Test
{
protected:

    SampleStreamTest()
    {
        const std::vector<std::int32_t> owner{0}, neighbour{1}, patchCells{1};
        mesh.graph = std::make_shared<MeshGraph>(MeshGraph::fromFaces
        (
            2, owner, neighbour, {BoundaryPatch{1, patchCells}}
        ));
    }

    SampleStream stream(int horizon, bool increment, Precision precision = Precision::float64) const
    {
        const std::vector<FieldSpec> specs
        {
            {"U", "volVectorField", 3, {0, 1}, {"Ux", "Uy"}, {}},
            {"p", "volScalarField", 1, {0}, {"p"}, {}},
            {"phi", "surfaceScalarField", 1, {0}, {"phi"}, {}, true}
        };
        SampleStream::Layout layout;
        layout.edges = EdgeLayout::of(specs, edgeInputs);
        layout.input = RowLayout::of(specs, {0, 1}, true);
        layout.target = RowLayout::of(specs, {1}, false);
        layout.features = features;
        layout.horizon.steps = horizon;
        layout.increment = increment;
        layout.precision = precision;
        return SampleStream(layout, mesh);
    }

    // p of the two cells, and all of U and the patch derived from t
    struct Result
    {
        NonFinite fault;
        std::optional<PendingInputs::Completed> completed;
    };

    Result take(SampleStream& stream, int t, double p0, double p1)
    {
        U = {2.0 + t, 3, 9, 4, 6.5, 9};
        p = {p0, p1};
        Upatch = {0.5, -1, 9};
        pPatch = {p1};
        phi = {0.5*p0};
        phiPatch = {-0.25*p1};
        const std::vector<FieldView<double>> views
            {{U, {Upatch}}, {p, {pPatch}}, {phi, {phiPatch}}};
        const NonFinite fault = stream.take({0.1*t, t, 0.3}, views, comm).fault;
        Result result{fault, stream.next()};
        if (result.completed)
        {
            stream.formTarget(*result.completed);
        }
        return result;
    }

    template<class T>
    static std::vector<T> values(const SlotPool::Handle& slot, std::size_t n)
    {
        const T* data = static_cast<const T*>(slot.get());
        return {data, data + n};
    }

    MeshState mesh;
    std::vector<std::string> features;
    std::vector<int> edgeInputs;
    std::vector<double> U, p, phi, Upatch, pPatch, phiPatch;
};


TEST_F(SampleStreamTest, InputsAreLessTheMeanOfTheFirstSnapshot)
{
    SampleStream s = stream(1, true);

    EXPECT_FALSE(take(s, 0, 100000, 100003).completed);
    const auto taken = take(s, 1, 100001, 100007);

    // References: Ux (2 + 4)/2, Uy (3 + 6.5)/2, p 100001.5
    EXPECT_EQ(s.inputReference(), (std::vector<double>{3, 4.75, 100001.5}));
    ASSERT_TRUE(taken.completed);
    EXPECT_EQ(values<double>(taken.completed->sample.input, 9),
        (std::vector<double>{-1, -1.75, -1.5, 1, 1.75, 1.5, -2.5, -5.75, 1.5}));
}


TEST_F(SampleStreamTest, IncrementsSpanTheHorizonAndKeepTheirDigits)
{
    SampleStream s = stream(2, true, Precision::float32);

    take(s, 0, 100000, 100003);
    EXPECT_FALSE(take(s, 1, 100000.25, 100009).completed);
    const auto first = take(s, 2, 100000.0009765625, 100001);
    const auto second = take(s, 3, 100000.5, 100009.5);

    // In float32 1e5 has steps of 0.0078: the increment 2^-10 survives only in double
    ASSERT_TRUE(first.completed);
    EXPECT_EQ(values<float>(first.completed->sample.target, 2), (std::vector<float>{0.0009765625f, -2}));
    EXPECT_EQ(values<float>(second.completed->sample.target, 2), (std::vector<float>{0.25f, 0.5f}));
    EXPECT_EQ(first.completed->sample.id, 0);
    EXPECT_EQ(second.completed->sample.id, 1);
    EXPECT_DOUBLE_EQ(second.completed->sample.time, 0.1);
    EXPECT_EQ(values<double>(second.completed->valueThen, 2), (std::vector<double>{100000.25, 100009}));
    EXPECT_EQ(values<double>(second.completed->valueNow, 2), (std::vector<double>{100000.5, 100009.5}));
}


TEST_F(SampleStreamTest, AMapAtTheSameTimeCompletesAtOnce)
{
    SampleStream s = stream(0, false);

    const auto taken = take(s, 0, 100000, 100003);

    ASSERT_TRUE(taken.completed);
    EXPECT_EQ(values<double>(taken.completed->sample.target, 2), (std::vector<double>{-1.5, 1.5}));
    EXPECT_EQ(values<double>(taken.completed->valueThen, 2), (std::vector<double>{100000, 100003}));
}


TEST_F(SampleStreamTest, AGapDropsWhatWaits)
{
    SampleStream s = stream(2, true);
    take(s, 0, 100000, 100003);
    take(s, 1, 100001, 100004);

    EXPECT_EQ(s.drop(), 2);

    EXPECT_FALSE(take(s, 5, 100002, 100005).completed);
    EXPECT_FALSE(take(s, 6, 100004, 100003).completed);
    const auto taken = take(s, 7, 100005, 100001);
    ASSERT_TRUE(taken.completed);
    EXPECT_EQ(values<double>(taken.completed->sample.target, 2), (std::vector<double>{3, -4}));
}


TEST_F(SampleStreamTest, AValueThatIsNotFiniteIsLocatedAndSpoilsNoReference)
{
    SampleStream s = stream(1, true);

    const auto bad = take(s, 0, 100000, std::numeric_limits<double>::quiet_NaN());
    EXPECT_EQ(bad.fault.field, 1);
    EXPECT_EQ(bad.fault.row, 1);

    take(s, 1, 100000, 100003);
    EXPECT_EQ(s.inputReference().back(), 100001.5);
}


TEST_F(SampleStreamTest, ContinuesBitForBitFromItsState)
{
    SampleStream whole = stream(2, true), first = stream(2, true), second = stream(2, true);
    for (SampleStream* s : {&whole, &first})
    {
        take(*s, 0, 100000, 100003);
        take(*s, 1, 100000.7, 100002.1);
        take(*s, 2, 100001.3, 100002.9);
    }
    const StateTree waiting = first.saveWaiting();
    EXPECT_EQ(second.load(first.save(), &waiting), 0);

    for (int t = 3; t < 6; ++t)
    {
        const auto a = take(whole, t, 100000 + 0.3*t, 100003 - 0.7*t);
        const auto b = take(second, t, 100000 + 0.3*t, 100003 - 0.7*t);
        ASSERT_TRUE(a.completed && b.completed);
        EXPECT_EQ(a.completed->sample.id, b.completed->sample.id);
        EXPECT_EQ(values<double>(a.completed->sample.input, 9), values<double>(b.completed->sample.input, 9));
        EXPECT_EQ(values<double>(a.completed->sample.target, 2), values<double>(b.completed->sample.target, 2));
    }
}


TEST_F(SampleStreamTest, ASampleKnowsHowLongItTook)
{
    features = {"deltaT"};
    SampleStream s = stream(2, true), map = stream(0, false);

    take(s, 0, 100000, 100003);
    take(s, 1, 100001, 100007);
    const auto taken = take(s, 4, 100001, 100007);
    EXPECT_DOUBLE_EQ(taken.completed->sample.features.at(0), 0.4);
    EXPECT_EQ(take(map, 4, 1, 2).completed->sample.features.at(0), 0.3);
}


TEST_F(SampleStreamTest, ANewTopologyTakesWhatWaitsOrForgetsIt)
{
    SampleStream s = stream(1, true);
    take(s, 0, 100000, 100003);
    const std::vector<std::int32_t> owner{0}, neighbour{1}, patchCells{0};
    MeshState other;
    other.graph = std::make_shared<MeshGraph>(MeshGraph::fromFaces
    (
        2, owner, neighbour, {BoundaryPatch{1, patchCells}}
    ));
    const std::vector<double> input{1, 2, 3, 4, 5, 6, 7, 8, 9};
    const std::vector<double> target{100000.5, 100001};
    const std::vector<PendingInputs::Values> carried
        {{Span<const double>(input), Span<const double>(target)}};

    EXPECT_EQ(s.setTopology(other, carried), 0);
    const auto taken = take(s, 1, 100002, 100001.25);
    ASSERT_TRUE(taken.completed);
    EXPECT_EQ(values<double>(taken.completed->sample.input, 9), input);
    EXPECT_EQ(values<double>(taken.completed->sample.target, 2), (std::vector<double>{1.5, 0.25}));
    EXPECT_EQ(taken.completed->sample.mesh.graph, other.graph);

    EXPECT_EQ(s.setTopology(mesh, {}), 1);
    EXPECT_FALSE(take(s, 2, 100002, 100001.25).completed);
    EXPECT_EQ(s.pending().front().mesh.graph, mesh.graph);
}


TEST_F(SampleStreamTest, ValuesOnEdgesAreThoseOfTheInputsTime)
{
    edgeInputs = {2};
    SampleStream s = stream(2, true), resumed = stream(2, true);
    EXPECT_EQ(s.bytesPerSample(), (9 + 2 + 3)*sizeof(double));
    EXPECT_EQ(s.bytesPerPending(), (9 + 2 + 3)*sizeof(double));
    take(s, 0, 4, 12);
    take(s, 1, 6, 20);
    const StateTree waiting = s.saveWaiting();
    EXPECT_EQ(resumed.load(s.save(), &waiting), 0);

    // Edges 0 <- 1, 1 <- 0, 1 <- patch
    for (SampleStream* stream : {&s, &resumed})
    {
        EXPECT_EQ(values<double>(take(*stream, 2, 8, 28).completed->sample.edges, 3),
            (std::vector<double>{-2, 2, 3}));
        EXPECT_EQ(values<double>(take(*stream, 3, 10, 36).completed->sample.edges, 3),
            (std::vector<double>{-3, 3, 5}));
    }

    p[1] = 1;
    phi[0] = std::numeric_limits<double>::quiet_NaN();
    const std::vector<FieldView<double>> bad{{U, {Upatch}}, {p, {pPatch}}, {phi, {phiPatch}}};
    const NonFinite fault = s.take({0.4, 4, 0.3}, bad, comm).fault;
    EXPECT_EQ(fault.field, 2);
    EXPECT_EQ(fault.row, 0);
}


TEST_F(SampleStreamTest, WhatWaitsWithValuesOnEdgesIsForgottenOnAnotherGraph)
{
    edgeInputs = {2};
    SampleStream s = stream(1, true);
    take(s, 0, 4, 12);
    MeshState other;
    other.graph = std::make_shared<MeshGraph>(*mesh.graph);
    const std::vector<double> input(9, 1), target(2, 3);

    EXPECT_EQ(s.setTopology(other,
        {{Span<const double>(input), Span<const double>(target)}}), 1);
    EXPECT_FALSE(take(s, 1, 5, 6).completed);
    EXPECT_TRUE(take(s, 2, 5, 6).completed);
}


TEST_F(SampleStreamTest, AStateOfAnotherTimeLosesWhatWaited)
{
    SampleStream whole = stream(2, true), resumed = stream(2, true);
    take(whole, 0, 100000, 100003);
    take(whole, 1, 100000.7, 100002.1);

    EXPECT_EQ(resumed.load(whole.save(), nullptr), 2);
    EXPECT_EQ(resumed.inputReference(), whole.inputReference());
    EXPECT_TRUE(resumed.pending().empty());
}

TEST(SampleStreamTeam, GathersWhatOneThreadDoes)
{
    constexpr int n = 20500;      // the last turn of the team is shorter than the others
    const std::vector<std::int32_t> none, patchCells{0, 7, 11};
    MeshState mesh;
    mesh.graph = std::make_shared<MeshGraph>(
        MeshGraph::fromFaces(n, none, none, {BoundaryPatch{0, patchCells}}));
    const std::vector<FieldSpec> specs
    {
        {"U", "volVectorField", 3, {0, 2}, {"Ux", "Uz"}, {}},
        {"p", "volScalarField", 1, {0}, {"p"}, {}}
    };
    SampleStream::Layout layout;
    layout.input = RowLayout::of(specs, {0, 1}, true);
    layout.target = RowLayout::of(specs, {1, 0}, false);
    layout.horizon.steps = 1;
    SampleStream alone(layout, mesh), together(layout, mesh);
    ThreadPool team(3);

    std::mt19937 random(3);
    std::vector<double> U(3*n), p(n), Upatch(9), pPatch(3);
    const std::vector<FieldView<double>> views{{U, {Upatch}}, {p, {pPatch}}};
    for (int step = 1; step <= 4; ++step)
    {
        for (std::vector<double>* values : {&U, &p, &Upatch, &pPatch})
        {
            for (double& value : *values)
            {
                value = random()*1e-5;
            }
        }
        p[15000] = step == 4 ? std::numeric_limits<double>::quiet_NaN() : p[15000];
        const Instant now{0.1*step, step, 0.1};
        const auto expected = alone.take(now, views, comm);
        const auto got = together.take(now, views, comm, &team);
        EXPECT_EQ(got.good, expected.good);
        EXPECT_EQ(got.good, step < 4);
        EXPECT_EQ(got.fault.field, expected.fault.field);
        EXPECT_EQ(got.fault.row, expected.fault.row);

        auto a = alone.next(), b = together.next();
        ASSERT_EQ(a.has_value(), b.has_value());
        EXPECT_EQ(a.has_value(), step == 2 || step == 3);
        if (a)
        {
            alone.formTarget(*a);
            together.formTarget(*b);
            EXPECT_EQ(std::memcmp(a->sample.input.get(), b->sample.input.get(),
                3*(n + 3)*sizeof(float)), 0);
            EXPECT_EQ(std::memcmp(a->sample.target.get(), b->sample.target.get(),
                3*n*sizeof(float)), 0);
        }
    }
}

}
}
