// SPDX-License-Identifier: GPL-3.0-or-later
//
// Edges across sliding interfaces; MeshGraphTest compares random ones with brute force.

#include "graph/MeshGraph.hpp"

#include "base/Error.hpp"
#include "Hex.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace inSitu;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

using Index = std::int32_t;
using Indices = std::vector<Index>;

namespace
{

//      left   right         faces 0: 0 → 1, 1: 2 → 3, 2: 3 → 4 inside; the left half has the
//     +---+              faces 3 4 (cells 0 1), the right half 5 6 7 (cells 2 3 4)
//     | 1 +---+
//     |   | 4 |          face 3 of cell 0 meets 5 and 6, face 4 of cell 1 meets 6 and 7
//     +---+---+
//     | 0 | 3 |
//     |   +---+
//     +---+ 2 |
//         +---+
const Indices owner{0, 2, 3};
const Indices neighbour{1, 3, 4};
const Indices left{0, 1};
const Indices right{2, 3, 4};

struct Slide
{
    Indices leftStart{0, 2, 4}, toRight{0, 1, 1, 2};
    Indices rightStart{0, 1, 3, 4}, toLeft{0, 0, 1, 1};

    std::vector<CoupledPatch> halves() const
    {
        return {{3, left, right, 5, leftStart, toRight}, {5, right, left, 3, rightStart, toLeft}};
    }
};

MeshGraph inner()
{
    return MeshGraph::fromFaces(5, owner, neighbour);
}

}


TEST(MeshGraphCoupled, AFaceGetsAnEdgeFromEachFaceThatItMeets)
{
    const MeshGraph graph = inner().withCoupled(Slide().halves());

    EXPECT_THAT(graph.receiverStart(), ElementsAre(0, 3, 6, 8, 12, 14));
    EXPECT_THAT(graph.senders(), ElementsAre(1, 2, 3, 0, 3, 4, 0, 3, 0, 1, 2, 4, 1, 3));
    EXPECT_THAT(graph.faceOf(), ElementsAre(0, 3, 3, 0, 4, 4, 5, 1, 6, 6, 1, 2, 7, 2));
    EXPECT_THAT(graph.reverseEdge(), ElementsAre(3, 6, 8, 0, 9, 12, 1, 10, 2, 4, 7, 13, 5, 11));
    EXPECT_TRUE(graph.isCoupled(1));
    EXPECT_FALSE(graph.isCoupled(3));
    EXPECT_EQ(graph.nInternalFaces(), 3);
    EXPECT_TRUE(graph == MeshGraph::fromFaces(5, owner, neighbour, {}, Slide().halves()));
}


TEST(MeshGraphCoupled, BoundaryRowsStayBehindAllCells)
{
    const Indices top{1};
    const MeshGraph graph =
        MeshGraph::fromFaces(5, owner, neighbour, {{8, top}}).withCoupled(Slide().halves());

    EXPECT_EQ(graph.nNodes(), 6);
    EXPECT_EQ(graph.nBoundary(), 1);
    EXPECT_THAT(graph.receiverStart(), ElementsAre(0, 3, 7, 9, 13, 15, 15));
    EXPECT_EQ(graph.senders()[6], 5);
    EXPECT_EQ(graph.faceOf()[6], 8);
    EXPECT_EQ(graph.reverseEdge()[6], -1);
    EXPECT_FALSE(graph.isCoupled(6));
}


TEST(MeshGraphCoupled, TheInnerGraphStaysAsItIs)
{
    const MeshGraph before = inner();

    const MeshGraph graph = before.withCoupled(Slide().halves());

    EXPECT_TRUE(before == inner());
    EXPECT_FALSE(before == graph);
}


TEST(MeshGraphCoupled, FacesThatMeetNothingGiveNoEdge)
{
    Slide slide;
    slide.leftStart = {0, 0, 1};
    slide.toRight = {2};
    slide.rightStart = {0, 0, 0, 1};
    slide.toLeft = {1};

    const MeshGraph graph = inner().withCoupled(slide.halves());

    EXPECT_THAT(graph.senders(), ElementsAre(1, 0, 4, 3, 2, 4, 1, 3));
    EXPECT_THAT(graph.reverseEdge(), ElementsAre(1, 0, 6, 4, 3, 7, 2, 5));

    slide.leftStart = {0, 0, 0};
    slide.rightStart = {0, 0, 0, 0};
    slide.toRight = slide.toLeft = {};
    EXPECT_TRUE(inner().withCoupled(slide.halves()) == inner());
}


TEST(MeshGraphCoupled, AMeetingThatTheOtherSideDoesNotListHasNoReverse)
{
    Slide slide;
    slide.rightStart = {0, 1, 2, 3};    // face 6 forgets that it meets face 3
    slide.toLeft = {0, 1, 1};

    const MeshGraph graph = inner().withCoupled(slide.halves());

    EXPECT_THAT(graph.senders(), ElementsAre(1, 2, 3, 0, 3, 4, 0, 3, 1, 2, 4, 1, 3));
    EXPECT_THAT(graph.reverseEdge(), ElementsAre(3, 6, -1, 0, 8, 11, 1, 9, 4, 7, 12, 5, 10));
}


TEST(MeshGraphCoupled, CellsThatMeetThroughSeveralFacesHaveAnEdgeForEach)
{
    // The cell 2 of the right half has both its faces, in the order 0 1
    const Indices twice{2, 2};
    const Indices both{0, 1, 0, 1};
    const Indices start{0, 2, 4};

    const MeshGraph graph = inner().withCoupled
    ({
        {3, left, twice, 5, start, both},
        {5, twice, left, 3, start, both}
    });

    EXPECT_THAT(graph.senders(), ElementsAre(1, 2, 2, 0, 2, 2, 0, 0, 1, 1, 3, 2, 4, 3));
    EXPECT_THAT(graph.faceOf(), ElementsAre(0, 3, 3, 0, 4, 4, 5, 6, 5, 6, 1, 1, 2, 2));
    EXPECT_THAT(graph.reverseEdge(), ElementsAre(3, 6, 7, 0, 8, 9, 1, 2, 4, 5, 11, 10, 13, 12));
}


TEST(MeshGraphCoupled, ABlockOnASlidingInterfaceHasTwoNeighboursAcross)
{
    const Hex hex(3, 4, 2);
    const MeshGraph graph = MeshGraph::fromFaces(hex.nCells(), hex.owner, hex.neighbour)
        .withCoupled(hex.sliding(0).halves());

    EXPECT_EQ(graph.nEdges(), 2*(2*4*2 + 3*3*2 + 3*4) + 2*(2*8 - 1));
    for (Index e = 0; e < graph.nEdges(); ++e)
    {
        EXPECT_EQ(graph.reverseEdge()[graph.reverseEdge()[e]], e);
    }
}


TEST(MeshGraphCoupled, MeetingsThatDoNotFitAreRefused)
{
    const auto build = [](const Slide& slide)
    {
        return [slide] { inner().withCoupled(slide.halves()); };
    };
    Slide slide;

    slide.toRight = {0, 1, 1, 3};
    EXPECT_THAT(build(slide), ThrowsMessage<Error>(HasSubstr("meets face 3 of the other half")));
    slide.toRight = {1, 0, 1, 2};
    EXPECT_THAT(build(slide), ThrowsMessage<Error>(HasSubstr("that its face 0 meets")));
    slide.toRight = {0, 0, 1, 2};
    EXPECT_THAT(build(slide), ThrowsMessage<Error>(HasSubstr("that its face 0 meets")));
    slide.toRight = {0, 1, 1};
    EXPECT_THAT(build(slide), ThrowsMessage<Error>(HasSubstr("do not divide its 3 meetings")));
    slide.toRight = {0, 1, 1, 2};
    slide.leftStart = {0, 5, 4};
    EXPECT_THAT(build(slide), ThrowsMessage<Error>(HasSubstr("patch at face 3 has starts")));
    slide.leftStart = {0, 4};
    EXPECT_THAT(build(slide), ThrowsMessage<Error>(HasSubstr("patch at face 3 has starts")));
    slide.leftStart = {};
    slide.toRight = {};
    EXPECT_THAT(build(slide), ThrowsMessage<Error>(HasSubstr("halves have 2 and 3 faces")));

    EXPECT_THAT([] { inner().withCoupled({{2, left, left, 4}, {4, left, left, 2}}); },
        ThrowsMessage<Error>(HasSubstr("overlaps")));
    const Indices outside{0, 5};
    EXPECT_THAT([&] { inner().withCoupled({{3, left, outside, 5}, {5, outside, left, 3}}); },
        ThrowsMessage<Error>(HasSubstr("patch at face 5 has cell 5, outside the 5 cells")));
    EXPECT_THAT([] { inner().withCoupled({{3, left, left, 5}}); },
        ThrowsMessage<Error>(HasSubstr("no matching half at face 5")));
}
