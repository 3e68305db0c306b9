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

#include "predictedSource.H"
#include "addToRunTimeSelectionTable.H"
#include "foamCompatibility.H"
#include "HashSet.H"

// * * * * * * * * * * * * * * Static Data Members * * * * * * * * * * * * * //

namespace Foam
{
namespace fv
{
    defineTypeNameAndDebug(predictedSource, 0);
    addToRunTimeSelectionTable(option, predictedSource, dictionary);
}
}


// * * * * * * * * * * * * * * * Local Functions * * * * * * * * * * * * * * //

namespace
{

using namespace Foam;

// The entry is the second of two words; the default is the first
bool isSecond
(
    const dictionary& dict,
    const word& key,
    const word& first,
    const word& second
)
{
    const word value(dict.getOrDefault<word>(key, first));
    if (value != first && value != second)
    {
        FatalIOErrorInFunction(dict)
            << key << ": '" << value << "' is neither " << first << " nor " << second
            << exit(FatalIOError);
    }
    return value == second;
}

// The assignment of OpenFOAM takes the same dimensions only
void renew(dimensionedScalar& number, const dimensionedScalar& value)
{
    number.dimensions().reset(value.dimensions());
    number.value() = value.value();
}

} // End anonymous namespace


// * * * * * * * * * * * * * Private Member Functions  * * * * * * * * * * * //

void Foam::fv::predictedSource::checkKeys() const
{
    // The second row: of OpenFOAM, up to its present release
    static const wordHashSet keys
    {
        "fields", "source", "mode", "coefficient", "factor", "per", "ifMissing",

        "type", "libs", "active", "log", "selectionMode", "points", "cellSet",
        "cellZone", "timeStart", "duration", "cellSets", "cellZones", "faceZone",
        "faceZones", "geometry", "useSubMesh", "updateSelection"
    };
    for (const entry& e : coeffs_)
    {
        if (!e.isDict() && !keys.found(e.keyword()))
        {
            FatalIOErrorInFunction(coeffs_)
                << modelType_ << ' ' << name_ << ": there is no entry '"
                << e.keyword() << "'; there is " << flatOutput(keys.sortedToc())
                << exit(FatalIOError);
        }
    }
}


void Foam::fv::predictedSource::readCoefficient()
{
    coefficientField_.clear();
    const entry* found = coeffs_.findEntry("coefficient");
    if (!linearised_)
    {
        if (found)
        {
            FatalIOErrorInFunction(coeffs_)
                << "coefficient: only 'mode linearised' has one"
                << exit(FatalIOError);
        }
        return;
    }

    if (found && found->isStream() && found->stream().size() == 1)
    {
        const token only(found->stream().first());
        if (only.isWord())
        {
            coefficientField_ = only.wordToken();
            return;
        }
    }
    renew(coefficient_, dimensionedScalar("coefficient", coeffs_));
}


void Foam::fv::predictedSource::checkDimensions
(
    const word& what,
    const word& part,
    const dimensionSet& present,
    const dimensionSet& rest,
    const dimensionSet& wanted,
    const word& equation
) const
{
    if (present*rest != wanted)
    {
        FatalErrorInFunction
            << type() << ' ' << name_ << ": " << what << " has the dimensions "
            << present*rest << ", but the equation of " << equation << " takes "
            << wanted << nl
            << "    Remedy: a " << part << " of the dimensions " << wanted/rest
            << " instead of " << present
            << (perVolume_ ? ", or 'per mass'" : ", or 'per volume'")
            << exit(FatalError);
    }
}


void Foam::fv::predictedSource::tellSkipping(const bool skipping)
{
    if (skipping != skipping_)
    {
        Info<< type() << ' ' << name_ << ": source " << source_
            << (skipping ? " is left out until it is registered" : " is there now")
            << endl;
        skipping_ = skipping;
    }
}


// * * * * * * * * * * * * * * * * Constructors  * * * * * * * * * * * * * * //

Foam::fv::predictedSource::predictedSource
(
    const word& name,
    const word& modelType,
    const dictionary& dict,
    const fvMesh& mesh
)
:
    cellSetOption(name, modelType, dict, mesh),
    linearised_(false),
    perVolume_(false),
    skipMissing_(false),
    skipping_(false)
{
    read(dict);
}


// * * * * * * * * * * * * * * * Member Functions  * * * * * * * * * * * * * //

#define defineAddSup(Type)                                                    \
                                                                              \
void Foam::fv::predictedSource::addSup(fvMatrix<Type>& eqn, const label)      \
{                                                                             \
    add(eqn, {});                                                             \
}                                                                             \
                                                                              \
void Foam::fv::predictedSource::addSup                                        \
(                                                                             \
    const volScalarField& rho,                                                \
    fvMatrix<Type>& eqn,                                                      \
    const label                                                               \
)                                                                             \
{                                                                             \
    add(eqn, {&rho});                                                         \
}                                                                             \
                                                                              \
void Foam::fv::predictedSource::addSup                                        \
(                                                                             \
    const volScalarField& alpha,                                              \
    const volScalarField& rho,                                                \
    fvMatrix<Type>& eqn,                                                      \
    const label                                                               \
)                                                                             \
{                                                                             \
    add(eqn, {&alpha, &rho});                                                 \
}

defineAddSup(scalar)
defineAddSup(vector)
defineAddSup(sphericalTensor)
defineAddSup(symmTensor)
defineAddSup(tensor)

#undef defineAddSup


bool Foam::fv::predictedSource::read(const dictionary& dict)
{
    if (!cellSetOption::read(dict))
    {
        return false;
    }
    checkKeys();

    coeffs_.readEntry("fields", fieldNames_);
    applied_.setSize(fieldNames_.size(), false);

    coeffs_.readEntry("source", source_);
    linearised_ = isSecond(coeffs_, "mode", "explicit", "linearised");
    readCoefficient();
    renew
    (
        factor_,
        coeffs_.found("factor")
      ? dimensionedScalar("factor", coeffs_)
      : dimensionedScalar("factor", dimless, 1)
    );
    perVolume_ = isSecond(coeffs_, "per", "mass", "volume");
    skipMissing_ = isSecond(coeffs_, "ifMissing", "abort", "skip");
    return true;
}

// ************************************************************************* //
