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
#include "processorCyclicPolyPatch.H"

// * * * * * * * * * * * * * * * Global Functions  * * * * * * * * * * * * * //

std::string Foam::functionObjects::topologyText(const polyMesh& mesh)
{
    // Cut faces were internal, and are there on both sides, or belong to a cyclic patch
    const polyBoundaryMesh& patches = mesh.boundaryMesh();
    labelList sizes(patches.nNonProcessor(), Zero);
    label nCut = 0;
    for (const polyPatch& patch : patches)
    {
        if (isA<processorCyclicPolyPatch>(patch))
        {
            sizes[refCast<const processorCyclicPolyPatch>(patch).referPatchID()] +=
                patch.size();
        }
        else
        {
            (isA<processorPolyPatch>(patch) ? nCut : sizes[patch.index()]) +=
                patch.size();
        }
    }
    Pstream::listCombineGather(sizes, plusEqOp<label>());
    Pstream::listCombineScatter(sizes);
    const auto total = [](const label size)
    {
        return returnReduce(size, sumOp<label>());
    };

    std::string text =
        std::to_string(total(mesh.nCells())) + " cells, "
      + std::to_string(total(mesh.nInternalFaces()) + total(nCut)/2)
      + " internal faces, patches";
    forAll(sizes, patchi)
    {
        text += ' ' + patches[patchi].name() + '(' + patches[patchi].type() + ' '
          + std::to_string(sizes[patchi]) + ')';
    }
    return text;
}

// ************************************************************************* //
