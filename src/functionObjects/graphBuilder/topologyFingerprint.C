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

#include "graphBuilder.H"
#include "SHA1.H"
#include "labels32.H"

// * * * * * * * * * * * * * * * Local Functions * * * * * * * * * * * * * * //

namespace
{

void append(Foam::SHA1& hash, const Foam::labelUList& labels)
{
    const Foam::functionObjects::labels32 indices(labels);
    const auto view = indices.view();
    hash.append
    (
        reinterpret_cast<const char*>(view.data()),
        view.size()*sizeof(view[0])
    );
}

} // End anonymous namespace


// * * * * * * * * * * * * * * * Global Functions  * * * * * * * * * * * * * //

std::string Foam::functionObjects::topologyFingerprint(const polyMesh& mesh)
{
    SHA1 hash;
    append(hash, mesh.faceOwner());
    append(hash, mesh.faceNeighbour());
    hash.append(topologyText(mesh));
    return hash.str();
}


std::string Foam::functionObjects::topologyText(const polyMesh& mesh)
{
    std::string text =
        std::to_string(mesh.nCells()) + " cells, "
      + std::to_string(mesh.nInternalFaces()) + " internal faces, patches";

    for (const polyPatch& patch : mesh.boundaryMesh())
    {
        text += ' ' + patch.name() + '(' + patch.type() + ' '
          + std::to_string(patch.size()) + ')';
    }
    return text;
}

// ************************************************************************* //
