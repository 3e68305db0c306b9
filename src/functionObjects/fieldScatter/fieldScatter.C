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

#include "fieldScatter.H"
#include "base/Error.hpp"
#include "calculatedFvPatchField.H"
#include "fieldSelection.H"
#include "ownField.H"
#include "volFieldKinds.H"

// * * * * * * * * * * * * * Private Member Functions  * * * * * * * * * * * //

template<class Type>
Foam::functionObjects::volField<Type>&
Foam::functionObjects::fieldScatter::registered
(
    const volField<Type>& field,
    const word& name
) const
{
    const objectRegistry& registry = mesh_.thisDb();

    auto* mine = ownField<Type>
    (
        registry,
        name,
        owner_,
        "switch writePrediction off here or in the other object"
    );
    if (mine && mine->size() == field.size())
    {
        return *mine;
    }
    if (mine)
    {
        // The mesh was replaced, and OpenFOAM had no map for this field
        registry.checkOut(name);
    }

    return storeOwn
    (
        new volField<Type>
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
            dimensioned<Type>(field.dimensions(), Zero)
        ),
        owner_
    );
}


template<class Type>
void Foam::functionObjects::fieldScatter::update
(
    const volField<Type>& field,
    const target& names,
    const inSitu::ColumnBlock& block,
    inSitu::Span<const double> prediction
) const
{
    volField<Type>& predicted = registered(field, names.predicted);
    volField<Type>& error = registered(field, names.error);

    Field<Type>& values = predicted.primitiveFieldRef();
    values = field.primitiveField();

    const double* row = prediction.data() + block.firstColumn;
    for (Type& value : values)
    {
        for (std::size_t i = 0; i < block.components.size(); ++i)
        {
            setComponent(value, block.components[i]) = row[i];
        }
        row += layout_.nColumns;
    }

    subtract(error.primitiveFieldRef(), values, field.primitiveField());

    for (volField<Type>* result : {&predicted, &error})
    {
        result->correctBoundaryConditions();
        for (fvPatchField<Type>& patch : result->boundaryFieldRef())
        {
            if (isA<calculatedFvPatchField<Type>>(patch))
            {
                takeCellValues(patch);
            }
        }
        result->instance() = mesh_.time().timeName();
    }
}


// * * * * * * * * * * * * * * * * Constructors  * * * * * * * * * * * * * * //

Foam::functionObjects::fieldScatter::fieldScatter
(
    const fvMesh& mesh,
    const word& owner,
    const std::vector<inSitu::FieldSpec>& fields,
    const std::vector<int>& targets
)
:
    mesh_(mesh),
    owner_("prediction of " + owner),
    layout_(inSitu::RowLayout::of(fields, targets, false)),
    timeIndex_(-1)
{
    for (const int fieldi : targets)
    {
        const word name(fields[fieldi].name, false);
        targets_.push_back
        ({
            name,
            name + predictionName::value,
            name + predictionName::error
        });
    }
}


// * * * * * * * * * * * * * * * Member Functions  * * * * * * * * * * * * * //

void Foam::functionObjects::fieldScatter::update
(
    inSitu::Span<const double> prediction
)
{
    for (std::size_t i = 0; i < targets_.size(); ++i)
    {
        asVolField(mesh_.thisDb(), targets_[i].field, [&](const auto& field)
        {
            update(field, targets_[i], layout_.blocks[i], prediction);
        });
    }
    timeIndex_ = mesh_.time().timeIndex();
}


void Foam::functionObjects::fieldScatter::forget() const
{
    const objectRegistry& registry = mesh_.thisDb();
    for (const target& names : targets_)
    {
        for (const word* name : {&names.predicted, &names.error})
        {
            const auto* object = registry.cfindObject<regIOobject>(*name);
            if (object && object->note() == owner_)
            {
                registry.checkOut(*name);
            }
        }
    }
}


void Foam::functionObjects::fieldScatter::write() const
{
    if (timeIndex_ != mesh_.time().timeIndex())
    {
        return;
    }

    for (const target& names : targets_)
    {
        for (const word* name : {&names.predicted, &names.error})
        {
            mesh_.thisDb().lookupObject<regIOobject>(*name).write();
        }
    }
}

// ************************************************************************* //
