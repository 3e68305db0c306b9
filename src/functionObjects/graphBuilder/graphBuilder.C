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
#include "base/Error.hpp"
#include "cyclicFvPatch.H"
#include "emptyFvPatch.H"
#include "haloLinks.H"
#include "interfaceLinks.H"
#include "labels32.H"
#include "processorFvPatch.H"
#include "surfaceFields.H"
#include "volFields.H"
#include "wallDistance.H"
#include "wallFvPatch.H"
#include "wedgeFvPatch.H"

#include <limits>
#include <memory>

// * * * * * * * * * * * * * * * Local Functions * * * * * * * * * * * * * * //

namespace
{

using namespace Foam;

const int nKinds = 3;


[[noreturn]] void refuse(const fvPatch& patch, const std::string& what)
{
    throw inSitu::Error
    (
        "patch " + patch.name() + " of type " + patch.patch().type() + ": " + what
      + " are not supported yet"
    );
}


void append(std::vector<double>& values, const UList<vector>& vectors)
{
    for (const vector& v : vectors)
    {
        values.insert(values.end(), {double(v.x()), double(v.y()), double(v.z())});
    }
}

} // End anonymous namespace


// * * * * * * * * * * * * * Private Member Functions  * * * * * * * * * * * //

Foam::scalarField Foam::functionObjects::graphBuilder::cellVolume() const
{
    const scalarField& volumes = mesh_.cellVolumes();
    DynamicList<scalar> result(volumes);
    for (const label patchi : boundaryPatches_)
    {
        result.append(scalarField(volumes, mesh_.boundary()[patchi].faceCells()));
    }
    return scalarField(std::move(result));
}


// * * * * * * * * * * * * * * * * Constructors  * * * * * * * * * * * * * * //

Foam::functionObjects::graphBuilder::graphBuilder
(
    const fvMesh& mesh,
    const bool boundaryRows,
    const inSitu::Comm* ranks
)
:
    mesh_(mesh),
    ranks_(ranks)
{
    if (mesh.nFaces() > std::numeric_limits<std::int32_t>::max()/2)
    {
        throw inSitu::Error
        (
            "meshes with more than 2^30 faces per process are not supported;"
            " use more processes"
        );
    }

    for (const fvPatch& patch : mesh.boundary())
    {
        if (patch.patch().type() == "cyclicPeriodicAMI")
        {
            refuse(patch, "interfaces that repeat one of their sides");
        }
        else if (isA<cyclicAMIPolyPatch>(patch.patch()))
        {
            interfacePatches_.append(patch.index());
        }
        else if (isA<cyclicFvPatch>(patch))
        {
            cyclicPatches_.append(patch.index());
        }
        else if (isA<processorFvPatch>(patch))
        {
            // Cut faces: see haloLinks
        }
        else if (patch.coupled() || patch.patch().type() == "overset")
        {
            refuse(patch, "patches with this coupling");
        }
        else if
        (
            boundaryRows
         && !isA<emptyFvPatch>(patch)
         && !isA<wedgeFvPatch>(patch)
        )
        {
            boundaryPatches_.append(patch.index());
        }
    }
}


// * * * * * * * * * * * * * * * Member Functions  * * * * * * * * * * * * * //

std::shared_ptr<const inSitu::MeshGraph>
Foam::functionObjects::graphBuilder::inner() const
{
    const fvBoundaryMesh& patches = mesh_.boundary();

    // The views of the patches have to outlive the call below
    std::vector<labels32> held;
    held.reserve(boundaryPatches_.size() + 2*cyclicPatches_.size());
    const auto cellsOf = [&held](const fvPatch& patch)
    {
        held.emplace_back(patch.faceCells());
        return held.back().view();
    };

    std::vector<inSitu::BoundaryPatch> boundary;
    for (const label patchi : boundaryPatches_)
    {
        const fvPatch& patch = patches[patchi];
        boundary.push_back({std::int32_t(patch.start()), cellsOf(patch)});
    }

    std::vector<inSitu::CoupledPatch> coupled;
    for (const label patchi : cyclicPatches_)
    {
        const auto& patch = refCast<const cyclicFvPatch>(patches[patchi]);
        coupled.push_back
        ({
            std::int32_t(patch.start()),
            cellsOf(patch),
            cellsOf(patches[patch.neighbPatchID()]),
            std::int32_t(patches[patch.neighbPatchID()].start())
        });
    }

    const labels32 owner
    (
        SubList<label>(mesh_.faceOwner(), mesh_.nInternalFaces())
    );
    const labels32 neighbour(mesh_.faceNeighbour());

    return std::make_shared<const inSitu::MeshGraph>
    (
        inSitu::MeshGraph::fromFaces
        (
            std::int32_t(mesh_.nCells()),
            owner.view(),
            neighbour.view(),
            boundary,
            coupled
        )
    );
}


std::shared_ptr<const inSitu::MeshGraph>
Foam::functionObjects::graphBuilder::graph
(
    const std::shared_ptr<const inSitu::MeshGraph>& inner
) const
{
    if (!hasInterfaces() && !ranks_)
    {
        return inner;
    }

    std::vector<interfaceLinks> links;
    std::vector<labels32> cells;
    std::vector<labels32> neighbourCells;
    std::vector<inSitu::CoupledPatch> coupled;
    links.reserve(interfacePatches_.size());
    for (const label patchi : interfacePatches_)
    {
        const auto& patch =
            refCast<const cyclicAMIPolyPatch>(mesh_.boundaryMesh()[patchi]);
        const polyPatch& nbrPatch = patch.neighbPatch();

        links.emplace_back(patch, ranks_ != nullptr);
        cells.emplace_back(patch.faceCells());
        neighbourCells.emplace_back(nbrPatch.faceCells());
        coupled.push_back
        ({
            std::int32_t(patch.start()),
            cells.back().view(),
            neighbourCells.back().view(),
            std::int32_t(nbrPatch.start()),
            links.back().start(),
            links.back().faces()
        });
    }

    const inSitu::MeshGraph here(inner->withCoupled(coupled));
    return std::make_shared<const inSitu::MeshGraph>
    (
        ranks_ ? here.withHalo(haloLinks(mesh_, links), *ranks_) : here
    );
}


std::shared_ptr<const inSitu::MeshGeometry>
Foam::functionObjects::graphBuilder::geometry
(
    const inSitu::MeshGraph& graph
) const
{
    const fvBoundaryMesh& patches = mesh_.boundary();

    std::vector<double> centres;
    centres.reserve(3*std::size_t(graph.nNodes()));
    append(centres, mesh_.cellCentres());
    for (const label patchi : boundaryPatches_)
    {
        append(centres, patches[patchi].patch().faceCentres());
    }

    const scalarField& volumes = mesh_.cellVolumes();

    std::vector<int> directions;
    for (direction d = 0; d < vector::nComponents; ++d)
    {
        if (mesh_.geometricD()[d] > 0)
        {
            directions.push_back(d);
        }
    }

    std::vector<std::vector<double>> deltas;
    std::vector<interfaceLinks> links;
    std::vector<inSitu::CoupledDisplacement> displacements;
    deltas.reserve(cyclicPatches_.size());
    links.reserve(interfacePatches_.size());
    for (const label patchi : cyclicPatches_)
    {
        const fvPatch& patch = patches[patchi];
        deltas.emplace_back();
        append(deltas.back(), patch.delta()());
        displacements.push_back({std::int32_t(patch.start()), deltas.back()});
    }
    for (const label patchi : interfacePatches_)
    {
        const auto& patch =
            refCast<const cyclicAMIPolyPatch>(mesh_.boundaryMesh()[patchi]);
        links.emplace_back(patch, ranks_ != nullptr);
        displacements.push_back(links.back().displacement(patch));
    }
    const std::vector<std::vector<double>> ways(haloWays(mesh_));
    if (graph.halo())
    {
        const auto cut = haloDisplacements(mesh_, ways);
        displacements.insert(displacements.end(), cut.begin(), cut.end());
    }

    return std::make_shared<const inSitu::MeshGeometry>
    (
        inSitu::makeGeometry
        (
            graph,
            std::move(centres),
            std::vector<double>(volumes.begin(), volumes.end()),
            std::move(directions),
            displacements,
            hasInterfaces()
        )
    );
}


std::shared_ptr<const std::vector<float>>
Foam::functionObjects::graphBuilder::staticFeatures
(
    const inSitu::MeshGraph& graph,
    const std::vector<std::vector<bool>>& fixed,
    const std::vector<std::string>& names
) const
{
    const std::size_t firstFeature = nKinds + fixed.size();
    const std::size_t nColumns = firstFeature + names.size();
    const auto features = std::make_shared<std::vector<float>>
    (
        graph.nNodes()*nColumns,
        0.0f
    );
    float* row = features->data();

    for (label celli = 0; celli < mesh_.nCells(); ++celli, row += nColumns)
    {
        row[0] = 1;
    }

    forAll(boundaryPatches_, i)
    {
        const fvPatch& patch = mesh_.boundary()[boundaryPatches_[i]];
        const int kind = isA<wallFvPatch>(patch) ? 1 : 2;

        for (label facei = 0; facei < patch.size(); ++facei, row += nColumns)
        {
            row[kind] = 1;
            for (std::size_t field = 0; field < fixed.size(); ++field)
            {
                row[nKinds + field] = fixed[field][i];
            }
        }
    }

    for (std::size_t i = 0; i < names.size(); ++i)
    {
        const scalarField values
        (
            names[i] == "wallDistance"
          ? wallDistance(mesh_, boundaryPatches_)
          : cellVolume()
        );
        float* value = features->data() + firstFeature + i;
        for (const scalar v : values)
        {
            *value = float(v);
            value += nColumns;
        }
    }

    return features;
}


std::vector<std::string> Foam::functionObjects::graphBuilder::staticColumns
(
    const std::vector<std::string>& fieldNames,
    const std::vector<std::string>& features
)
{
    std::vector<std::string> columns{"cell", "wall", "patch"};
    for (const std::string& name : fieldNames)
    {
        columns.push_back(name + "Fixed");
    }
    columns.insert(columns.end(), features.begin(), features.end());
    return columns;
}


std::function<std::string(std::int64_t)>
Foam::functionObjects::graphBuilder::placeOfRow() const
{
    struct block
    {
        std::string name;
        std::int64_t size;
    };

    std::vector<block> blocks;
    for (const label patchi : boundaryPatches_)
    {
        const fvPatch& patch = mesh_.boundary()[patchi];
        blocks.push_back({patch.name(), patch.size()});
    }

    return [nCells = std::int64_t(mesh_.nCells()), blocks](std::int64_t row)
    {
        if (row < nCells)
        {
            return "cell " + std::to_string(row);
        }

        std::int64_t facei = row - nCells;
        for (const block& patch : blocks)
        {
            if (facei < patch.size)
            {
                return "patch " + patch.name + " face " + std::to_string(facei);
            }
            facei -= patch.size;
        }
        return "row " + std::to_string(row);
    };
}

// ************************************************************************* //
