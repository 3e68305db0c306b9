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

#include "OSspecific.H"
#include "Time.H"
#include "polyMesh.H"
#include "runPaths.H"

using namespace Foam;
namespace runPaths = functionObjects::runPaths;
using testing::EndsWith;

// * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * //

namespace
{

//- A case with a mesh of one region that needs no files
struct RunPaths : testing::Test
{
    Time runTime;

    RunPaths()
    :
        runTime
        (
            Time::controlDictName,
            fileName(cwd().path()),
            fileName(cwd().name()),
            word("system"),
            word("constant"),
            false
        )
    {}

    polyMesh meshOf(const word& region)
    {
        return polyMesh
        (
            IOobject(region, runTime.constant(), runTime),
            pointField(),
            faceList(),
            labelList(),
            labelList(),
            false
        );
    }
};

} // End anonymous namespace


TEST_F(RunPaths, FollowTheConventionsForRegions)
{
    const polyMesh fluid(meshOf(polyMesh::defaultRegion));
    const polyMesh solid(meshOf("solid"));

    EXPECT_EQ(runPaths::objectFolder(fluid, "net"), cwd()/"postProcessing/net");
    EXPECT_EQ(runPaths::objectFolder(solid, "net"), cwd()/"postProcessing/solid/net");
    EXPECT_EQ(runPaths::checkpointFolder(fluid, "net", "0.5"), cwd()/"0.5/uniform/net");
    EXPECT_EQ(runPaths::checkpointFolder(solid, "net", "0.5"), cwd()/"0.5/solid/uniform/net");
}


TEST_F(RunPaths, ARunNeverGetsTheFolderOfAnother)
{
    const polyMesh mesh(meshOf(polyMesh::defaultRegion));
    const fileName base(cwd()/"postProcessing/again");

    for (const char* expected : {"0", "0_1", "0_2"})
    {
        const fileName folder(runPaths::newRunFolder(mesh, "again"));
        EXPECT_EQ(folder, base/expected);
        mkDir(folder);
    }
    rmDir(base);
}


TEST_F(RunPaths, CheckpointsAreNewestFirstAndNotFromTheFuture)
{
    const polyMesh mesh(meshOf(polyMesh::defaultRegion));
    for (const char* name : {"0.1", "0.45", "1.25", "3"})
    {
        mkDir(cwd()/name/"uniform"/"net");
    }
    mkDir(cwd()/"0.45"/"uniform"/"other");
    mkDir(cwd()/"0.9");
    mkDir(cwd()/"constant"/"uniform"/"net");

    const auto places = runPaths::checkpoints(mesh, "net", 1.25);

    ASSERT_EQ(places.size(), 3u);
    EXPECT_EQ(places[0].time, 1.25);
    EXPECT_EQ(places[0].folder, cwd()/"1.25/uniform/net");
    EXPECT_EQ(places[1].time, 0.45);
    EXPECT_EQ(places[2].time, 0.1);

    for (const char* name : {"0.1", "0.45", "0.9", "1.25", "3"})
    {
        rmDir(cwd()/name);
    }
}

// ************************************************************************* //
