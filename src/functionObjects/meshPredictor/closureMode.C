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

#include "closureMode.H"
#include "profile/Profiler.hpp"

// * * * * * * * * * * * * * * * * Constructors  * * * * * * * * * * * * * * //

Foam::functionObjects::closureMode::closureMode
(
    const fvMesh& mesh,
    stateFunctionObject& object,
    inSitu::InSituPredictor& predictor
)
:
    predictionMode(mesh, object, predictor),
    fields_(mesh, object.name())
{}


// * * * * * * * * * * * * * * * Member Functions  * * * * * * * * * * * * * //

void Foam::functionObjects::closureMode::restore()
{
    fields_.restore(object_.getProperty<wordList>("closureFields", wordList()));
}


bool Foam::functionObjects::closureMode::isEarly(const bool isOpen) const
{
    return isOpen;
}


void Foam::functionObjects::closureMode::makeFields()
{
    fields_.make(predictor_.card().targets);
    object_.setProperty("closureFields", fields_.names());
}


void Foam::functionObjects::closureMode::begin
(
    const fieldSelection&,
    const inSitu::TrainingCase& theCase,
    const labelList&,
    const bool
)
{
    fields_.setLayout(theCase.fields, theCase.targets);
}


bool Foam::functionObjects::closureMode::predictsEarly() const
{
    return !fields_.wereRead();
}


Foam::functionObjects::predictionMode::report
Foam::functionObjects::closureMode::predict
(
    const inSitu::Instant& now,
    const views& fields
)
{
    const report result = predictor_.close(now, fields, fields_.values());
    if (predictor_.hasPrediction())
    {
        const inSitu::ScopedTimer timer(predictor_.profiler(), "scatter");
        fields_.update(predictor_.prediction());
    }
    return result;
}


void Foam::functionObjects::closureMode::write()
{
    fields_.write();
}

// ************************************************************************* //
