// SPDX-License-Identifier: GPL-3.0-or-later
//
// Graphs and geometries that are saved, loaded and compared.

#include "graph/MeshGeometry.hpp"
#include "graph/MeshGraph.hpp"

#include "base/Error.hpp"
#include "FaceMesh.hpp"
#include "Hex.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>

using namespace inSitu;
using testing::HasSubstr;
using testing::ThrowsMessage;

using Indices = std::vector<std::int32_t>;

namespace
{

//   0 | 1 | 2 ]     faces 0 and 1 inside, face 2 a boundary beside cell 2: row 3
//
//   edges 0 ← 1, 1 ← 0, 1 ← 2, 2 ← 1, 2 ← 3
const Indices owner{0, 1};
const Indices neighbour{1, 2};
const Indices wall{2};

MeshGraph smallGraph()
{
    return MeshGraph::fromFaces(3, owner, neighbour, {{2, wall}});
}


// Loads the graph after a change to its saved state
auto loadAfter(const std::function<void(StateTree&)>& change)
{
    return [change]
    {
        StateTree state = smallGraph().save();
        change(state);
        MeshGraph::load(state);
    };
}


auto with(const char* name, const Indices& values)
{
    return loadAfter([=](StateTree& state) { state.put(name, values); });
}


MeshGeometry slidingGeometry(const Hex& hex, const MeshGraph& graph)
{
    const Hex::Interface sliding = hex.sliding(1);
    std::vector<double> up, down, weights;
    for (std::size_t i = 0; i < sliding.toHigh.size(); ++i)
    {
        up.insert(up.end(), {0.1 + i, -0.5, 0.01*i});
        down.insert(down.end(), {-0.2 - i, 0.5, 0.03*i});
        weights.push_back(1.0/(2 + i));
    }
    return makeGeometry(graph, hex.centres, hex.volumes, {0, 1},
        {
            {sliding.low.firstFace, up, sliding.lowStart, weights},
            {sliding.high.firstFace, down, sliding.highStart, weights}
        }, true);
}

}


TEST(GraphState, AGraphComesBackAsItWas)
{
    std::mt19937 generator(7);
    for (int i = 0; i < 20; ++i)
    {
        const MeshGraph graph = randomFaceMesh(generator, true).graph();

        const MeshGraph loaded = MeshGraph::load(graph.save());

        EXPECT_TRUE(loaded == graph);
        EXPECT_EQ(loaded.nBoundary(), graph.nBoundary());
        EXPECT_TRUE(std::equal(graph.senderEdge().begin(), graph.senderEdge().end(),
            loaded.senderEdge().begin()));
    }
}


TEST(GraphState, AGraphOfListedEdgesComesBack)
{
    const Indices senders{2, 0, 1, 2, 0, 2, 1};
    const Indices receivers{1, 1, 0, 1, 2, 2, 2};
    const MeshGraph graph = MeshGraph::fromEdges(3, senders, receivers);

    EXPECT_TRUE(MeshGraph::load(graph.save()) == graph);
}


TEST(GraphState, GraphsAreEqualIfEveryArrayIs)
{
    const MeshGraph graph = smallGraph();
    const Indices other{1};

    EXPECT_TRUE(graph == smallGraph());
    EXPECT_FALSE(graph == MeshGraph::fromFaces(3, owner, neighbour));
    EXPECT_FALSE(graph == MeshGraph::fromFaces(3, owner, neighbour, {{3, wall}}));
    EXPECT_FALSE(graph == MeshGraph::fromFaces(3, owner, neighbour, {{2, other}}));
    EXPECT_FALSE(graph == MeshGraph::fromFaces(4, owner, neighbour));
}


TEST(GraphState, ADamagedGraphIsRefused)
{
    const auto contradicts = [](const std::string& what)
    {
        return ThrowsMessage<Error>(HasSubstr("contradicts itself: " + what));
    };
    const auto withCount = [](const char* name, std::int64_t n)
    {
        return loadAfter([=](StateTree& state) { state.putInt(name, n); });
    };
    ASSERT_NO_THROW(with("senders", {1, 0, 2, 1, 3})());

    EXPECT_THAT(withCount("nCells", 4), contradicts("its rows are 5 less one"));
    EXPECT_THAT(withCount("nBoundary", 0), contradicts("its rows are 5 less one"));
    EXPECT_THAT(withCount("nBoundary", -1), ThrowsMessage<Error>(HasSubstr("-1 as its nBoundary")));
    EXPECT_THAT(withCount("nCells", 1LL << 32), ThrowsMessage<Error>(HasSubstr("4294967296")));
    EXPECT_THAT(loadAfter([](StateTree& state)
        { state.putInt("nCells", 1); state.putInt("nBoundary", 3); }), contradicts("its rows do"));
    EXPECT_THAT(with("receiverStart", {0, 1, 3, 5}), contradicts("its rows are 4 less one"));
    EXPECT_THAT(with("receiverStart", {1, 1, 3, 5, 5}), contradicts("its rows do not divide"));
    EXPECT_THAT(with("receiverStart", {0, 1, 3, 5, 6}), contradicts("its rows do not divide"));
    EXPECT_THAT(with("receiverStart", {0, 1, 3, 4, 5}), contradicts("its rows do not divide"));
    EXPECT_THAT(with("receiverStart", {0, 4, 3, 5, 5}), contradicts("its rows do not divide"));
    EXPECT_THAT(with("senders", {1, 0, 2, 1, 4}), contradicts("the sender of edge 4 is 4"));
    EXPECT_THAT(with("senders", {-1, 0, 2, 1, 3}), contradicts("the sender of edge 0 is -1"));
    EXPECT_THAT(with("senders", {1, 2, 0, 1, 3}), contradicts("the reverse edge of edge 0 is 1"));
    EXPECT_THAT(with("senders", {1, 0, 2, 3, 1}), contradicts("the reverse edge of edge 2 is 3"));
    EXPECT_THAT(with("faceOf", {-1, 0, 1, 1, 2}), contradicts("the face of edge 0 is -1"));
    EXPECT_THAT(with("faceOf", {0, 0, 1, 1, 1}), contradicts("the face of edge 4 is 1"));
    EXPECT_THAT(with("reverseEdge", {0, 0, 3, 2, -1}), contradicts("the reverse edge of edge 0"));
    EXPECT_THAT(with("reverseEdge", {1, 0, 3, 2, 3}), contradicts("the reverse edge of edge 4"));
    EXPECT_THAT(with("reverseEdge", {1, -1, 3, 2, -1}), contradicts("the reverse edge of edge 0"));
    EXPECT_THAT(with("reverseEdge", {1, 0, 3, 2, 5}), contradicts("the reverse edge of edge 4"));
    EXPECT_THAT(with("faceOf", {0, 0, 1, 1}), ThrowsMessage<Error>(HasSubstr("faceOf")));
    EXPECT_THAT([] { MeshGraph::load({}); }, ThrowsMessage<Error>(HasSubstr("nCells")));
}


TEST(GraphState, ARowOutOfOrderIsRefused)
{
    // Without reverse edges, only the order tells
    const auto load = [](const Indices& senders, const Indices& faces)
    {
        return [=]
        {
            StateTree state = smallGraph().save();
            state.put("senders", senders);
            state.put("faceOf", faces);
            state.put("reverseEdge", Indices(5, -1));
            MeshGraph::load(state);
        };
    };
    ASSERT_NO_THROW(load({1, 0, 0, 1, 3}, {0, 0, 1, 1, 2})());

    EXPECT_THAT(load({1, 2, 0, 1, 3}, {0, 0, 1, 1, 2}),
        ThrowsMessage<Error>(HasSubstr("the sender of edge 2 is 0")));
    EXPECT_THAT(load({1, 0, 0, 1, 3}, {0, 1, 0, 1, 2}),
        ThrowsMessage<Error>(HasSubstr("the face of edge 2 is 0")));
}


TEST(GraphState, AGeometryComesBackAsItWas)
{
    const Hex hex(3, 4, 2, {0.5, 0.25, 2});
    const MeshGraph plain = MeshGraph::fromFaces(hex.nCells(), hex.owner, hex.neighbour);
    const MeshGraph graph = plain.withCoupled(hex.sliding(1).halves());

    const MeshGeometry geometry = slidingGeometry(hex, graph);
    const MeshGeometry simple = makeGeometry(plain, hex.centres, hex.volumes, {0, 2});
    const MeshGeometry loaded = MeshGeometry::load(geometry.save());

    EXPECT_TRUE(loaded == geometry);
    EXPECT_EQ(edgeFeatures(graph, loaded), edgeFeatures(graph, geometry));
    EXPECT_TRUE(MeshGeometry::load(simple.save()) == simple);
    EXPECT_NO_THROW(loaded.requireFits(graph));
    EXPECT_THAT([&] { loaded.requireFits(plain); },
        ThrowsMessage<Error>(HasSubstr("components of displacements")));
    EXPECT_THAT([&] { simple.requireFits(graph); },
        ThrowsMessage<Error>(HasSubstr("components of displacements")));
    MeshGeometry lighter = geometry;
    lighter.weights.pop_back();
    EXPECT_THAT([&] { lighter.requireFits(graph); },
        ThrowsMessage<Error>(HasSubstr("21 weights, but the graph asks for 22")));
    EXPECT_THAT([&] { simple.requireFits(smallGraph()); },
        ThrowsMessage<Error>(HasSubstr("coordinates")));
}


TEST(GraphState, GeometriesAreEqualIfEveryArrayIs)
{
    const Hex hex(3, 4, 2, {0.5, 0.25, 2});
    const MeshGraph graph = MeshGraph::fromFaces(hex.nCells(), hex.owner, hex.neighbour)
        .withCoupled(hex.sliding(1).halves());
    const MeshGeometry geometry = slidingGeometry(hex, graph);
    const auto changed = [&](const std::function<void(MeshGeometry&)>& change)
    {
        MeshGeometry other = geometry;
        change(other);
        return other;
    };

    EXPECT_TRUE(geometry == slidingGeometry(hex, graph));
    EXPECT_FALSE(geometry == changed([](MeshGeometry& g) { g.centres[5] += 1e-12; }));
    EXPECT_FALSE(geometry == changed([](MeshGeometry& g) { g.cellVolumes[5] *= 2; }));
    EXPECT_FALSE(geometry == changed([](MeshGeometry& g) { g.directions = {0, 2}; }));
    EXPECT_FALSE(geometry == changed([](MeshGeometry& g) { g.displacements[5] *= 2; }));
    EXPECT_FALSE(geometry == changed([](MeshGeometry& g) { g.weights[5] *= 2; }));
    EXPECT_FALSE(geometry == changed([](MeshGeometry& g) { g.weighted = false; }));
}


TEST(GraphState, ADamagedGeometryIsRefused)
{
    const Hex hex(3, 4, 2);
    const MeshGraph graph = MeshGraph::fromFaces(hex.nCells(), hex.owner, hex.neighbour)
        .withCoupled(hex.sliding(1).halves());
    const auto loadAfter = [&](const std::function<void(StateTree&)>& change)
    {
        return [change, saved = slidingGeometry(hex, graph).save()]
        {
            StateTree state = saved;
            change(state);
            MeshGeometry::load(state);
        };
    };
    const auto refused = ThrowsMessage<Error>(HasSubstr("contradicts itself"));
    using Reals = std::vector<double>;

    EXPECT_THAT(loadAfter([](StateTree& s) { s.put("centres", Reals(73)); }), refused);
    EXPECT_THAT(loadAfter([](StateTree& s) { s.put("cellVolumes", Reals(25)); }), refused);
    EXPECT_THAT(loadAfter([](StateTree& s) { s.put("directions", Indices{}); }), refused);
    EXPECT_THAT(loadAfter([](StateTree& s) { s.put("directions", Indices{1, 1}); }), refused);
    EXPECT_THAT(loadAfter([](StateTree& s) { s.put("directions", Indices{0, 3}); }), refused);
    EXPECT_THAT(loadAfter([](StateTree& s) { s.put("weights", Reals(3)); }), refused);
    EXPECT_THAT(loadAfter([](StateTree& s) { s.putInt("weighted", 0); }), refused);
    EXPECT_THAT(loadAfter([](StateTree& s) { s.put("displacements", Reals(4)); }), refused);
    EXPECT_THAT([] { MeshGeometry::load({}); }, ThrowsMessage<Error>(HasSubstr("directions")));
}


TEST(GraphState, TheFirstDifferenceOfGraphsIsNamed)
{
    const MeshGraph held = smallGraph();
    const auto fresh = [](const char* name, const Indices& values)
    {
        StateTree state = smallGraph().save();
        state.put("senders", Indices{0, 0, 1, 2, 3});
        state.put("reverseEdge", Indices(5, -1));
        state.put(name, values);
        return MeshGraph::load(state);
    };
    const MeshGraph other = fresh("faceOf", {0, 0, 1, 1, 2});
    StateTree state = held.save();
    state.put("reverseEdge", Indices(5, -1));
    const MeshGraph noReverse = MeshGraph::load(state);

    EXPECT_EQ(firstDifference(held, smallGraph()), "");
    EXPECT_EQ(firstDifference(held, MeshGraph::fromFaces(3, owner, neighbour)),
        "the number of nodes is 4, a fresh build gives 3");
    EXPECT_EQ(firstDifference(MeshGraph::fromFaces(4, owner, neighbour), held),
        "the number of cells is 4, a fresh build gives 3");
    EXPECT_EQ(firstDifference(held, noReverse), "reverse of edge 0 is 1, a fresh build gives -1");
    EXPECT_EQ(firstDifference(other, fresh("receiverStart", {0, 1, 2, 5, 5})),
        "first edge of node 2 is 3, a fresh build gives 2");
    EXPECT_EQ(firstDifference(other, fresh("senders", {0, 0, 1, 1, 3})),
        "sender of edge 3 is 2, a fresh build gives 1");
    EXPECT_EQ(firstDifference(other, fresh("faceOf", {0, 0, 1, 7, 2})),
        "face of edge 3 is 1, a fresh build gives 7");
}


TEST(GraphState, TheFirstDifferenceOfGeometriesIsNamed)
{
    const Hex hex(3, 4, 2, {0.5, 0.25, 2});
    const MeshGraph graph = MeshGraph::fromFaces(hex.nCells(), hex.owner, hex.neighbour)
        .withCoupled(hex.sliding(1).halves());
    const MeshGeometry held = slidingGeometry(hex, graph);
    const auto differs = [&](const std::function<void(MeshGeometry&)>& change)
    {
        MeshGeometry fresh = held;
        change(fresh);
        return firstDifference(held, fresh);
    };

    EXPECT_EQ(differs([](MeshGeometry&) {}), "");
    EXPECT_EQ(differs([](MeshGeometry& g) { g.centres[3*4 + 1] = 0.75; }),
        "centre of node 4 is (0.75 0.375 1), a fresh build gives (0.75 0.75 1)");
    EXPECT_EQ(differs([](MeshGeometry& g) { g.cellVolumes[17] = 3; }),
        "volume of cell 17 is 0.25, a fresh build gives 3");
    EXPECT_EQ(differs([](MeshGeometry& g) { g.directions = {0, 2}; }),
        "direction 1 is 1, a fresh build gives 2");
    EXPECT_EQ(differs([](MeshGeometry& g) { g.displacements[0] = 4; }).substr(0, 57),
        "displacement of coupled edge 0 is (0.10000000000000001 -0");
    EXPECT_EQ(differs([](MeshGeometry& g) { g.weights[0] = 0.25; }),
        "weight of coupled edge 0 is 0.5, a fresh build gives 0.25");
    EXPECT_EQ(differs([](MeshGeometry& g) { g.weighted = false; }),
        "whether edges are weighted is 1, a fresh build gives 0");
    EXPECT_EQ(differs([](MeshGeometry& g) { g.cellVolumes.pop_back(); }),
        "number of entries for the volume of cell is 24, a fresh build gives 23");
}
