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

#include "fvMatrix.H"
#include "volFields.H"

// * * * * * * * * * * * * * Private Member Functions  * * * * * * * * * * * //

template<class FieldType>
const FieldType* Foam::fv::predictedSource::find(const word& name) const
{
    const objectRegistry& registry = mesh_.thisDb();
    const auto* object = registry.cfindObject<regIOobject>(name);
    const auto* field = dynamic_cast<const FieldType*>(object);

    if (!field && (object || !skipMissing_))
    {
        FatalErrorInFunction
            << type() << ' ' << name_ << ": there is no " << FieldType::typeName
            << " '" << name << "' on mesh " << mesh_.name() << " at time "
            << mesh_.time().timeName();
        if (object)
        {
            FatalError << ", but a " << object->type() << " of that name";
        }
        FatalError
            << nl << "    There is: "
            << flatOutput(registry.sortedNames<FieldType>()) << nl
            << "    Remedy: the function object that makes it (a meshPredictor of"
            << " mode closure makes it before the first step) has to stand in"
            << " controlDict; 'ifMissing skip' leaves the source out until then"
            << exit(FatalError);
    }
    return field;
}


template<class Type>
void Foam::fv::predictedSource::add
(
    fvMatrix<Type>& eqn,
    std::initializer_list<const volScalarField*> densities
)
{
    typedef GeometricField<Type, fvPatchField, volMesh> fieldType;

    const auto* source = find<fieldType>(source_);
    const bool byField = linearised_ && !coefficientField_.empty();
    const auto* coefficient =
        byField ? find<volScalarField>(coefficientField_) : nullptr;

    tellSkipping(!source || (byField && !coefficient));
    if (skipping_)
    {
        return;
    }

    const fieldType& psi = eqn.psi();
    dimensionSet rate(eqn.dimensions()/dimVolume);
    if (!perVolume_)
    {
        for (const volScalarField* density : densities)
        {
            rate.reset(rate/density->dimensions());
        }
    }
    checkDimensions
    (
        "factor*" + source_,
        "factor",
        factor_.dimensions(),
        source->dimensions(),
        rate,
        psi.name()
    );
    if (linearised_)
    {
        checkDimensions
        (
            "factor*coefficient*" + psi.name(),
            "coefficient",
            coefficient ? coefficient->dimensions() : coefficient_.dimensions(),
            factor_.dimensions()*psi.dimensions(),
            rate,
            psi.name()
        );
    }

    const scalarField& V = mesh_.V();
    Field<Type>& Su = eqn.source();

    // A matrix on the right-hand side: S adds -V*S to its source
    for (const label celli : cells_)
    {
        scalar weight = factor_.value()*V[celli];
        if (!perVolume_)
        {
            for (const volScalarField* density : densities)
            {
                weight *= (*density)[celli];
            }
        }
        Su[celli] -= weight*(*source)[celli];

        if (linearised_)
        {
            const scalar Sp =
                weight*(coefficient ? (*coefficient)[celli] : coefficient_.value());

            if (Sp > 0)
            {
                eqn.diag()[celli] -= Sp;
            }
            else
            {
                Su[celli] += Sp*psi[celli];
            }
        }
    }
}

// ************************************************************************* //
