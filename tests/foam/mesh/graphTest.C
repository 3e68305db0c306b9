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
#include "foamCase.H"
#include "graphBuilder.H"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

using namespace Foam;
using functionObjects::graphBuilder;

// * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * //

namespace
{

// An edge as it must be, found here by walking over the faces: who receives, who
// sends, through which face, and the way from the receiver to the sender
struct graphEdge
{
    label receiver;
    label sender;
    label face;
    vector way;
};


// By rules of their own: faces of cyclic patches are matched by position
std::vector<graphEdge> expectedEdges(const polyMesh& mesh, const bool boundaryRows)
{
    std::vector<graphEdge> edges;
    const vectorField& C = mesh.cellCentres();
    const vectorField& Cf = mesh.faceCentres();

    for (label facei = 0; facei < mesh.nInternalFaces(); ++facei)
    {
        const label own = mesh.faceOwner()[facei];
        const label nei = mesh.faceNeighbour()[facei];
        edges.push_back({own, nei, facei, C[nei] - C[own]});
        edges.push_back({nei, own, facei, C[own] - C[nei]});
    }

    label row = mesh.nCells();
    for (const polyPatch& patch : mesh.boundaryMesh())
    {
        const word type = patch.type();
        for (label i = 0; i < patch.size(); ++i)
        {
            const label facei = patch.start() + i;
            const label celli = mesh.faceOwner()[facei];

            if (type == "cyclic")
            {
                // The other half lies across the box, the face opposite
                const vector normal(cmptMag(mesh.faceAreas()[facei]));
                const word other
                (
                    patch.name() == "left" ? "right" : patch.name() == "right" ? "left"
                  : patch.name() == "back" ? "front" : "back"
                );
                const polyPatch& nbr = mesh.boundaryMesh()[other];
                label opposite = -1;
                for (label j = 0; j < nbr.size(); ++j)
                {
                    const vector d(Cf[nbr.start() + j] - Cf[facei]);
                    if (mag(d ^ normal) < 1e-9*mag(normal))
                    {
                        opposite = nbr.start() + j;
                    }
                }
                const label nbrCelli = mesh.faceOwner()[opposite];
                edges.push_back
                ({
                    celli, nbrCelli, facei,
                    (C[nbrCelli] - Cf[opposite]) + (Cf[facei] - C[celli])
                });
            }
            else if (boundaryRows && type != "empty" && type != "wedge")
            {
                edges.push_back({celli, row++, facei, Cf[facei] - C[celli]});
            }
        }
    }

    std::sort(edges.begin(), edges.end(), [](const graphEdge& a, const graphEdge& b)
    {
        return std::tie(a.receiver, a.sender, a.face) < std::tie(b.receiver, b.sender, b.face);
    });
    return edges;
}


struct extent
{
    const char* name;
    std::vector<int> directions;
    label nRows;        // boundary faces that are rows
};


class GraphOfMesh : public testing::TestWithParam<extent> {};

} // End anonymous namespace


TEST_P(GraphOfMesh, HasTheEdgesAndFeaturesOfItsFaces)
{
    const foamCase theCase(GetParam().name);
    const fvMesh& mesh = theCase.mesh;
    const std::vector<int>& directions = GetParam().directions;

    for (const bool boundaryRows : {true, false})
    {
        const graphBuilder builder(mesh, boundaryRows);
        const auto graph = builder.graph();
        const auto geometry = builder.geometry(*graph);
        const std::vector<double> features = edgeFeatures(*graph, *geometry);
        const std::vector<graphEdge> expected = expectedEdges(mesh, boundaryRows);

        ASSERT_EQ(graph->nCells(), mesh.nCells());
        ASSERT_EQ(graph->nBoundary(), boundaryRows ? GetParam().nRows : 0);
        ASSERT_EQ(graph->nEdges(), label(expected.size()));
        ASSERT_EQ(geometry->directions, directions);

        // One cell deep, a cell meets itself through two faces: either order will do
        std::multiset<std::tuple<label, label, label>> seen, wanted;
        for (label e = 0; e < graph->nEdges(); ++e)
        {
            SCOPED_TRACE("edge " + std::to_string(e));
            const graphEdge& want = expected[e];
            ASSERT_EQ(graph->receivers()[e], want.receiver);
            ASSERT_EQ(graph->senders()[e], want.sender);
            seen.insert({want.receiver, want.sender, graph->faceOf()[e]});
            wanted.insert({want.receiver, want.sender, want.face});

            const auto same = std::find_if(expected.begin(), expected.end(),
                [&](const graphEdge& other)
                {
                    return other.receiver == want.receiver
                     && other.sender == want.sender
                     && other.face == graph->faceOf()[e];
                });
            ASSERT_NE(same, expected.end());

            const double* feature = &features[e*geometry->nEdgeFeatures()];
            double squared = 0;
            for (std::size_t k = 0; k < directions.size(); ++k)
            {
                const double way = same->way[directions[k]];
                EXPECT_NEAR(feature[k], way, 1e-12);
                squared += way*way;
            }
            EXPECT_NEAR(feature[directions.size()], std::sqrt(squared), 1e-12);
        }
        EXPECT_EQ(seen, wanted);

        for (label celli = 0; celli < mesh.nCells(); ++celli)
        {
            EXPECT_EQ(geometry->cellVolumes[celli], mesh.V()[celli]);
        }
    }
}


INSTANTIATE_TEST_SUITE_P
(
    Cases,
    GraphOfMesh,
    testing::Values
    (
        extent{"cavity", {0, 1}, 24},           // empty in z
        extent{"wedge", {0, 1}, 14},            // inlet, outlet, pipe
        extent{"channel", {0, 1, 2}, 4},        // bottom, top
        extent{"baffle", {0, 1, 2}, 56}
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


TEST(TopologyFingerprint, ChangesWithAPatchAndNotWithThePoints)
{
    foamCase theCase("cavity");
    fvMesh& mesh = theCase.mesh;
    const std::string before = functionObjects::topologyFingerprint(mesh);

    EXPECT_EQ(before.size(), 40u);
    EXPECT_EQ
    (
        functionObjects::topologyText(mesh),
        "35 cells, 58 internal faces, patches lid(patch 7) fixedWalls(wall 17)"
        " sides(empty 70)"
    );

    mesh.movePoints(pointField(1.5*mesh.points()));
    EXPECT_EQ(functionObjects::topologyFingerprint(mesh), before);

    const_cast<word&>(mesh.boundaryMesh()[0].name()) = "cover";
    EXPECT_NE(functionObjects::topologyFingerprint(mesh), before);

    EXPECT_NE
    (
        functionObjects::topologyFingerprint(foamCase("wedge").mesh),
        functionObjects::topologyFingerprint(foamCase("baffle").mesh)
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
