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
#include "mapDistribute.H"
#include "polyMesh.H"

#include <algorithm>
#include <numeric>
#include <tuple>

// * * * * * * * * * * * * * * * Local Functions * * * * * * * * * * * * * * //

namespace
{

using namespace Foam;

//- The faces of the other half that the overlaps refer to, wherever they lie
struct otherHalf
{
    labelList rank;
    labelList face;
    labelList cell;

    //- Of the cells, on this side of the interface
    pointField centre;

    explicit otherHalf(const cyclicAMIPolyPatch& patch)
    :
        rank(patch.neighbPatch().size(), Pstream::myProcNo()),
        face(identity(patch.neighbPatch().size())),
        cell(patch.neighbPatch().faceCells()),
        centre(patch.boundaryMesh().mesh().cellCentres(), patch.neighbPatch().faceCells())
    {
        const bool owner = patch.owner();
        const auto& AMI = owner ? patch.AMI() : patch.neighbPatch().AMI();
        if (AMI.singlePatchProc() == -1)
        {
            const mapDistribute& map = owner ? AMI.tgtMap() : AMI.srcMap();
            map.distribute(rank);
            map.distribute(face);
            map.distribute(cell);
            map.distribute(centre);
        }
        patch.transformPosition(centre);
    }

    //- Links on this rank come first, then by rank, cell and face
    auto key(const label i) const
    {
        return std::make_tuple(rank[i] != Pstream::myProcNo(), rank[i], cell[i], face[i]);
    }
};

} // End anonymous namespace


// * * * * * * * * * * * * * * * * Constructors  * * * * * * * * * * * * * * //

Foam::functionObjects::interfaceLinks::interfaceLinks
(
    const cyclicAMIPolyPatch& patch,
    const bool withRemote
)
{
    // Only the owner half has the interpolation
    const bool owner = patch.owner();
    const auto& AMI = owner ? patch.AMI() : patch.neighbPatch().AMI();
    const labelListList& addressing = owner ? AMI.srcAddress() : AMI.tgtAddress();
    const scalarListList& weights = owner ? AMI.srcWeights() : AMI.tgtWeights();

    const otherHalf other(patch);
    const vectorField& centres = patch.boundaryMesh().mesh().cellCentres();
    const labelUList& cells = patch.faceCells();

    // The open part of each face, null: all are open
    const scalarField* mask = nullptr;
    if (isA<cyclicACMIPolyPatch>(patch))
    {
        mask = &refCast<const cyclicACMIPolyPatch>(patch).mask();
    }

    start_.push_back(0);
    allStart_.push_back(0);
    forAll(addressing, facei)
    {
        const labelList& met = addressing[facei];
        const bool open =
            !mask || (*mask)[facei] > cyclicACMIPolyPatch::tolerance();

        std::vector<label> order(open ? met.size() : 0);
        std::iota(order.begin(), order.end(), 0);
        std::sort(order.begin(), order.end(), [&](const label a, const label b)
        {
            return other.key(met[a]) < other.key(met[b]);
        });

        label last = -1;
        for (const label i : order)
        {
            const label link = met[i];
            const bool here = other.rank[link] == Pstream::myProcNo();
            if (!here && !withRemote)
            {
                break;
            }

            // OpenFOAM lists the faces of a badly covered face twice
            const double weight = weights[facei][i]*(mask ? (*mask)[facei] : 1);
            if (last >= 0 && other.key(link) == other.key(last))
            {
                weights_.back() += weight;
                continue;
            }
            last = link;
            if (here)
            {
                faces_.push_back(std::int32_t(other.face[link]));
            }
            else
            {
                remote_.push_back
                ({
                    std::int32_t(cells[facei]),
                    std::int32_t(patch.start() + facei),
                    std::int32_t(other.rank[link]),
                    std::int32_t(other.cell[link])
                });
            }
            const vector way = other.centre[link] - centres[cells[facei]];
            ways_.insert(ways_.end(), {double(way.x()), double(way.y()), double(way.z())});
            weights_.push_back(weight);
        }
        start_.push_back(std::int32_t(faces_.size()));
        allStart_.push_back(std::int32_t(weights_.size()));
    }
}


// * * * * * * * * * * * * * * * Member Functions  * * * * * * * * * * * * * //

inSitu::CoupledDisplacement Foam::functionObjects::interfaceLinks::displacement
(
    const cyclicAMIPolyPatch& patch
) const
{
    return {std::int32_t(patch.start()), ways_, allStart_, weights_};
}

// ************************************************************************* //
