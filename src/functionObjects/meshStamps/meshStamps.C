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

#include "meshStamps.H"

// * * * * * * * * * * * * * * Static Data Members * * * * * * * * * * * * * //

namespace Foam
{
namespace functionObjects
{
    defineTypeNameAndDebug(topologyStamp, 0);
    defineTypeNameAndDebug(geometryStamp, 0);
    defineTypeNameAndDebug(lineageStamp, 0);
}
}


// * * * * * * * * * * * * * * * Local Functions * * * * * * * * * * * * * * //

namespace
{

// Never given twice, whatever the mesh
Foam::label newStamp()
{
    static Foam::label last = 0;
    return ++last;
}

} // End anonymous namespace


// * * * * * * * * * * * * * * * * Constructors  * * * * * * * * * * * * * * //

Foam::functionObjects::topologyStamp::topologyStamp(const fvMesh& mesh)
:
    MeshObject<fvMesh, Foam::TopologicalMeshObject, topologyStamp>(mesh),
    stamp_(newStamp())
{}


Foam::functionObjects::geometryStamp::geometryStamp(const fvMesh& mesh)
:
    MeshObject<fvMesh, Foam::GeometricMeshObject, geometryStamp>(mesh),
    stamp_(newStamp())
{}


Foam::functionObjects::lineageStamp::lineageStamp(const fvMesh& mesh)
:
    MeshObject<fvMesh, Foam::UpdateableMeshObject, lineageStamp>(mesh),
    stamp_(newStamp())
{}


// * * * * * * * * * * * * * * Static Functions  * * * * * * * * * * * * * * //

Foam::functionObjects::meshStamps
Foam::functionObjects::meshStamps::of(const fvMesh& mesh)
{
    return
    {
        topologyStamp::New(mesh).stamp(),
        geometryStamp::New(mesh).stamp(),
        lineageStamp::New(mesh).stamp()
    };
}

// ************************************************************************* //
