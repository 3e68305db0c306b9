/*---------------------------------------------------------------------------*\
  =========                 |
  \\      /  F ield         | inSituFoam: neural networks trained beside
   \\    /   O peration     | OpenFOAM solvers
    \\  /    A nd           |
     \\/     M anipulation  |
-------------------------------------------------------------------------------
License
    This file is part of inSituFoam, an extension of OpenFOAM.

    inSituFoam is free software: you can redistribute it and/or modify it
    under the terms of the GNU General Public License as published by
    the Free Software Foundation, either version 3 of the License, or
    (at your option) any later version.

    inSituFoam is distributed in the hope that it will be useful, but WITHOUT
    ANY WARRANTY; without even the implied warranty of MERCHANTABILITY or
    FITNESS FOR A PARTICULAR PURPOSE.  See the GNU General Public License
    for more details.

    You should have received a copy of the GNU General Public License
    along with inSituFoam: the file LICENSE at its top.

\*---------------------------------------------------------------------------*/

// Before OpenFOAM, which makes a macro of the word Log
#include <gmock/gmock.h>

#include "base/Error.hpp"
#include "cellZoneMask.H"
#include "meshEdges.H"
#include "unitConversion.H"

using namespace Foam;
using functionObjects::graphBuilder;

// * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * //

namespace
{

struct meshKind
{
    const char* name;
    std::vector<int> directions;
    label nRows;            // boundary faces that are rows
    patchMoves moves;       // of coupled patches
};


patchMoves acrossTheChannel()
{
    const auto by = [](const vector& d) { return [d](const point& p) { return p + d; }; };
    return
    {
        {"left", by({-0.9, 0, 0})},
        {"right", by({0.9, 0, 0})},
        {"back", by({0, 0, -0.2})},
        {"front", by({0, 0, 0.2})}
    };
}


patchMoves aroundTheSector()
{
    const auto turn = [](const scalar degrees)
    {
        return [angle = degToRad(degrees)](const point& p)
        {
            const point axis(0.2, -0.1, 0);
            const vector d(p - axis);
            return axis + vector
            (
                std::cos(angle)*d.x() - std::sin(angle)*d.y(),
                std::sin(angle)*d.x() + std::cos(angle)*d.y(),
                d.z()
            );
        };
    };
    return {{"low", turn(-40)}, {"high", turn(40)}};
}


patchMoves roundTheBox()
{
    return
    {
        {"left", [](const point& p) { return p - vector(1.2, 0, 0); }},
        {"right", [](const point& p) { return p + vector(1.2, 0, 0); }}
    };
}


class GraphOfMesh : public testing::TestWithParam<meshKind> {};

} // End anonymous namespace


TEST_P(GraphOfMesh, HasTheEdgesAndFeaturesOfItsFaces)
{
    const meshKind& kind = GetParam();
    const foamCase theCase(kind.name);

    expectGraphOf(theCase.mesh, kind.directions, kind.nRows, kind.moves);
}


TEST_P(GraphOfMesh, FollowsTheMotionOfThePoints)
{
    // Stretched in all directions in which patches neither turn nor shift
    const meshKind& kind = GetParam();
    foamCase theCase(kind.name);
    fvMesh& mesh = theCase.mesh;
    const bool turns = kind.moves.count("low");
    const bool shifts = kind.moves.count("left");
    const graphBuilder builder(mesh, true);
    const auto inner = builder.inner();

    for (const scalar factor : {1.25, 0.75})
    {
        pointField points(mesh.points());
        for (point& p : points)
        {
            p.z() *= kind.moves.count("back") ? 1 : factor;
            p.x() *= turns || shifts ? 1 : 2 - factor;
            p.y() *= turns ? 1 : factor + 0.01*p.y();
        }
        mesh.movePoints(points);

        expectGraphOf(mesh, kind.directions, kind.nRows, kind.moves);
        EXPECT_EQ(firstDifference(*inner, *builder.inner()), "");
    }
}


INSTANTIATE_TEST_SUITE_P
(
    Cases,
    GraphOfMesh,
    testing::Values
    (
        meshKind{"cavity", {0, 1}, 24, {}},             // empty in z
        meshKind{"wedge", {0, 1}, 14, {}},              // inlet, outlet, pipe
        meshKind{"channel", {0, 1, 2}, 4, acrossTheChannel()},
        meshKind{"slip", {0, 1, 2}, 4, acrossTheChannel()},
        meshKind{"baffle", {0, 1, 2}, 56, {}},
        meshKind{"ported", {0, 1, 2}, 72, {}},          // cyclic and wall baffles
        meshKind{"refined", {0, 1, 2}, 76, {}},
        meshKind{"sector", {0, 1, 2}, 20, aroundTheSector()},
        meshKind{"sectorAMI", {0, 1, 2}, 20, aroundTheSector()},
        meshKind{"periodic", {0, 1, 2}, 36, roundTheBox()},
        meshKind{"sliding", {0, 1, 2}, 91, {}},
        meshKind{"rings", {0, 1}, 48, {}},              // empty in z
        meshKind{"partial", {0, 1, 2}, 104, {}}
    ),
    [](const auto& info) { return info.param.name; }
);


TEST(CyclicChannel, DistanceAcrossThePatchIsThatOfTheCells)
{
    // Two cells along x with widths 1 : 3 over 0.9, so 0.225 and 0.675: their
    // centres are half of 0.9 apart on either way round. In z, 0.2 to oneself.
    const foamCase theCase("channel");
    const graphBuilder builder(theCase.mesh, false);
    const auto graph = builder.graph();
    const auto geometry = builder.geometry(*graph);
    const std::vector<double> features = edgeFeatures(*graph, *geometry);
    const polyBoundaryMesh& patches = theCase.mesh.boundaryMesh();

    int across = 0;
    for (label e = 0; e < graph->nEdges(); ++e)
    {
        const label patchi = patches.whichPatch(graph->faceOf()[e]);
        const double* feature = &features[4*e];
        if (patchi >= 0 && patches[patchi].name() == "left")
        {
            EXPECT_NEAR(feature[0], -0.45, 1e-9);
            EXPECT_NEAR(feature[3], 0.45, 1e-9);
            ++across;
        }
        if (patchi >= 0 && patches[patchi].name() == "front")
        {
            EXPECT_EQ(graph->senders()[e], graph->receivers()[e]);
            EXPECT_NEAR(feature[2], 0.2, 1e-9);
            ++across;
        }
    }
    EXPECT_EQ(across, 4 + 8);
}


TEST(StaticFeatures, TellKindOfRowAndFixedValues)
{
    const foamCase theCase("wedge");
    const graphBuilder builder(theCase.mesh, true);
    const auto graph = builder.graph();

    // Rows: inlet 4, outlet 4, pipe 6. First field fixed on inlet and pipe, second
    // on the outlet only.
    ASSERT_EQ(builder.boundaryPatches().size(), 3);
    const auto features =
        builder.staticFeatures(*graph, {{true, false, true}, {false, true, false}});

    ASSERT_EQ(features->size(), std::size_t(5*(24 + 14)));
    const auto row = [&](std::size_t i)
    {
        return std::vector<float>(&(*features)[5*i], &(*features)[5*i] + 5);
    };
    EXPECT_THAT(row(0), testing::ElementsAre(1, 0, 0, 0, 0));
    EXPECT_THAT(row(23), testing::ElementsAre(1, 0, 0, 0, 0));
    EXPECT_THAT(row(24), testing::ElementsAre(0, 0, 1, 1, 0));
    EXPECT_THAT(row(27), testing::ElementsAre(0, 0, 1, 1, 0));
    EXPECT_THAT(row(28), testing::ElementsAre(0, 0, 1, 0, 1));
    EXPECT_THAT(row(32), testing::ElementsAre(0, 1, 0, 1, 0));
    EXPECT_THAT(row(37), testing::ElementsAre(0, 1, 0, 1, 0));

    EXPECT_THAT
    (
        graphBuilder::staticColumns({"U", "p"}),
        testing::ElementsAre("cell", "wall", "patch", "UFixed", "pFixed")
    );
}


TEST(PlaceOfRow, NamesCellOrPatchAndFace)
{
    const foamCase theCase("wedge");
    const auto place = graphBuilder(theCase.mesh, true).placeOfRow();

    EXPECT_EQ(place(23), "cell 23");
    EXPECT_EQ(place(24), "patch inlet face 0");
    EXPECT_EQ(place(31), "patch outlet face 3");
    EXPECT_EQ(place(37), "patch pipe face 5");
}


TEST(TopologyText, CountsCellsFacesAndPatches)
{
    const foamCase theCase("cavity");

    EXPECT_EQ
    (
        functionObjects::topologyText(theCase.mesh),
        "35 cells, 58 internal faces, patches lid(patch 7) fixedWalls(wall 17)"
        " sides(empty 70)"
    );
}


TEST(CellZoneMask, MarksTheZoneAndRefusesUnknownOnes)
{
    const foamCase theCase("cavity");
    EXPECT_TRUE(functionObjects::cellZoneMask(theCase.mesh, "").empty());
    EXPECT_EQ
    (
        functionObjects::cellZoneMask(theCase.mesh, "zoneA"),
        std::vector<double>(35, 1.0)
    );

    try
    {
        functionObjects::cellZoneMask(theCase.mesh, "zoneB");
        FAIL() << "no error";
    }
    catch (const inSitu::Error& err)
    {
        EXPECT_THAT(err.what(), testing::HasSubstr("no zone 'zoneB'; it has zoneA"));
    }
}

// ************************************************************************* //
