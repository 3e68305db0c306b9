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

#include "storedFields.H"
#include "base/Error.hpp"
#include "surfaceFieldKinds.H"
#include "volFieldKinds.H"

// * * * * * * * * * * * * * Private Member Functions  * * * * * * * * * * * //

void Foam::functionObjects::storedFields::read
(
    const std::vector<inSitu::FieldSpec>& fields,
    const bool onFaces
)
{
    for (const inSitu::FieldSpec& field : fields)
    {
        const word name(field.name, false);
        if (!mesh_.thisDb().found(name))
        {
            read(name, onFaces);
        }
    }
}


void Foam::functionObjects::storedFields::read(const word& name, const bool onFaces)
{
    IOobject io
    (
        name,
        mesh_.time().timeName(),
        mesh_.thisDb(),
        IOobject::MUST_READ,
        IOobject::NO_WRITE
    );
    if (!io.typeHeaderOk<volField<scalar>>(false))
    {
        throw inSitu::Error
        (
            "there is no field '" + name + "' in time folder "
          + mesh_.time().timeName() + "; 'postProcess -time' takes others"
        );
    }

    const auto make = [&](const auto* none)
    {
        using fieldType = std::remove_const_t<std::remove_reference_t<decltype(*none)>>;
        fields_.append(new fieldType(io, mesh_));
    };
    const bool isField =
        onFaces
      ? asSurfaceField(io.headerClassName(), make)
      : asVolField(io.headerClassName(), make);
    if (!isField)
    {
        throw inSitu::Error
        (
            "the file " + io.objectPath() + " holds a " + io.headerClassName()
          + (onFaces ? ", not a surface field" : ", not a volField")
        );
    }
}


// * * * * * * * * * * * * * * * * Constructors  * * * * * * * * * * * * * * //

Foam::functionObjects::storedFields::storedFields
(
    const fvMesh& mesh,
    const std::vector<inSitu::FieldSpec>& inputs,
    const std::vector<inSitu::FieldSpec>& targets,
    const std::vector<inSitu::FieldSpec>& edgeInputs
)
:
    mesh_(mesh)
{
    read(inputs, false);
    read(targets, false);
    read(edgeInputs, true);
}

// ************************************************************************* //
