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

#include "foamCase.H"
#include "mapPolyMesh.H"
#include "meshStamps.H"

#include <gtest/gtest.h>

using namespace Foam;
using functionObjects::meshStamps;

// * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * //

TEST(MeshStamps, StayWhileTheMeshStays)
{
    foamCase theCase("cavity");
    const meshStamps first(meshStamps::of(theCase.mesh));

    for (int step = 0; step < 3; ++step)
    {
        theCase.runTime++;
        const meshStamps now(meshStamps::of(theCase.mesh));
        EXPECT_EQ(now.topology, first.topology);
        EXPECT_EQ(now.geometry, first.geometry);
    }
}


TEST(MeshStamps, MotionChangesGeometryOnly)
{
    foamCase theCase("cavity");
    meshStamps last(meshStamps::of(theCase.mesh));

    for (int step = 0; step < 3; ++step)
    {
        theCase.mesh.movePoints(pointField(1.1*theCase.mesh.points()));
        const meshStamps now(meshStamps::of(theCase.mesh));
        EXPECT_EQ(now.topology, last.topology);
        EXPECT_NE(now.geometry, last.geometry);
        last = now;
    }
}


TEST(MeshStamps, AClearedTopologyChangesBoth)
{
    foamCase theCase("cavity");
    const meshStamps first(meshStamps::of(theCase.mesh));

    theCase.mesh.clearOut();
    const meshStamps now(meshStamps::of(theCase.mesh));

    EXPECT_NE(now.topology, first.topology);
    EXPECT_NE(now.geometry, first.geometry);
}


TEST(MeshStamps, OneMeshKnowsNothingOfAnother)
{
    foamCase moving("cavity");
    foamCase still("wedge");
    const meshStamps first(meshStamps::of(still.mesh));

    moving.mesh.movePoints(pointField(2*moving.mesh.points()));
    moving.mesh.clearOut();

    EXPECT_EQ(meshStamps::of(still.mesh).geometry, first.geometry);
    EXPECT_EQ(meshStamps::of(still.mesh).topology, first.topology);
    EXPECT_NE(meshStamps::of(moving.mesh).topology, first.topology);
}

// ************************************************************************* //
