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

#include "runPaths.H"
#include "OSspecific.H"
#include "Time.H"
#include "functionObject.H"
#include "polyMesh.H"

// * * * * * * * * * * * * * * * Global Functions  * * * * * * * * * * * * * //

Foam::fileName Foam::functionObjects::runPaths::objectFolder
(
    const polyMesh& mesh,
    const word& object
)
{
    fileName folder(mesh.time().globalPath()/functionObject::outputPrefix);
    if (mesh.name() != polyMesh::defaultRegion)
    {
        folder /= mesh.name();
    }
    folder /= object;
    folder.clean();
    return folder;
}


Foam::scalar Foam::functionObjects::runPaths::nameRounding(const scalar time)
{
    return 1.01*mag(readScalar(Time::timeName(time)) - time) + 1e-9*max(mag(time), SMALL);
}


Foam::fileName Foam::functionObjects::runPaths::newRunFolder
(
    const polyMesh& mesh,
    const word& object
)
{
    const fileName first
    (
        objectFolder(mesh, object)
      / Time::timeName(mesh.time().startTime().value())
    );

    // The master makes it: others may see it or not
    fileName folder(first);
    for (label i = 1; Pstream::master() && isDir(folder); ++i)
    {
        folder = first + '_' + Foam::name(i);
    }
    Pstream::scatter(folder);
    return folder;
}


Foam::fileName Foam::functionObjects::runPaths::checkpointFolder
(
    const polyMesh& mesh,
    const word& object,
    const word& timeName
)
{
    const IOobject io
    (
        object,
        timeName,
        "uniform",
        mesh,
        IOobject::NO_READ,
        IOobject::NO_WRITE,
        false
    );
    fileName folder(fileHandler().objectPath(io, word::null));
    Pstream::scatter(folder);
    return folder;
}


std::vector<inSitu::CheckpointPlace> Foam::functionObjects::runPaths::checkpoints
(
    const polyMesh& mesh,
    const word& object,
    const scalar latest
)
{
    const Time& runTime = mesh.time();

    const scalar tolerance = nameRounding(latest);

    std::vector<inSitu::CheckpointPlace> places;
    instantList times(runTime.times());
    Pstream::scatter(times);
    forAllReverse(times, i)
    {
        const instant& time = times[i];
        if (time.name() != runTime.constant() && time.value() <= latest + tolerance)
        {
            const fileName folder(checkpointFolder(mesh, object, time.name()));
            bool found = Pstream::master() && isDir(folder.path());
            Pstream::scatter(found);
            if (found)
            {
                places.push_back({time.value(), folder});
            }
        }
    }
    return places;
}

// ************************************************************************* //
