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

#include "rowIds.H"

#include "globalIndex.H"
#include "labelIOList.H"

// * * * * * * * * * * * * * * * Local Functions * * * * * * * * * * * * * * //

namespace
{

using namespace Foam;

//- Empty if there is none of the present topology
labelList addressing(const fvMesh& mesh, const word& name, const label size)
{
    IOobject io
    (
        name,
        mesh.facesInstance(),
        polyMesh::meshSubDir,
        mesh,
        IOobject::READ_IF_PRESENT,
        IOobject::NO_WRITE,
        false
    );
    if (!returnReduce(io.typeHeaderOk<labelIOList>(true), andOp<bool>()))
    {
        return labelList();
    }
    labelIOList list(io);
    return returnReduce(list.size() == size, andOp<bool>())
      ? labelList(std::move(list))
      : labelList();
}


//- Of the faces of the patches, in their order
labelList facesOf(const fvMesh& mesh, const labelList& patches)
{
    labelList faces;
    for (const label patchi : patches)
    {
        const polyPatch& patch = mesh.boundaryMesh()[patchi];
        faces.append(identity(patch.size(), patch.start()));
    }
    return faces;
}

} // End anonymous namespace


// * * * * * * * * * * * * * * * Global Functions  * * * * * * * * * * * * * //


std::shared_ptr<const inSitu::RowIds> Foam::functionObjects::rowIds
(
    const fvMesh& mesh,
    const labelList& boundaryPatches
)
{
    if (!Pstream::parRun())
    {
        return nullptr;
    }
    const labelList cells(addressing(mesh, "cellProcAddressing", mesh.nCells()));
    const labelList faces(addressing(mesh, "faceProcAddressing", mesh.nFaces()));
    const labelList rows(facesOf(mesh, boundaryPatches));

    const auto ids = std::make_shared<inSitu::RowIds>();
    ids->undecomposed = returnReduce
    (
        cells.size() == mesh.nCells() && faces.size() == mesh.nFaces(),
        andOp<bool>()
    );
    ids->cells.reserve(mesh.nCells());
    ids->faces.reserve(rows.size());
    if (ids->undecomposed)
    {
        ids->cells.assign(cells.begin(), cells.end());
        for (const label facei : rows)
        {
            // Counted from 1, negative where the face was turned
            ids->faces.push_back(mag(faces[facei]) - 1);
        }
        return ids;
    }

    const globalIndex globalCells(mesh.nCells());
    const globalIndex globalFaces(rows.size());
    for (label celli = 0; celli < mesh.nCells(); ++celli)
    {
        ids->cells.push_back(globalCells.toGlobal(celli));
    }
    forAll(rows, i)
    {
        ids->faces.push_back(globalFaces.toGlobal(i));
    }
    return ids;
}

// ************************************************************************* //
