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

#include "wallDistance.H"
#include "base/Error.hpp"
#include "patchWave.H"
#include "wallPolyPatch.H"

// * * * * * * * * * * * * * * * Global Functions  * * * * * * * * * * * * * //

Foam::scalarField Foam::functionObjects::wallDistance
(
    const polyMesh& mesh,
    const labelList& patches
)
{
    const polyBoundaryMesh& boundary = mesh.boundaryMesh();
    const labelHashSet walls(boundary.findPatchIDs<wallPolyPatch>());
    if (walls.empty())
    {
        throw inSitu::Error
        (
            "features: wallDistance has no meaning on mesh " + mesh.name()
          + ", which has no patch of type wall; leave it out"
        );
    }

    const patchWave wave(mesh, walls, true);
    DynamicList<scalar> distance(wave.distance());
    for (const label patchi : patches)
    {
        distance.append
        (
            walls.found(patchi)
          ? scalarField(boundary[patchi].size(), Zero)
          : wave.patchDistance()[patchi]
        );
    }

    // What the wave did not reach is below 0
    label nUnset = 0;
    for (const scalar value : distance)
    {
        nUnset += value < 0;
    }
    if (nUnset > 0)
    {
        throw inSitu::Error
        (
            "features: wallDistance: " + std::to_string(nUnset) + " cells and faces of mesh "
          + mesh.name() + " are connected with no wall; leave it out"
        );
    }
    return scalarField(std::move(distance));
}

// ************************************************************************* //
