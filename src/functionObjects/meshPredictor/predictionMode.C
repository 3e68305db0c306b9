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

#include "predictionMode.H"
#include "closureMode.H"
#include "comparisonMode.H"
#include "rolloutMode.H"

// * * * * * * * * * * * * * * * * Constructors  * * * * * * * * * * * * * * //

Foam::functionObjects::predictionMode::predictionMode
(
    const fvMesh& mesh,
    stateFunctionObject& object,
    inSitu::InSituPredictor& predictor
)
:
    mesh_(mesh),
    object_(object),
    predictor_(predictor)
{}


// * * * * * * * * * * * * * * * * Selectors * * * * * * * * * * * * * * * * //

std::unique_ptr<Foam::functionObjects::predictionMode>
Foam::functionObjects::predictionMode::New
(
    const fvMesh& mesh,
    stateFunctionObject& object,
    inSitu::InSituPredictor& predictor
)
{
    const std::string& mode = predictor.config().mode;
    if (mode == "rollout")
    {
        return std::make_unique<rolloutMode>(mesh, object, predictor);
    }
    if (mode == "closure")
    {
        return std::make_unique<closureMode>(mesh, object, predictor);
    }
    return std::make_unique<comparisonMode>(mesh, object, predictor);
}


// * * * * * * * * * * * * * * * Member Functions  * * * * * * * * * * * * * //

void Foam::functionObjects::predictionMode::restore()
{}


bool Foam::functionObjects::predictionMode::isEarly(const bool) const
{
    return false;
}


void Foam::functionObjects::predictionMode::makeFields()
{}


void Foam::functionObjects::predictionMode::resume()
{}


bool Foam::functionObjects::predictionMode::predictsEarly() const
{
    return false;
}


void Foam::functionObjects::predictionMode::setPatches
(
    const inSitu::Instant&,
    const labelList&
)
{}


void Foam::functionObjects::predictionMode::forget()
{}

// ************************************************************************* //
