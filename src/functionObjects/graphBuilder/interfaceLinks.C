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

#include "interfaceLinks.H"
#include "cyclicACMIPolyPatch.H"
#include "polyMesh.H"

#include <algorithm>
#include <numeric>
#include <tuple>

// * * * * * * * * * * * * * * * * Constructors  * * * * * * * * * * * * * * //

Foam::functionObjects::interfaceLinks::interfaceLinks
(
    const cyclicAMIPolyPatch& patch
)
{
    // Only the owner half has the interpolation
    const bool owner = patch.owner();
    const auto& AMI = owner ? patch.AMI() : patch.neighbPatch().AMI();
    const labelListList& addressing = owner ? AMI.srcAddress() : AMI.tgtAddress();
    const scalarListList& weights = owner ? AMI.srcWeights() : AMI.tgtWeights();
    const labelUList& cells = patch.neighbPatch().faceCells();

    // The open part of each face, null: all are open
    const scalarField* mask = nullptr;
    if (isA<cyclicACMIPolyPatch>(patch))
    {
        mask = &refCast<const cyclicACMIPolyPatch>(patch).mask();
    }

    start_.push_back(0);
    forAll(addressing, facei)
    {
        const labelList& met = addressing[facei];
        const bool open =
            !mask || (*mask)[facei] > cyclicACMIPolyPatch::tolerance();

        std::vector<label> order(open ? met.size() : 0);
        std::iota(order.begin(), order.end(), 0);
        std::sort(order.begin(), order.end(), [&](const label a, const label b)
        {
            return std::tie(cells[met[a]], met[a]) < std::tie(cells[met[b]], met[b]);
        });

        label last = -1;
        for (const label i : order)
        {
            const double weight = weights[facei][i]*(mask ? (*mask)[facei] : 1);

            // OpenFOAM lists the faces of a badly covered face twice
            if (met[i] == last)
            {
                weights_.back() += weight;
                continue;
            }
            last = met[i];
            faces_.push_back(std::int32_t(last));
            weights_.push_back(weight);
        }
        start_.push_back(std::int32_t(faces_.size()));
    }
}


// * * * * * * * * * * * * * * * Member Functions  * * * * * * * * * * * * * //

Foam::vectorField Foam::functionObjects::interfaceLinks::ways
(
    const cyclicAMIPolyPatch& patch
) const
{
    const vectorField& centres = patch.boundaryMesh().mesh().cellCentres();
    const labelUList& cells = patch.faceCells();
    const labelUList& nbrCells = patch.neighbPatch().faceCells();

    // On this side of the interface
    pointField nbrCentres(centres, nbrCells);
    patch.transformPosition(nbrCentres);

    vectorField result(label(faces_.size()));
    forAll(cells, facei)
    {
        for (std::int32_t link = start_[facei]; link < start_[facei + 1]; ++link)
        {
            result[link] = nbrCentres[faces_[link]] - centres[cells[facei]];
        }
    }
    return result;
}

// ************************************************************************* //
