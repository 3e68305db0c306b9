// SPDX-License-Identifier: GPL-3.0-or-later
#include "graph/MeshGraph.hpp"

#include "base/Error.hpp"
#include "FaceMesh.hpp"
#include "Hex.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

using namespace inSitu;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

using Index = std::int32_t;
using Indices = std::vector<Index>;


TEST(MeshGraph, EachInternalFaceGivesOneEdgePerDirection)
{
    //  0 | 1 | 2     face 0: 0 → 1, face 1: 1 → 2
    const Indices owner{0, 1};
    const Indices neighbour{1, 2};

    const MeshGraph graph = MeshGraph::fromFaces(3, owner, neighbour);

    EXPECT_THAT(graph.receivers(), ElementsAre(0, 1, 1, 2));
    EXPECT_THAT(graph.senders(), ElementsAre(1, 0, 2, 1));
    EXPECT_THAT(graph.receiverStart(), ElementsAre(0, 1, 3, 4));
    EXPECT_THAT(graph.faceOf(), ElementsAre(0, 0, 1, 1));
    EXPECT_THAT(graph.reverseEdge(), ElementsAre(1, 0, 3, 2));
    EXPECT_THAT(graph.senderStart(), ElementsAre(0, 1, 3, 4));
    EXPECT_THAT(graph.senderEdge(), ElementsAre(1, 0, 3, 2));
}


TEST(MeshGraph, BoundaryFacesAreRowsBehindTheCellsAndComeLastInARow)
{
    //      [3]  [4]
    //     +----+----+
    //  [5]|  0 |  1 |      internal faces 0: 0 → 1, 1: 0 → 2
    //     +----+----+      patch top: faces 2 3, patch left: faces 4 5
    //  [6]|  2 |
    //     +----+
    const Indices owner{0, 0};
    const Indices neighbour{1, 2};
    const Indices top{0, 1};
    const Indices left{0, 2};

    const MeshGraph graph = MeshGraph::fromFaces(3, owner, neighbour, {{2, top}, {4, left}});

    EXPECT_EQ(graph.nNodes(), 7);
    EXPECT_EQ(graph.nCells(), 3);
    EXPECT_EQ(graph.nBoundary(), 4);
    EXPECT_THAT(graph.receivers(), ElementsAre(0, 0, 0, 0, 1, 1, 2, 2));
    EXPECT_THAT(graph.senders(), ElementsAre(1, 2, 3, 5, 0, 4, 0, 6));
    EXPECT_THAT(graph.faceOf(), ElementsAre(0, 1, 2, 4, 0, 3, 1, 5));
    EXPECT_THAT(graph.reverseEdge(), ElementsAre(4, 6, -1, -1, 0, -1, 1, -1));
    EXPECT_THAT(graph.receiverStart(), ElementsAre(0, 4, 6, 8, 8, 8, 8, 8));
    EXPECT_THAT(graph.senderStart(), ElementsAre(0, 2, 3, 4, 5, 6, 7, 8));
    EXPECT_THAT(graph.senderEdge(), ElementsAre(4, 6, 0, 1, 2, 5, 3, 7));
}


TEST(MeshGraph, CyclicSendersTakeTheirPlaceInTheRow)
{
    //  ~ 0 | 1 | 2 ~     faces 0 and 1 inside, face 2 left of cell 0, face 3 right of cell 2
    const Indices owner{0, 1};
    const Indices neighbour{1, 2};
    const Indices left{0};
    const Indices right{2};

    const MeshGraph graph =
        MeshGraph::fromFaces(3, owner, neighbour, {}, {{2, left, right, 3}, {3, right, left, 2}});

    EXPECT_THAT(graph.receivers(), ElementsAre(0, 0, 1, 1, 2, 2));
    EXPECT_THAT(graph.senders(), ElementsAre(1, 2, 0, 2, 0, 1));
    EXPECT_THAT(graph.faceOf(), ElementsAre(0, 2, 0, 1, 3, 1));
    EXPECT_THAT(graph.reverseEdge(), ElementsAre(2, 4, 0, 5, 1, 3));
}


TEST(MeshGraph, ACyclicOneCellDeepGivesTwoSelfEdgesPerCellThatAreEachOthersReverse)
{
    //  ~ 0 ~      cells 0 and 1 one above the other, face 0 between them
    //  ~ 1 ~      left: faces 1 2, right: faces 3 4
    const Indices owner{0};
    const Indices neighbour{1};
    const Indices cells{0, 1};

    const MeshGraph graph =
        MeshGraph::fromFaces(2, owner, neighbour, {}, {{1, cells, cells, 3}, {3, cells, cells, 1}});

    EXPECT_THAT(graph.receivers(), ElementsAre(0, 0, 0, 1, 1, 1));
    EXPECT_THAT(graph.senders(), ElementsAre(0, 0, 1, 0, 1, 1));
    EXPECT_THAT(graph.faceOf(), ElementsAre(1, 3, 0, 0, 2, 4));
    EXPECT_THAT(graph.reverseEdge(), ElementsAre(1, 0, 3, 2, 5, 4));
}


TEST(MeshGraph, ACyclicTwoCellsDeepRepeatsSendersInFaceOrder)
{
    //  ~ 0 | 1 ~     face 0 inside, face 1 left of cell 0, face 2 right of cell 1
    const Indices owner{0};
    const Indices neighbour{1};
    const Indices left{0};
    const Indices right{1};

    const MeshGraph graph =
        MeshGraph::fromFaces(2, owner, neighbour, {}, {{1, left, right, 2}, {2, right, left, 1}});

    EXPECT_THAT(graph.senders(), ElementsAre(1, 1, 0, 0));
    EXPECT_THAT(graph.faceOf(), ElementsAre(0, 1, 0, 2));
    EXPECT_THAT(graph.reverseEdge(), ElementsAre(2, 3, 0, 1));
}


TEST(MeshGraph, EqualsBruteForceOnRandomMeshes)
{
    std::mt19937 generator(20);
    for (int i = 0; i < 200 && !testing::Test::HasFailure(); ++i)
    {
        SCOPED_TRACE(i);
        const FaceMesh mesh = randomFaceMesh(generator, i % 3 != 0);
        expectBruteForce(mesh.graph(), mesh);
        EXPECT_TRUE(mesh.graphInTwoSteps() == mesh.graph());
    }
}


TEST(MeshGraph, EqualsBruteForceOnAPrismLayerOfOddDegree)
{
    // A fan of five triangles around a point, two layers high: every prism has two
    // neighbours in its layer and one above or below, the ring is closed
    FaceMesh mesh;
    mesh.nCells = 10;
    mesh.owner = {0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 5, 5, 6, 7, 8};
    mesh.neighbour = {1, 4, 5, 2, 6, 3, 7, 4, 8, 9, 6, 9, 7, 8, 9};
    mesh.patches = {{15, {0, 1, 2, 3, 4}}, {20, {9, 8, 7, 6, 5}}};

    const MeshGraph graph = mesh.graph();

    expectBruteForce(graph, mesh);
    for (Index cell = 0; cell < 10; ++cell)
    {
        EXPECT_EQ(graph.receiverStart()[cell + 1] - graph.receiverStart()[cell], 4);
    }
}


TEST(MeshGraph, EqualsBruteForceOnABlockWithACyclicDirection)
{
    const Hex hex(4, 3, 5);
    FaceMesh mesh{hex.nCells(), hex.owner, hex.neighbour, {}};
    for (int side = 0; side < 6; ++side)
    {
        mesh.patches.push_back({hex.sides[side].firstFace, hex.sides[side].cells});
    }
    for (const int side : {2, 3})
    {
        const Hex::Side& other = hex.sides[5 - side];
        mesh.patches[side].neighbourCells = other.cells;
        mesh.patches[side].neighbourFirstFace = other.firstFace;
    }

    const MeshGraph graph = MeshGraph::fromFaces(hex.nCells(), hex.owner, hex.neighbour,
        hex.boundary({0, 1, 4, 5}), hex.cyclic(1));

    expectBruteForce(graph, mesh);
    EXPECT_EQ(graph.nInternalFaces(), 3*3*5 + 4*2*5 + 4*3*4);
    EXPECT_EQ(graph.nNodes(), 60 + 2*15 + 2*12);
}


TEST(MeshGraph, ACellWithoutNeighboursHasAnEmptyRow)
{
    const Indices owner{0};
    const Indices neighbour{2};

    const MeshGraph graph = MeshGraph::fromFaces(4, owner, neighbour);

    EXPECT_THAT(graph.receiverStart(), ElementsAre(0, 1, 1, 2, 2));
    EXPECT_THAT(graph.senders(), ElementsAre(2, 0));
}


TEST(MeshGraph, FacesOutOfOrderAreRefused)
{
    const auto build = [](const Indices& owner, const Indices& neighbour)
    {
        return [=] { MeshGraph::fromFaces(4, owner, neighbour); };
    };

    EXPECT_THAT(build({1, 0}, {2, 3}), ThrowsMessage<Error>(HasSubstr("internal face 1")));
    EXPECT_THAT(build({0, 0}, {3, 2}), ThrowsMessage<Error>(HasSubstr("upper-triangular")));
    EXPECT_THAT(build({2}, {2}), ThrowsMessage<Error>(HasSubstr("owner 2 and neighbour 2")));
    EXPECT_THAT(build({3}, {4}), ThrowsMessage<Error>(HasSubstr("neighbour 4")));
    EXPECT_THAT(build({-1}, {2}), ThrowsMessage<Error>(HasSubstr("owner -1")));
    EXPECT_THAT(build({0, 1}, {2}), ThrowsMessage<Error>(HasSubstr("2 internal faces")));
}


TEST(MeshGraph, PatchesThatDoNotFitAreRefused)
{
    const Indices owner{0, 1};
    const Indices neighbour{1, 2};
    const Indices left{0};
    const Indices right{2};
    const Indices outside{3};
    const auto build = [&](std::vector<BoundaryPatch> boundary, std::vector<CoupledPatch> coupled)
    {
        return [=] { MeshGraph::fromFaces(3, owner, neighbour, boundary, coupled); };
    };

    EXPECT_THAT(build({{2, outside}}, {}), ThrowsMessage<Error>(HasSubstr("cell 3")));
    EXPECT_THAT(build({{1, left}}, {}), ThrowsMessage<Error>(HasSubstr("overlaps")));
    EXPECT_THAT(build({{3, left}, {2, right}}, {}), ThrowsMessage<Error>(HasSubstr("face 2")));
    EXPECT_THAT(build({}, {{2, left, right, 3}}),
        ThrowsMessage<Error>(HasSubstr("no matching half at face 3")));
    EXPECT_THAT(build({}, {{2, left, right, 3}, {3, left, right, 2}}),
        ThrowsMessage<Error>(HasSubstr("no matching half")));
}


TEST(MeshGraph, FromEdgesOrdersByReceiverThenSenderThenPosition)
{
    const Indices senders{2, 0, 1, 2, 0, 2, 1};
    const Indices receivers{1, 1, 0, 1, 2, 2, 2};

    const MeshGraph graph = MeshGraph::fromEdges(3, senders, receivers);

    EXPECT_THAT(graph.receivers(), ElementsAre(0, 1, 1, 1, 2, 2, 2));
    EXPECT_THAT(graph.senders(), ElementsAre(1, 0, 2, 2, 0, 1, 2));
    EXPECT_THAT(graph.faceOf(), ElementsAre(2, 1, 0, 3, 4, 6, 5));
    EXPECT_THAT(graph.receiverStart(), ElementsAre(0, 1, 4, 7));
    // 1 → 0 and 0 → 1; the first 2 → 1 and 1 → 2; the second has none; 2 → 2 is its own
    EXPECT_THAT(graph.reverseEdge(), ElementsAre(1, 0, 5, -1, -1, 2, 6));
    EXPECT_THAT(graph.senderStart(), ElementsAre(0, 2, 4, 7));
    EXPECT_THAT(graph.senderEdge(), ElementsAre(1, 4, 0, 5, 2, 3, 6));
    EXPECT_EQ(graph.nCells(), 3);
}


TEST(MeshGraph, FromEdgesOfAShuffledMeshEqualsFromFaces)
{
    const Hex hex(3, 4, 2);
    const MeshGraph mesh = MeshGraph::fromFaces(hex.nCells(), hex.owner, hex.neighbour);
    Indices order(mesh.nEdges());
    for (Index e = 0; e < mesh.nEdges(); ++e)
    {
        order[e] = e;
    }
    std::shuffle(order.begin(), order.end(), std::mt19937(4));
    Indices senders, receivers;
    for (const Index e : order)
    {
        senders.push_back(mesh.senders()[e]);
        receivers.push_back(mesh.receivers()[e]);
    }

    const MeshGraph graph = MeshGraph::fromEdges(hex.nCells(), senders, receivers);

    const auto equal = [](Span<const Index> a, Span<const Index> b)
    {
        return std::equal(a.begin(), a.end(), b.begin(), b.end());
    };
    EXPECT_TRUE(equal(graph.senders(), mesh.senders()));
    EXPECT_TRUE(equal(graph.receivers(), mesh.receivers()));
    EXPECT_TRUE(equal(graph.reverseEdge(), mesh.reverseEdge()));
    EXPECT_TRUE(equal(graph.senderEdge(), mesh.senderEdge()));
    for (Index e = 0; e < graph.nEdges(); ++e)
    {
        EXPECT_EQ(order[graph.faceOf()[e]], e);
    }
}


TEST(MeshGraph, FromEdgesRefusesNodesOutside)
{
    const Indices senders{0, 3};
    const Indices receivers{1, 1};

    EXPECT_THAT([&] { MeshGraph::fromEdges(3, senders, receivers); },
        ThrowsMessage<Error>(HasSubstr("edge 1 from 3 to 1")));
}
