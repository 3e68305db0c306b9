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

#include "meshMirror.H"
#include "base/Error.hpp"
#include "cellZoneMask.H"

// * * * * * * * * * * * * * * * Local Functions * * * * * * * * * * * * * * //

namespace
{

template<class Value>
std::string firstDifference
(
    const std::vector<Value>& held,
    const std::vector<Value>& fresh,
    const std::string& what
)
{
    if (held.size() != fresh.size())
    {
        return
            "there are " + std::to_string(held.size()) + ' ' + what
          + " values, a fresh build gives " + std::to_string(fresh.size());
    }
    for (std::size_t i = 0; i < held.size(); ++i)
    {
        if (!(held[i] == fresh[i]))
        {
            return
                what + ' ' + std::to_string(i) + " is " + std::to_string(held[i])
              + ", a fresh build gives " + std::to_string(fresh[i]);
        }
    }
    return std::string();
}

} // End anonymous namespace


// * * * * * * * * * * * * * Private Member Functions  * * * * * * * * * * * //

Foam::functionObjects::meshMirror::rows
Foam::functionObjects::meshMirror::makeRows() const
{
    const graphBuilder builder(mesh_, boundaryRows_);

    std::shared_ptr<const std::vector<double>> mask;
    if (!cellZone_.empty())
    {
        mask = std::make_shared<const std::vector<double>>
        (
            cellZoneMask(mesh_, cellZone_)
        );
    }
    return
    {
        builder,
        builder.inner(),
        mask,
        topologyText(mesh_),
        builder.placeOfRow()
    };
}


inSitu::CaseMesh Foam::functionObjects::meshMirror::refresh()
{
    const geometryKey geometry{stamps_.topology, stamps_.geometry};

    const rows& topology =
        topology_.get({stamps_.topology}, [this] { return makeRows(); });
    const graphBuilder& builder = topology.builder;

    inSitu::CaseMesh result;
    result.text = topology.text;
    result.placeOfRow = topology.placeOfRow;

    inSitu::MeshState& state = result.state;
    state.inner = topology.inner;
    state.cellMask = topology.cellMask;
    state.graph =
        builder.hasInterfaces()
      ? interface_.get(geometry, [&] { return builder.graph(topology.inner); })
      : topology.inner;
    state.geometry =
        geometry_.get(geometry, [&] { return builder.geometry(*state.graph); });

    const fieldsKey fields{stamps_.topology, fixed_(builder.boundaryPatches())};
    state.staticFeatures = fields_.get
    (
        fields,
        [&] { return builder.staticFeatures(*topology.inner, fields.fixed); }
    );
    return result;
}


// * * * * * * * * * * * * * * * * Constructors  * * * * * * * * * * * * * * //

Foam::functionObjects::meshMirror::meshMirror
(
    const fvMesh& mesh,
    const bool boundaryRows,
    const std::string& cellZone,
    const fixedFunction& fixed,
    const inSitu::CountBuild& count
)
:
    mesh_(mesh),
    boundaryRows_(boundaryRows),
    cellZone_(cellZone),
    fixed_(fixed),
    stamps_{-1, -1, -1},
    topology_("topology", count),
    interface_("interface", count),
    fields_("fields", count),
    geometry_("geometry", count),
    mapped_(false)
{}


// * * * * * * * * * * * * * * * Member Functions  * * * * * * * * * * * * * //

Foam::functionObjects::meshMirror::change
Foam::functionObjects::meshMirror::update()
{
    const meshStamps before = stamps_;
    stamps_ = meshStamps::of(mesh_);
    mapped_ = stamps_.lineage == before.lineage;

    if (stamps_.topology == before.topology && stamps_.geometry == before.geometry)
    {
        return change::none;
    }
    now_ = refresh();
    return
        stamps_.topology == before.topology ? change::geometry : change::topology;
}


void Foam::functionObjects::meshMirror::check() const
{
    const auto require =
        [this](const std::string& cache, const std::string& difference)
    {
        if (!difference.empty())
        {
            throw inSitu::Error
            (
                "selfCheck: cache " + cache + " of mesh " + mesh_.name()
              + " is stale (topology stamp " + std::to_string(stamps_.topology)
              + ", geometry stamp " + std::to_string(stamps_.geometry) + "): "
              + difference
            );
        }
    };

    const inSitu::MeshState& held = now_.state;
    const rows fresh(makeRows());
    require("topology", inSitu::firstDifference(*held.inner, *fresh.inner));
    if (held.cellMask)
    {
        require
        (
            "topology",
            firstDifference(*held.cellMask, *fresh.cellMask, "mask of cell")
        );
    }

    const auto graph = fresh.builder.graph(fresh.inner);
    require("interface", inSitu::firstDifference(*held.graph, *graph));

    const auto features = fresh.builder.staticFeatures
    (
        *fresh.inner,
        fixed_(fresh.builder.boundaryPatches())
    );
    require
    (
        "fields",
        firstDifference(*held.staticFeatures, *features, "static feature")
    );

    const auto geometry = fresh.builder.geometry(*graph);
    require("geometry", inSitu::firstDifference(*held.geometry, *geometry));
}

// ************************************************************************* //
