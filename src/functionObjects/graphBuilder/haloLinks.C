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

#include "haloLinks.H"

#include "processorFvPatch.H"
#include "syncTools.H"

#include <algorithm>

// * * * * * * * * * * * * * * * Local Functions * * * * * * * * * * * * * * //

namespace
{

using namespace Foam;

template<class Body>
void forProcessorPatches(const fvMesh& mesh, const Body& body)
{
    for (const fvPatch& patch : mesh.boundary())
    {
        if (isA<processorFvPatch>(patch))
        {
            body(refCast<const processorFvPatch>(patch));
        }
    }
}

} // End anonymous namespace


// * * * * * * * * * * * * * * * Global Functions  * * * * * * * * * * * * * //


std::vector<inSitu::HaloLink>
Foam::functionObjects::haloLinks
(
    const fvMesh& mesh,
    const std::vector<interfaceLinks>& interfaces
)
{
    labelList behind;
    syncTools::swapBoundaryCellList(mesh, identity(mesh.nCells()), behind);

    std::vector<inSitu::HaloLink> links;
    forProcessorPatches(mesh, [&](const processorFvPatch& patch)
    {
        const labelUList& cells = patch.faceCells();
        forAll(cells, facei)
        {
            const label meshFacei = patch.start() + facei;
            links.push_back
            ({
                std::int32_t(cells[facei]),
                std::int32_t(meshFacei),
                std::int32_t(patch.neighbProcNo()),
                std::int32_t(behind[meshFacei - mesh.nInternalFaces()])
            });
        }
    });
    for (const interfaceLinks& interface : interfaces)
    {
        links.insert(links.end(), interface.remote().begin(), interface.remote().end());
    }
    std::stable_sort
    (
        links.begin(),
        links.end(),
        [](const inSitu::HaloLink& a, const inSitu::HaloLink& b)
        {
            return a.rank < b.rank;
        }
    );
    return links;
}


std::vector<std::vector<double>>
Foam::functionObjects::haloWays(const fvMesh& mesh)
{
    std::vector<std::vector<double>> ways;
    forProcessorPatches(mesh, [&](const processorFvPatch& patch)
    {
        const vectorField deltas(patch.delta());
        ways.emplace_back();
        for (const vector& way : deltas)
        {
            ways.back().insert
            (
                ways.back().end(),
                {double(way.x()), double(way.y()), double(way.z())}
            );
        }
    });
    return ways;
}


std::vector<inSitu::CoupledDisplacement>
Foam::functionObjects::haloDisplacements
(
    const fvMesh& mesh,
    const std::vector<std::vector<double>>& ways
)
{
    std::vector<inSitu::CoupledDisplacement> displacements;
    forProcessorPatches(mesh, [&](const processorFvPatch& patch)
    {
        displacements.push_back
        ({
            std::int32_t(patch.start()),
            ways[displacements.size()]
        });
    });
    return displacements;
}

// ************************************************************************* //
