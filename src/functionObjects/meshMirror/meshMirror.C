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
#include "rowIds.H"

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

Foam::functionObjects::graphBuilder
Foam::functionObjects::meshMirror::builder() const
{
    return graphBuilder
    (
        mesh_,
        boundaryRows_,
        halo_ && comm_->size() > 1 ? comm_.get() : nullptr
    );
}


Foam::functionObjects::meshMirror::rows
Foam::functionObjects::meshMirror::makeRows() const
{
    const graphBuilder builder(this->builder());

    std::shared_ptr<const std::vector<double>> mask;
    if (!cellZone_.empty())
    {
        mask = std::make_shared<const std::vector<double>>
        (
            cellZoneMask(mesh_, cellZone_)
        );
    }
    const auto inner = builder.inner();
    return
    {
        builder,
        inner,
        builder.hasInterfaces() ? nullptr : builder.graph(inner),
        mask,
        rowIds(mesh_, builder.boundaryPatches()),
        topologyText(mesh_),
        builder.placeOfRow()
    };
}


inSitu::CaseMesh Foam::functionObjects::meshMirror::refresh()
{
    const geometryKey geometry{changes_.topology, changes_.geometry};

    const rows& topology =
        topology_.get({changes_.topology}, [this] { return makeRows(); });
    const graphBuilder& builder = topology.builder;

    inSitu::CaseMesh result;
    result.text = topology.text;
    result.placeOfRow = topology.placeOfRow;

    inSitu::MeshState& state = result.state;
    state.inner = topology.inner;
    state.cellMask = topology.cellMask;
    state.ids = topology.ids;
    state.graph =
        builder.hasInterfaces()
      ? interface_.get(geometry, [&] { return builder.graph(topology.inner); })
      : topology.graph;
    state.geometry =
        geometry_.get(geometry, [&] { return builder.geometry(*state.graph); });

    const fieldsKey fields
    {
        changes_.topology,
        features_.empty() ? -1 : changes_.geometry,
        fixed_(builder.boundaryPatches())
    };
    state.staticFeatures = fields_.get
    (
        fields,
        [&]
        {
            return builder.staticFeatures(*topology.inner, fields.fixed, features_);
        }
    );
    return result;
}


// * * * * * * * * * * * * * * * * Constructors  * * * * * * * * * * * * * * //

Foam::functionObjects::meshMirror::meshMirror
(
    const fvMesh& mesh,
    std::shared_ptr<inSitu::Comm> comm,
    const bool boundaryRows,
    const bool halo,
    const std::string& cellZone,
    const std::vector<std::string>& features,
    const fixedFunction& fixed,
    const inSitu::CountBuild& count
)
:
    mesh_(mesh),
    boundaryRows_(boundaryRows),
    cellZone_(cellZone),
    features_(features),
    fixed_(fixed),
    comm_(std::move(comm)),
    halo_(halo),
    stamps_{-1, -1, -1},
    changes_{0, 0, 0},
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

    double changed[3] =
    {
        double(stamps_.topology != before.topology),
        double(stamps_.geometry != before.geometry),
        double(stamps_.lineage != before.lineage)
    };
    comm_->max(inSitu::Span<double>(changed, 3));
    changes_.topology += label(changed[0]);
    changes_.geometry += label(changed[1]);
    mapped_ = changed[2] == 0;

    if (changed[0] == 0 && changed[1] == 0)
    {
        return change::none;
    }
    now_ = refresh();
    return changed[0] == 0 ? change::geometry : change::topology;
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
        fixed_(fresh.builder.boundaryPatches()),
        features_
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
