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

#include "closureFields.H"
#include "base/Error.hpp"
#include "calculatedFvPatchField.H"
#include "volFieldKinds.H"

#include <limits>
#include <map>

// * * * * * * * * * * * * * * * Local Functions * * * * * * * * * * * * * * //

namespace
{

using namespace Foam;

// gradScheme::grad() deletes what it finds registered under the name of its result
bool isGradientOfSolver(const std::string& name)
{
    return name.compare(0, 5, "grad(") == 0 && name.back() == ')';
}


// For an object of this name alone, until all that was given for it is gone: one that is
// made anew in the run lives beside its predecessor for a moment
std::shared_ptr<void> claim(const fvMesh& mesh, const word& field, const word& owner)
{
    struct holder
    {
        word owner;
        std::weak_ptr<void> alive;
    };
    static std::map<std::string, holder> holders;

    holder& known = holders[mesh.thisDb().objectPath() + '/' + field];
    std::shared_ptr<void> alive = known.alive.lock();
    if (alive && known.owner != owner)
    {
        throw inSitu::Error
        (
            "field '" + field + "' on mesh " + mesh.name() + " is written by the closure "
          + known.owner + " already"
        );
    }
    if (!alive)
    {
        alive = std::make_shared<char>();
        known = {owner, alive};
    }
    return alive;
}

} // End anonymous namespace


// * * * * * * * * * * * * * Private Member Functions  * * * * * * * * * * * //

template<class Type>
void Foam::functionObjects::closureFields::restore(const IOobject& file)
{
    auto* field = mesh_.thisDb().getObjectPtr<volField<Type>>(file.name());
    if (field)
    {
        IOobject aside(file);
        aside.registerObject() = false;
        *field == volField<Type>(aside, mesh_);
    }
    else
    {
        regIOobject::store(new volField<Type>(file, mesh_));
    }
    names_.insert(file.name());
    read_.insert(file.name());
}


template<class Type>
void Foam::functionObjects::closureFields::make(const inSitu::FieldSpec& field)
{
    const word name(field.name, false);
    const std::vector<double>& d = field.dimensions;
    IOobject io
    (
        name,
        mesh_.time().timeName(),
        mesh_.thisDb(),
        IOobject::READ_IF_PRESENT,
        IOobject::AUTO_WRITE
    );
    const bool found = io.typeHeaderOk<volField<Type>>(false);
    if (found && io.headerClassName() != volField<Type>::typeName)
    {
        throw inSitu::Error
        (
            "the file " + io.objectPath() + " holds a " + io.headerClassName()
          + ", the model's target '" + name + "' is a " + volField<Type>::typeName
        );
    }

    regIOobject::store
    (
        new volField<Type>
        (
            io,
            mesh_,
            dimensioned<Type>
            (
                dimensionSet(d[0], d[1], d[2], d[3], d[4], d[5], d[6]),
                Zero
            )
        )
    );
    (found ? read_ : blank_).insert(name);
}


void Foam::functionObjects::closureFields::make(const inSitu::FieldSpec& field)
{
    const std::string missing =
        "there is no field '" + field.name + "' on mesh " + mesh_.name()
      + ", and the model's card ";

    if (field.dimensions.empty())
    {
        throw inSitu::Error(missing + "does not state the dimensions to make it with");
    }

    const std::string type =
        field.type.empty() && field.columnNames.size() == 1
      ? "volScalarField"
      : field.type;

    const bool known = asVolField(word(type, false), [&](const auto* none)
    {
        make<typename std::decay_t<decltype(*none)>::value_type>(field);
    });
    if (!known)
    {
        throw inSitu::Error
        (
            missing + "has '" + field.type + "' for its type; one of: volScalarField"
            " volVectorField volSphericalTensorField volSymmTensorField volTensorField"
        );
    }
}


template<class Body>
void Foam::functionObjects::closureFields::look
(
    const word& name,
    const Body& body
) const
{
    const bool found = asVolField(mesh_.thisDb(), name, [&](const auto& field)
    {
        if (field.size() != mesh_.nCells())
        {
            throw inSitu::Error
            (
                "the closure's field '" + name + "' has " + std::to_string(field.size())
              + " values on the " + std::to_string(mesh_.nCells()) + " cells of mesh "
              + mesh_.name() + ", which was replaced without a map for its fields"
            );
        }
        body(field);
    });
    if (!found)
    {
        throw inSitu::Error
        (
            "the closure's field '" + name + "' is no longer registered on mesh "
          + mesh_.name() + ": the solver or another function object has removed it,"
            " as OpenFOAM does with a gradient of that name"
        );
    }
}


// * * * * * * * * * * * * * * * * Constructors  * * * * * * * * * * * * * * //

Foam::functionObjects::closureFields::closureFields
(
    const fvMesh& mesh,
    const word& owner
)
:
    mesh_(mesh),
    owner_(owner)
{}


// * * * * * * * * * * * * * * * Member Functions  * * * * * * * * * * * * * //

void Foam::functionObjects::closureFields::restore(const wordList& names)
{
    for (const word& name : names)
    {
        IOobject file
        (
            name,
            mesh_.time().timeName(),
            mesh_.thisDb(),
            IOobject::MUST_READ,
            IOobject::AUTO_WRITE
        );
        if (file.typeHeaderOk<volScalarField>(false))
        {
            asVolField(file.headerClassName(), [&](const auto* none)
            {
                restore<typename std::decay_t<decltype(*none)>::value_type>(file);
            });
        }
    }
}


void Foam::functionObjects::closureFields::make
(
    const std::vector<inSitu::FieldSpec>& targets
)
{
    for (const inSitu::FieldSpec& field : targets)
    {
        const word name(field.name, false);
        if (isGradientOfSolver(name))
        {
            throw inSitu::Error
            (
                "mode closure cannot keep the model's target '" + name + "': each"
                " fvc::" + name + " of the solver deletes the registered field of that"
                " name. Learn a target of another name; the function object grad"
                " gives one with its entry result"
            );
        }

        claims_.push_back(claim(mesh_, name, owner_));
        names_.insert(name);
        if (const auto* known = mesh_.thisDb().cfindObject<regIOobject>(name))
        {
            if (!asVolField(*known, [](const auto&) {}))
            {
                throw inSitu::Error
                (
                    "the model's target '" + name + "' is a " + known->type()
                  + " on mesh " + mesh_.name() + ", not a volField"
                );
            }
        }
        else
        {
            make(field);
        }
    }
}


void Foam::functionObjects::closureFields::setLayout
(
    const std::vector<inSitu::FieldSpec>& fields,
    const std::vector<int>& targets
)
{
    layout_ = inSitu::RowLayout::of(fields, targets, false);
    targets_.clear();
    for (const int fieldi : targets)
    {
        targets_.append(word(fields[fieldi].name, false));
    }
}


inSitu::Span<const double> Foam::functionObjects::closureFields::values()
{
    values_.resize(std::size_t(mesh_.nCells())*layout_.nColumns);
    forAll(targets_, i)
    {
        const inSitu::ColumnBlock& block = layout_.blocks[i];
        look(targets_[i], [&](const auto& field)
        {
            const bool blank = blank_.found(targets_[i]);
            double* row = values_.data() + block.firstColumn;
            for (const auto& value : field.primitiveField())
            {
                for (std::size_t c = 0; c < block.components.size(); ++c)
                {
                    row[c] = blank
                      ? std::numeric_limits<double>::quiet_NaN()
                      : component(value, block.components[c]);
                }
                row += layout_.nColumns;
            }
        });
    }
    return inSitu::Span<const double>(values_);
}


void Foam::functionObjects::closureFields::update
(
    inSitu::Span<const double> values
)
{
    blank_.clear();
    forAll(targets_, i)
    {
        const inSitu::ColumnBlock& block = layout_.blocks[i];
        look(targets_[i], [&](const auto& known)
        {
            using fieldType = std::decay_t<decltype(known)>;
            using patchType = typename fieldType::Patch;
            auto& field = const_cast<fieldType&>(known);

            const double* row = values.data() + block.firstColumn;
            for (auto& value : field.primitiveFieldRef())
            {
                for (std::size_t c = 0; c < block.components.size(); ++c)
                {
                    setComponent(value, block.components[c]) = row[c];
                }
                row += layout_.nColumns;
            }

            field.correctBoundaryConditions();
            for (patchType& patch : field.boundaryFieldRef())
            {
                if (isA<calculatedFvPatchField<typename patchType::value_type>>(patch))
                {
                    takeCellValues(patch);
                }
            }
        });
    }
}


void Foam::functionObjects::closureFields::write() const
{
    for (const word& name : names())
    {
        look(name, [&](const auto& known)
        {
            auto& field = const_cast<std::decay_t<decltype(known)>&>(known);
            field.instance() = mesh_.time().timeName();
            field.write();
        });
    }
}

// ************************************************************************* //
