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
#include "foamCase.H"
#include "graphBuilder.H"
#include "meshMirror.H"
#include "wallDist.H"
#include "wallPolyPatch.H"

using namespace Foam;
using functionObjects::graphBuilder;
using functionObjects::meshMirror;
using testing::HasSubstr;

// * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * //

namespace
{

const std::vector<std::vector<bool>> noFields;

//- Rows of a builder's features
std::vector<float> column
(
    const graphBuilder& builder,
    const std::string& name
)
{
    const auto features = builder.staticFeatures(*builder.graph(), noFields, {"cellVolume", name});
    std::vector<float> values;
    for (std::size_t i = 4; i < features->size(); i += 5)
    {
        values.push_back((*features)[i]);
    }
    return values;
}


//- Bend and stretch: nothing stays orthogonal or planar
void distort(fvMesh& mesh, const scalar amount)
{
    pointField points(mesh.points());
    for (point& p : points)
    {
        p.x() += amount*p.y()*p.y();
        p.y() *= 1 + amount*p.x();
    }
    mesh.movePoints(points);
}


//- That of OpenFOAM's wallDist
std::vector<float> distanceOfOpenFoam
(
    const fvMesh& mesh,
    const labelList& patches
)
{
    const_cast<dictionary&>(mesh.schemesDict())
        .subDictOrAdd("wallDist").set("method", word("meshWave"));
    const volScalarField& y = wallDist::New(mesh).y();

    std::vector<float> values(y.primitiveField().begin(), y.primitiveField().end());
    for (const label patchi : patches)
    {
        const bool wall = isA<wallPolyPatch>(mesh.boundaryMesh()[patchi]);
        for (const scalar distance : y.boundaryField()[patchi])
        {
            values.push_back(wall ? 0 : float(distance));
        }
    }
    return values;
}


class MeshFeatures : public testing::TestWithParam<const char*> {};

} // End anonymous namespace


TEST_P(MeshFeatures, AreThoseOfOpenFoamAlsoAfterMotion)
{
    foamCase theCase(GetParam());
    fvMesh& mesh = theCase.mesh;
    std::vector<float> before;

    for (const scalar amount : {0.0, 0.3, -0.2})
    {
        if (amount != 0)
        {
            distort(mesh, amount);
        }
        const graphBuilder builder(mesh, true);
        const wordList registered(mesh.sortedNames());

        const std::vector<float> distance = column(builder, "wallDistance");
        EXPECT_EQ(mesh.sortedNames(), registered);
        EXPECT_EQ(distance, distanceOfOpenFoam(mesh, builder.boundaryPatches()));
        EXPECT_NE(distance, before);
        before = distance;

        const std::vector<float> volume = column(builder, "cellVolume");
        const auto graph = builder.graph();
        ASSERT_EQ(volume.size(), std::size_t(graph->nNodes()));
        for (label celli = 0; celli < mesh.nCells(); ++celli)
        {
            ASSERT_EQ(volume[celli], float(mesh.V()[celli]));
        }
        for (label e = 0; e < graph->nEdges(); ++e)
        {
            const label sender = graph->senders()[e];
            if (sender >= mesh.nCells())
            {
                ASSERT_EQ(volume[sender], float(mesh.V()[graph->receivers()[e]]));
            }
        }
    }
}


INSTANTIATE_TEST_SUITE_P
(
    Cases,
    MeshFeatures,
    testing::Values("cavity", "wedge", "baffle", "refined", "ported"),
    [](const auto& info) { return info.param; }
);


TEST(WallDistance, OfACavityByHand)
{
    // Walls left, right and bottom of 7 x 5 cells
    const foamCase theCase("cavity");
    const graphBuilder builder(theCase.mesh, true);
    const boundBox box(theCase.mesh.points());
    const std::vector<float> distance = column(builder, "wallDistance");

    for (label celli = 0; celli < theCase.mesh.nCells(); ++celli)
    {
        const point& C = theCase.mesh.cellCentres()[celli];
        const scalar expected = min
        (
            min(C.x() - box.min().x(), box.max().x() - C.x()),
            C.y() - box.min().y()
        );
        EXPECT_NEAR(distance[celli], expected, 1e-7) << "cell " << celli;
    }

    // The lid is no wall, its faces are 7 x 1
    ASSERT_EQ(distance.size(), 35u + 24u);
    for (std::size_t row = 35; row < 42; ++row)
    {
        EXPECT_GT(distance[row], 0);
    }
    for (std::size_t row = 42; row < distance.size(); ++row)
    {
        EXPECT_EQ(distance[row], 0);
    }
}


TEST(WallDistance, WithoutAWallIsRefused)
{
    const auto distanceIn = [](const char* name)
    {
        return [name]
        {
            const foamCase theCase(name);
            column(graphBuilder(theCase.mesh, true), "wallDistance");
        };
    };

    EXPECT_THAT
    (
        distanceIn("wallless"),
        testing::ThrowsMessage<inSitu::Error>(HasSubstr("no patch of type wall"))
    );

    // The outer ring and its casing
    EXPECT_THAT
    (
        distanceIn("apart"),
        testing::ThrowsMessage<inSitu::Error>(HasSubstr("are connected with no wall"))
    );
}


TEST(MeshMirror, FeaturesFollowTheMotionAndNothingElse)
{
    foamCase theCase("baffle");
    fvMesh& mesh = theCase.mesh;
    std::vector<std::string> builds;
    const auto mirrored = [&](const std::vector<std::string>& features)
    {
        return std::make_unique<meshMirror>
        (
            mesh,
            std::make_shared<inSitu::SerialComm>(),
            true,
            true,
            "",
            features,
            [](const labelList& patches)
            {
                return std::vector<std::vector<bool>>
                (
                    1, std::vector<bool>(patches.size(), true)
                );
            },
            [&](const std::string& cache, const std::string& reason, double)
            {
                if (cache == "fields")
                {
                    builds.push_back(reason);
                }
            }
        );
    };
    const auto with = mirrored({"wallDistance"});
    const auto without = mirrored({});

    with->update();
    const auto first = with->mesh().state.staticFeatures;
    with->update();
    EXPECT_EQ(with->mesh().state.staticFeatures, first);
    distort(mesh, 0.25);
    with->update();
    EXPECT_NE(*with->mesh().state.staticFeatures, *first);
    with->check();
    EXPECT_THAT(builds, testing::ElementsAre("start", "geometry"));

    builds.clear();
    without->update();
    distort(mesh, 0.125);
    without->update();
    EXPECT_THAT(builds, testing::ElementsAre("start"));
    EXPECT_THAT
    (
        graphBuilder::staticColumns({"U"}, {"cellVolume", "wallDistance"}),
        testing::ElementsAre
        (
            "cell", "wall", "patch", "UFixed", "cellVolume", "wallDistance"
        )
    );
}

// ************************************************************************* //
