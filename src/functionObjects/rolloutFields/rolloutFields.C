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

#include "rolloutFields.H"
#include "base/Error.hpp"
#include "calculatedFvPatchField.H"

// * * * * * * * * * * * * * * * Local Functions * * * * * * * * * * * * * * //

namespace
{

const char* const stateEnding = "Rollout";
const char* const startEnding = "RolloutStart";

} // End anonymous namespace


// * * * * * * * * * * * * * Private Member Functions  * * * * * * * * * * * //

template<class Type>
bool Foam::functionObjects::rolloutFields::makeField
(
    const volField<Type>& field,
    const word& name,
    const bool read
) const
{
    if (mesh_.thisDb().found(name))
    {
        throw inSitu::Error
        (
            "the name " + name + " is taken on mesh " + mesh_.name()
          + "; only one rollout of a field is possible"
        );
    }

    const Time& runTime = mesh_.time();
    IOobject io
    (
        name,
        read ? Time::timeName(runTime.startTime().value()) : runTime.timeName(),
        mesh_.thisDb(),
        read ? IOobject::READ_IF_PRESENT : IOobject::NO_READ,
        IOobject::NO_WRITE
    );
    const bool found = read && io.typeHeaderOk<volField<Type>>(true);

    regIOobject::store
    (
        new volField<Type>(io, mesh_, dimensioned<Type>(field.dimensions(), Zero))
    );
    return found;
}


bool Foam::functionObjects::rolloutFields::makeFields(const bool read) const
{
    bool all = true;
    for (const word& name : targets_)
    {
        asVolField(mesh_.thisDb(), name, [&](const auto& field)
        {
            for (const char* ending : {stateEnding, startEnding})
            {
                all = makeField(field, name + ending, read) && all;
            }
        });
    }
    return all;
}


template<class Type>
void Foam::functionObjects::rolloutFields::correctBoundary
(
    volField<Type>& rollout,
    const volField<Type>& solver
)
{
    rollout.correctBoundaryConditions();

    forAll(rollout.boundaryField(), patchi)
    {
        fvPatchField<Type>& patch = rollout.boundaryFieldRef()[patchi];
        const fvPatchField<Type>& original = solver.boundaryField()[patchi];

        if (!isA<calculatedFvPatchField<Type>>(patch))
        {
            continue;
        }
        if (original.fixesValue())
        {
            patch == original;
        }
        else
        {
            patch ==
                patch.patchInternalField() + original
              - original.patchInternalField();
        }
    }
}


Foam::functionObjects::fieldSelection
Foam::functionObjects::rolloutFields::renamed
(
    const fieldSelection& selection,
    const char* ending
)
{
    fieldSelection result(selection);
    for (word& name : result.inputs)
    {
        if (selection.targets.found(name))
        {
            name += ending;
        }
    }
    for (word& name : result.targets)
    {
        name += ending;
    }
    return result;
}


// * * * * * * * * * * * * * * * * Constructors  * * * * * * * * * * * * * * //

Foam::functionObjects::rolloutFields::rolloutFields
(
    const fvMesh& mesh,
    const fieldSelection& selection,
    const std::vector<inSitu::FieldSpec>& fields,
    const std::vector<int>& targets,
    const labelList& patches,
    const bool read
)
:
    mesh_(mesh),
    targets_(selection.targets),
    layout_(inSitu::RowLayout::of(fields, targets, false)),
    wasRead_(makeFields(read)),
    state_(mesh, renamed(selection, stateEnding), patches),
    start_(mesh, renamed(selection, startEnding), patches)
{}


// * * * * * * * * * * * * * * * Member Functions  * * * * * * * * * * * * * //

void Foam::functionObjects::rolloutFields::start() const
{
    for (const word& name : targets_)
    {
        asVolField(mesh_.thisDb(), name, [&](const auto& field)
        {
            using fieldType = std::decay_t<decltype(field)>;
            for (const char* ending : {stateEnding, startEnding})
            {
                auto& copy =
                    mesh_.thisDb().lookupObjectRef<fieldType>(name + ending);
                copy.primitiveFieldRef() = field.primitiveField();
                correctBoundary(copy, field);
            }
        });
    }
}


void Foam::functionObjects::rolloutFields::update
(
    inSitu::Span<const double> values
) const
{
    forAll(targets_, i)
    {
        const word& name = targets_[i];
        const inSitu::ColumnBlock& block = layout_.blocks[i];
        asVolField(mesh_.thisDb(), name, [&](const auto& field)
        {
            using fieldType = std::decay_t<decltype(field)>;
            auto& state =
                mesh_.thisDb().lookupObjectRef<fieldType>(name + stateEnding);

            const double* row = values.data() + block.firstColumn;
            for (auto& value : state.primitiveFieldRef())
            {
                for (std::size_t c = 0; c < block.components.size(); ++c)
                {
                    setComponent(value, block.components[c]) = row[c];
                }
                row += layout_.nColumns;
            }
            correctBoundary(state, field);
        });
    }
}


void Foam::functionObjects::rolloutFields::setPatches(const labelList& patches)
{
    state_.setPatches(patches);
    start_.setPatches(patches);
}


void Foam::functionObjects::rolloutFields::makeAnew() const
{
    for (const word& name : targets_)
    {
        for (const char* ending : {stateEnding, startEnding})
        {
            mesh_.thisDb().lookupObjectRef<regIOobject>(name + ending).checkOut();
        }
    }
    makeFields(false);
}


void Foam::functionObjects::rolloutFields::write() const
{
    for (const word& name : targets_)
    {
        for (const char* ending : {stateEnding, startEnding})
        {
            auto& field = mesh_.thisDb().lookupObjectRef<regIOobject>(name + ending);
            field.instance() = mesh_.time().timeName();
            field.write();
        }
    }
}

// ************************************************************************* //
