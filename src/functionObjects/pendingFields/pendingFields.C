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

#include "pendingFields.H"
#include "base/Error.hpp"
#include "calculatedFvPatchField.H"

#include <algorithm>

// * * * * * * * * * * * * * * * Local Functions * * * * * * * * * * * * * * //

namespace
{

const char* const input = "Input";
const char* const target = "Target";
const std::string noteStart("pending input of ");

} // End anonymous namespace


// * * * * * * * * * * * * * Private Member Functions  * * * * * * * * * * * //

Foam::word Foam::functionObjects::pendingFields::fieldName
(
    const label place,
    const char* kind,
    const label column
) const
{
    return
        owner_ + "Pending" + Foam::name(place) + kind + Foam::name(column);
}


Foam::volScalarField& Foam::functionObjects::pendingFields::field
(
    const word& name
) const
{
    const objectRegistry& registry = mesh_.thisDb();
    if (auto* known = registry.getObjectPtr<volScalarField>(name))
    {
        return *known;
    }

    auto* made = new volScalarField
    (
        IOobject
        (
            name,
            mesh_.time().timeName(),
            registry,
            IOobject::NO_READ,
            IOobject::NO_WRITE
        ),
        mesh_,
        dimensionedScalar(dimless, Zero)
    );
    made->note() = noteStart + owner_;
    regIOobject::store(made);
    return *made;
}


Foam::label Foam::functionObjects::pendingFields::placeOf
(
    const label timeIndex
) const
{
    const auto place = std::find(places_.begin(), places_.end(), timeIndex);
    return place == places_.end() ? -1 : place - places_.begin();
}


Foam::label Foam::functionObjects::pendingFields::freePlace()
{
    const label place = placeOf(-1);
    if (place >= 0)
    {
        return place;
    }
    places_.push_back(-1);
    return places_.size() - 1;
}


void Foam::functionObjects::pendingFields::store
(
    const label place,
    const char* kind,
    const std::vector<double>& values,
    const label nColumns,
    const labelList& patches
) const
{
    for (label c = 0; c < nColumns; ++c)
    {
        volScalarField& column = field(fieldName(place, kind, c));

        const double* value = values.data() + c;
        const auto fill = [&](scalarField& rows)
        {
            for (scalar& row : rows)
            {
                row = *value;
                value += nColumns;
            }
        };
        fill(column.primitiveFieldRef());
        for (const label patchi : patches)
        {
            fill(column.boundaryFieldRef()[patchi]);
        }
    }
}


bool Foam::functionObjects::pendingFields::fetch
(
    const label place,
    const char* kind,
    std::vector<double>& values,
    const label nColumns,
    const labelList& patches
) const
{
    label nRows = mesh_.nCells();
    for (const label patchi : patches)
    {
        nRows += mesh_.boundary()[patchi].size();
    }
    values.resize(std::size_t(nRows)*nColumns);

    for (label c = 0; c < nColumns; ++c)
    {
        const auto* column =
            mesh_.thisDb().cfindObject<volScalarField>(fieldName(place, kind, c));
        if (!column || column->size() != mesh_.nCells())
        {
            return false;
        }

        double* value = values.data() + c;
        const auto take = [&](const scalarField& rows)
        {
            for (const scalar row : rows)
            {
                *value = row;
                value += nColumns;
            }
        };
        take(column->primitiveField());
        for (const label patchi : patches)
        {
            const scalarField& rows = column->boundaryField()[patchi];
            if (rows.size() != mesh_.boundary()[patchi].size())
            {
                return false;
            }
            take(rows);
        }
    }
    return true;
}


// * * * * * * * * * * * * * * * * Constructors  * * * * * * * * * * * * * * //

Foam::functionObjects::pendingFields::pendingFields
(
    const fvMesh& mesh,
    const word& owner
)
:
    mesh_(mesh),
    time_(mesh.time()),
    region_(mesh.name()),
    owner_(owner),
    nInputs_(0),
    nTargets_(0)
{}


// * * * * * * * * * * * * * * * * Destructor  * * * * * * * * * * * * * * * //

Foam::functionObjects::pendingFields::~pendingFields()
{
    // At the end of a run the mesh goes before the function objects
    if (!time_.foundObject<fvMesh>(region_))
    {
        return;
    }

    const objectRegistry& registry = mesh_.thisDb();
    for (std::size_t place = 0; place < places_.size(); ++place)
    {
        for (label c = 0; c < nInputs_; ++c)
        {
            registry.checkOut(fieldName(place, input, c));
        }
        for (label c = 0; c < nTargets_; ++c)
        {
            registry.checkOut(fieldName(place, target, c));
        }
    }
}


// * * * * * * * * * * * * * * * Member Functions  * * * * * * * * * * * * * //

void Foam::functionObjects::pendingFields::keep
(
    const inSitu::PendingAccess& waiting,
    const labelList& patches
)
{
    nInputs_ = label(waiting.nInputColumns());
    nTargets_ = label(waiting.nTargetColumns());

    std::vector<label> names;
    for (std::size_t i = 0; i < waiting.nPending(); ++i)
    {
        names.push_back(label(waiting.pendingTimeIndex(i)));
    }
    for (label& place : places_)
    {
        if (std::find(names.begin(), names.end(), place) == names.end())
        {
            place = -1;
        }
    }

    for (std::size_t i = 0; i < names.size(); ++i)
    {
        if (placeOf(names[i]) < 0)
        {
            waiting.getPending(i, values_);
            const label place = freePlace();
            store(place, input, values_.input, nInputs_, patches);
            store(place, target, values_.target, nTargets_, labelList());
            places_[place] = names[i];
        }
    }
}


std::vector<inSitu::PendingAccess::Pending>
Foam::functionObjects::pendingFields::mapped
(
    const inSitu::PendingAccess& waiting,
    const labelList& patches
)
{
    std::vector<label> places(waiting.nPending());
    for (std::size_t i = 0; i < places.size(); ++i)
    {
        places[i] = placeOf(label(waiting.pendingTimeIndex(i)));
    }

    // The trainer rounds the means of cells that were merged: so must the fields
    std::fill(places_.begin(), places_.end(), -1);

    std::vector<inSitu::PendingAccess::Pending> result;
    for (std::size_t i = 0; i < waiting.nPending(); ++i)
    {
        result.emplace_back();
        inSitu::PendingAccess::Pending& pending = result.back();
        pending.timeIndex = waiting.pendingTimeIndex(i);

        if
        (
            places[i] < 0
         || !fetch(places[i], input, pending.input, nInputs_, patches)
         || !fetch(places[i], target, pending.target, nTargets_, labelList())
        )
        {
            return {};
        }
    }
    return result;
}


bool Foam::functionObjects::pendingFields::isNote(const string& note)
{
    return note.compare(0, noteStart.size(), noteStart) == 0;
}

// ************************************************************************* //
