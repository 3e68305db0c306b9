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
#include "ownField.H"

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
    const objectRegistry& registry = mesh_.thisDb();
    if (ownField<Type>(registry, name, owner_, "only one rollout of a field is possible"))
    {
        registry.checkOut(name);
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

    storeOwn
    (
        new volField<Type>(io, mesh_, dimensioned<Type>(field.dimensions(), Zero)),
        owner_
    );
    return found;
}


bool Foam::functionObjects::rolloutFields::makeFields(const bool read) const
{
    bool all = true;
    forAll(targets_, i)
    {
        asVolField(mesh_.thisDb(), targets_[i], [&](const auto& field)
        {
            all = makeField(field, states_[i], read) && all;
            all = makeField(field, starts_[i], read) && all;
        });
    }
    return returnReduce(all, andOp<bool>());
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
            continue;
        }
        const labelUList& cells = patch.patch().faceCells();
        forAll(patch, facei)
        {
            patch[facei] =
                rollout[cells[facei]] + original[facei] - solver[cells[facei]];
        }
    }
}


Foam::wordList Foam::functionObjects::rolloutFields::endingWith
(
    const wordList& names,
    const char* ending
)
{
    wordList result(names);
    for (word& name : result)
    {
        name += ending;
    }
    return result;
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
    result.targets = endingWith(selection.targets, ending);
    return result;
}


// * * * * * * * * * * * * * * * * Constructors  * * * * * * * * * * * * * * //

Foam::functionObjects::rolloutFields::rolloutFields
(
    const fvMesh& mesh,
    const word& owner,
    const fieldSelection& selection,
    const std::vector<inSitu::FieldSpec>& fields,
    const std::vector<int>& targets,
    const labelList& patches,
    const bool halo,
    const bool read
)
:
    mesh_(mesh),
    owner_(owner),
    targets_(selection.targets),
    states_(endingWith(targets_, stateEnding)),
    starts_(endingWith(targets_, startEnding)),
    layout_(inSitu::RowLayout::of(fields, targets, false)),
    wasRead_(makeFields(read)),
    state_(mesh, renamed(selection, stateEnding), patches, halo),
    start_(mesh, renamed(selection, startEnding), patches, halo)
{}


// * * * * * * * * * * * * * * * Member Functions  * * * * * * * * * * * * * //

void Foam::functionObjects::rolloutFields::start() const
{
    forAll(targets_, i)
    {
        asVolField(mesh_.thisDb(), targets_[i], [&](const auto& field)
        {
            using fieldType = std::decay_t<decltype(field)>;
            for (const word* name : {&states_[i], &starts_[i]})
            {
                auto& copy = mesh_.thisDb().lookupObjectRef<fieldType>(*name);
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
        const inSitu::ColumnBlock& block = layout_.blocks[i];
        asVolField(mesh_.thisDb(), targets_[i], [&](const auto& field)
        {
            using fieldType = std::decay_t<decltype(field)>;
            auto& state = mesh_.thisDb().lookupObjectRef<fieldType>(states_[i]);

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
    for (const wordList* names : {&states_, &starts_})
    {
        for (const word& name : *names)
        {
            mesh_.thisDb().lookupObjectRef<regIOobject>(name).checkOut();
        }
    }
    makeFields(false);
}


void Foam::functionObjects::rolloutFields::write() const
{
    for (const wordList* names : {&states_, &starts_})
    {
        for (const word& name : *names)
        {
            auto& field = mesh_.thisDb().lookupObjectRef<regIOobject>(name);
            field.instance() = mesh_.time().timeName();
            field.write();
        }
    }
}

// ************************************************************************* //
