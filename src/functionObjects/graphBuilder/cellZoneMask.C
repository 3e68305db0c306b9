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

#include "cellZoneMask.H"
#include "base/Error.hpp"

// * * * * * * * * * * * * * * * Global Functions  * * * * * * * * * * * * * //

std::vector<double> Foam::functionObjects::cellZoneMask
(
    const polyMesh& mesh,
    const std::string& zone
)
{
    if (zone.empty())
    {
        return {};
    }

    const cellZoneMesh& zones = mesh.cellZones();
    const label zonei = zones.findZoneID(zone);
    if (zonei < 0)
    {
        const wordList names(zones.names());
        throw inSitu::Error
        (
            "cellZone: mesh " + mesh.name() + " has no zone '" + zone + "'; "
          + (
                names.empty()
              ? std::string("it has none at all")
              : "it has "
                  + inSitu::join(std::vector<std::string>(names.begin(), names.end()))
            )
        );
    }
    if (returnReduce(zones[zonei].size(), sumOp<label>()) == 0)
    {
        throw inSitu::Error
        (
            "cellZone: zone '" + zone + "' of mesh " + mesh.name()
          + " has no cells, so there is nothing to learn from"
        );
    }

    std::vector<double> mask(mesh.nCells(), 0);
    for (const label celli : zones[zonei])
    {
        mask[celli] = 1;
    }
    return mask;
}

// ************************************************************************* //
