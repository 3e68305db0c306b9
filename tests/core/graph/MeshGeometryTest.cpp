// SPDX-License-Identifier: GPL-3.0-or-later
#include "graph/MeshGeometry.hpp"

#include "base/Error.hpp"
#include "Hex.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

using namespace inSitu;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

using Indices = std::vector<std::int32_t>;

namespace
{

//   0 ——— 1      centres (1, 1, 7) and (4, 5, 7), a boundary face at (4, 8, 7) beside cell 1,
//         |      a cyclic that takes cell 0 to itself over a distance of (0, 0, 2)
//        [2]
const Indices owner{0};
const Indices neighbour{1};
const Indices wall{1};
const Indices layer{0};
const std::vector<double> centres{1, 1, 7, 4, 5, 7, 4, 8, 7};
const std::vector<double> volumes{2, 3};

MeshGraph graphWithWall()
{
    return MeshGraph::fromFaces(2, owner, neighbour, {{1, wall}});
}

}


TEST(MeshGeometry, EdgeFeaturesAreSenderLessReceiverAndTheLength)
{
    const MeshGraph graph = graphWithWall();

    const MeshGeometry geometry = makeGeometry(graph, centres, volumes, {0, 1, 2});
    const std::vector<double> features = edgeFeatures(graph, geometry);

    // edges: 0 ← 1, 1 ← 0, 1 ← wall
    EXPECT_THAT(features, ElementsAre(3, 4, 0, 5, -3, -4, 0, 5, 0, 3, 0, 3));
    EXPECT_DOUBLE_EQ(meanEdgeLength(graph, geometry), 13.0/3);
    EXPECT_EQ(geometry.nEdgeFeatures(), 4);
    EXPECT_THAT(geometry.edgeFeatureNames(), ElementsAre("dx", "dy", "dz", "length"));
    EXPECT_EQ(geometry.cellVolumes, volumes);
    EXPECT_EQ(geometry.centres, centres);
}


TEST(MeshGeometry, OnlyActiveDirectionsCount)
{
    const MeshGraph graph = graphWithWall();

    const MeshGeometry geometry = makeGeometry(graph, centres, volumes, {1, 2});
    const std::vector<double> features = edgeFeatures(graph, geometry);

    EXPECT_THAT(features, ElementsAre(4, 0, 4, -4, 0, 4, 3, 0, 3));
    EXPECT_DOUBLE_EQ(meanEdgeLength(graph, geometry), 11.0/3);
    EXPECT_THAT(geometry.edgeFeatureNames(), ElementsAre("dy", "dz", "length"));
}


TEST(MeshGeometry, CoupledFacesTakeTheGivenDisplacement)
{
    const MeshGraph graph = MeshGraph::fromFaces(2, owner, neighbour, {{3, wall}},
        {{1, layer, layer, 2}, {2, layer, layer, 1}});
    const std::vector<double> down{0, 0, -2};
    const std::vector<double> up{0.5, 0, 2};

    const MeshGeometry geometry =
        makeGeometry(graph, centres, volumes, {0, 2}, {{1, down}, {2, up}});
    const std::vector<double> features = edgeFeatures(graph, geometry);

    // edges: 0 ← 0 (face 1), 0 ← 0 (face 2), 0 ← 1, 1 ← 0, 1 ← wall
    const double slanted = std::sqrt(4.25);
    EXPECT_THAT(features,
        ElementsAre(0, -2, 2, 0.5, 2, slanted, 3, 0, 3, -3, 0, 3, 0, 0, 0));
    EXPECT_DOUBLE_EQ(meanEdgeLength(graph, geometry), (8 + slanted)/5);
}


TEST(MeshGeometry, APeriodicBlockLooksTheSameFromEveryCell)
{
    const Hex hex(5, 4, 3, {0.5, 0.25, 2});
    const MeshGraph graph = MeshGraph::fromFaces(hex.nCells(), hex.owner, hex.neighbour,
        hex.boundary({2, 3, 4, 5}), hex.cyclic(0));
    const std::size_t nFaces = hex.sides[0].cells.size();
    std::vector<double> left, right;
    for (std::size_t i = 0; i < nFaces; ++i)
    {
        left.insert(left.end(), {-0.5, 0, 0});
        right.insert(right.end(), {0.5, 0, 0});
    }

    const MeshGeometry geometry = makeGeometry(graph, hex.nodeCentres({2, 3, 4, 5}), hex.volumes,
        {0, 1, 2}, {{hex.sides[0].firstFace, left}, {hex.sides[1].firstFace, right}});
    const std::vector<double> features = edgeFeatures(graph, geometry);

    for (std::int32_t cell = 0; cell < hex.nCells(); ++cell)
    {
        double sum = 0, length = 0;
        for (auto e = graph.receiverStart()[cell]; e < graph.receiverStart()[cell + 1]; ++e)
        {
            const double dx = features[4*e];
            EXPECT_TRUE(dx == 0 || std::abs(dx) == 0.5) << "edge " << e << ": " << dx;
            sum += dx;
            length += std::abs(dx);
        }
        EXPECT_EQ(sum, 0) << "cell " << cell;
        EXPECT_EQ(length, 1) << "cell " << cell;
    }
}


TEST(MeshGeometry, AcrossAnInterfaceEachMeetingHasItsOwnWayAndWeight)
{
    // Faces 1 and 2 of cell 0 meet both faces 3 and 4 of cell 1; 0 → 1 through face 0 as well
    const Indices zero{0, 0};
    const Indices one{1, 1};
    const Indices start{0, 2, 3};
    const Indices backStart{0, 1, 3};
    const Indices to{0, 1, 1};
    const Indices back{0, 0, 1};
    const MeshGraph graph = MeshGraph::fromFaces(2, owner, neighbour, {{5, wall}}).withCoupled
    ({
        {1, zero, one, 3, start, to},
        {3, one, zero, 1, backStart, back}
    });
    const std::vector<double> ways{3, 0, 4, 5, 0, 12, 8, 0, 15};
    const std::vector<double> waysBack{-3, 0, -4, -5, 0, -12, -8, 0, -15};
    const std::vector<double> weights{0.75, 0.25, 1};

    const MeshGeometry geometry = makeGeometry(graph, centres, volumes, {0, 2},
        {{1, ways, start, weights}, {3, waysBack, backStart}}, true);

    // 0 ← 1 through faces 0 1 1 2; 1 ← 0 through 0 3 4 4; 1 ← wall
    EXPECT_THAT(edgeFeatures(graph, geometry), ElementsAre(
        3, 0, 3, 1,  3, 4, 5, 0.75,  5, 12, 13, 0.25,  8, 15, 17, 1,
        -3, 0, 3, 1,  -3, -4, 5, 1,  -5, -12, 13, 1,  -8, -15, 17, 1,  0, 0, 0, 1));
    EXPECT_THAT(geometry.edgeFeatureNames(), ElementsAre("dx", "dz", "length", "weight"));
    EXPECT_EQ(geometry.nEdgeFeatures(), 4);
    EXPECT_DOUBLE_EQ(meanEdgeLength(graph, geometry), (2*(3 + 5 + 13 + 17) + 0)/9.0);
    EXPECT_THAT(edgeScales(geometry, 2.5), ElementsAre(2.5, 2.5, 2.5, 1));
    EXPECT_EQ(geometry.bytes(), sizeof(double)*(9 + 2 + 18 + 6));

    const auto build = [&](const std::vector<CoupledDisplacement>& displacements)
    {
        return [=]
        {
            makeGeometry(graph, centres, volumes, {0, 2}, displacements, true);
        };
    };
    const Indices more{0, 2, 4};
    const std::vector<double> four(12);
    EXPECT_THAT(build({{1, ways, start}, {3, waysBack, start}}),
        ThrowsMessage<Error>(HasSubstr("coupled face 4")));
    EXPECT_THAT(build({{1, four, more}, {3, waysBack, backStart}}),
        ThrowsMessage<Error>(HasSubstr("fewer edges through the coupled face 2")));
    EXPECT_THAT(build({{1, four, start}, {3, waysBack, backStart}}),
        ThrowsMessage<Error>(HasSubstr("4 meetings of the patch at face 1")));
    EXPECT_THAT(build({{1, ways, start, centres}, {3, waysBack, backStart}}),
        ThrowsMessage<Error>(HasSubstr("9 weights for the meetings of the patch at face 1")));
}


TEST(MeshGeometry, KeepsTheWeightWhileNothingMeets)
{
    const MeshGraph graph = graphWithWall();

    const MeshGeometry geometry = makeGeometry(graph, centres, volumes, {1}, {}, true);

    EXPECT_THAT(geometry.edgeFeatureNames(), ElementsAre("dy", "length", "weight"));
    EXPECT_THAT(edgeFeatures(graph, geometry), ElementsAre(4, 4, 1, -4, 4, 1, 3, 3, 1));
}


TEST(MeshGeometry, RefusesWhatDoesNotFitTheGraph)
{
    const MeshGraph graph = MeshGraph::fromFaces(2, owner, neighbour, {},
        {{1, layer, layer, 2}, {2, layer, layer, 1}});
    const std::vector<double> two(centres.begin(), centres.begin() + 6);
    const std::vector<double> shift{0, 0, 2};
    const auto build = [&](const std::vector<double>& points, const std::vector<double>& cells,
        const std::vector<int>& directions)
    {
        return [=, &shift]
        {
            makeGeometry(graph, points, cells, directions, {{1, shift}});
        };
    };

    EXPECT_THAT(build(centres, volumes, {0}), ThrowsMessage<Error>(HasSubstr("9 coordinates")));
    EXPECT_THAT(build(two, {1}, {0}), ThrowsMessage<Error>(HasSubstr("1 cell volumes")));
    EXPECT_THAT(build(two, volumes, {}), ThrowsMessage<Error>(HasSubstr("directions")));
    EXPECT_THAT(build(two, volumes, {1, 3}), ThrowsMessage<Error>(HasSubstr("directions")));
    EXPECT_THAT(build(two, volumes, {0}), ThrowsMessage<Error>(HasSubstr("coupled face 2")));
}
