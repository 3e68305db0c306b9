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

#include "rolloutMode.H"
#include "base/Comm.hpp"

// * * * * * * * * * * * * * Private Member Functions  * * * * * * * * * * * //

void Foam::functionObjects::rolloutMode::feed
(
    const inSitu::Instant& now,
    const label waited,
    const scalar inputTime
)
{
    inSitu::Rollout& rollout = predictor_.rollout();
    rollout.feed({inputTime, now.timeIndex, now.deltaT}, fields_->state());
    rollout.setWaited(waited, inputTime);
}


// * * * * * * * * * * * * * * * Member Functions  * * * * * * * * * * * * * //

bool Foam::functionObjects::rolloutMode::isEarly() const
{
    return object_.getProperty<label>("rolloutStep", -1) >= 0;
}


void Foam::functionObjects::rolloutMode::begin
(
    const fieldSelection& selection,
    const inSitu::TrainingCase& theCase,
    const labelList& patches
)
{
    fields_ = std::make_unique<rolloutFields>
    (
        mesh_,
        selection,
        theCase.fields,
        theCase.targets,
        patches
    );
}


bool Foam::functionObjects::rolloutMode::resume(const inSitu::Instant& now)
{
    const label step = object_.getProperty<label>("rolloutStep", -1);
    if (fields_->wasRead())
    {
        predictor_.rollout().resume(step, fields_->startState());
        feed
        (
            now,
            object_.getProperty<label>("rolloutWaited", 0),
            object_.getProperty<scalar>("rolloutInputTime", now.time)
        );
        if (object_.log)
        {
            Info<< object_.type() << ' ' << object_.name()
                << ": the rollout goes on from its step " << step << nl << endl;
        }
    }
    return true;
}


Foam::functionObjects::predictionMode::report
Foam::functionObjects::rolloutMode::predict
(
    const inSitu::Instant& now,
    const views& fields
)
{
    inSitu::Rollout& rollout = predictor_.rollout();

    const label steps = label(predictor_.config().rollout.steps);
    if (steps > 0 && rollout.step() >= steps)
    {
        rollout.reset();
    }
    if (!rollout.begun())
    {
        fields_->start();
        rollout.begin(fields_->startState());
        feed(now, 0, now.time);
    }
    else if (rollout.tick(now))
    {
        fields_->update(rollout.advance(now));
        const report result = predictor_.note(now, fields);
        feed(now, 0, now.time);
        return result;
    }
    return {};
}


void Foam::functionObjects::rolloutMode::write()
{
    const inSitu::Rollout& rollout = predictor_.rollout();
    fields_->write();
    object_.setProperty("rolloutStep", label(rollout.step()));
    object_.setProperty("rolloutWaited", label(rollout.waited()));
    object_.setProperty("rolloutInputTime", scalar(rollout.inputTime()));
}


void Foam::functionObjects::rolloutMode::setPatches
(
    const inSitu::Instant& now,
    const labelList& patches
)
{
    inSitu::Rollout& rollout = predictor_.rollout();
    if (rollout.begun())
    {
        // OpenFOAM has mapped the fields: they are what was fed in
        const label waited = label(rollout.waited());
        const scalar inputTime = rollout.inputTime();
        fields_->setPatches(patches);
        rollout.resume(rollout.step(), fields_->startState());
        feed(now, waited, inputTime);
    }
}

// ************************************************************************* //
