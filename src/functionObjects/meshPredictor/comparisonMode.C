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

#include "comparisonMode.H"
#include "profile/Profiler.hpp"

// * * * * * * * * * * * * * * * Member Functions  * * * * * * * * * * * * * //

void Foam::functionObjects::comparisonMode::begin
(
    const fieldSelection&,
    const inSitu::TrainingCase& theCase,
    const labelList&,
    const bool
)
{
    if (predictor_.config().writePrediction)
    {
        scatter_ = std::make_unique<fieldScatter>
        (
            mesh_,
            object_.name(),
            theCase.fields,
            theCase.targets
        );
    }
}


Foam::functionObjects::predictionMode::report
Foam::functionObjects::comparisonMode::predict
(
    const inSitu::Instant& now,
    const views& fields
)
{
    const report result = predictor_.compare(now, fields);
    if (scatter_ && predictor_.hasPrediction())
    {
        const inSitu::ScopedTimer timer(predictor_.profiler(), "scatter");
        scatter_->update(predictor_.prediction());
    }
    return result;
}


void Foam::functionObjects::comparisonMode::write()
{
    if (scatter_)
    {
        scatter_->write();
    }
}


void Foam::functionObjects::comparisonMode::forget()
{
    if (scatter_)
    {
        scatter_->forget();
    }
}

// ************************************************************************* //
