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
#include "OSspecific.H"
#include "base/Comm.hpp"
#include "runPaths.H"
#include "profile/Profiler.hpp"

// * * * * * * * * * * * * * Private Member Functions  * * * * * * * * * * * //

Foam::fileName Foam::functionObjects::rolloutMode::folder
(
    const word& timeName
) const
{
    return runPaths::checkpointFolder(mesh_, object_.name() + "Rollout", timeName);
}


Foam::fileName Foam::functionObjects::rolloutMode::startFolder() const
{
    const Time& runTime = mesh_.time();
    return folder(Time::timeName(runTime.startTime().value()));
}


bool Foam::functionObjects::rolloutMode::wasWritten() const
{
    const fileName folder(startFolder());
    bool found = Pstream::master() && isDir(folder);
    Pstream::scatter(found);
    return found;
}


// * * * * * * * * * * * * * * * * Constructors  * * * * * * * * * * * * * * //

Foam::functionObjects::rolloutMode::rolloutMode
(
    const fvMesh& mesh,
    stateFunctionObject& object,
    inSitu::InSituPredictor& predictor
)
:
    predictionMode(mesh, object, predictor),
    goesOn_(false)
{}


// * * * * * * * * * * * * * * * Member Functions  * * * * * * * * * * * * * //

bool Foam::functionObjects::rolloutMode::isEarly(const bool) const
{
    return wasWritten();
}


void Foam::functionObjects::rolloutMode::begin
(
    const fieldSelection& selection,
    const inSitu::TrainingCase& theCase,
    const labelList& patches,
    const bool fromStart
)
{
    const bool found = wasWritten();
    goesOn_ = fromStart && found;
    fields_ = std::make_unique<rolloutFields>
    (
        mesh_,
        object_.name(),
        selection,
        theCase.fields,
        theCase.targets,
        patches,
        predictor_.meshOptions().halo,
        goesOn_
    );

    if (goesOn_ ? !fields_->wasRead() : !fromStart && found)
    {
        goesOn_ = false;
        Warning
            << object_.type().c_str() << ' ' << object_.name()
            << ": the rollout of the start time is left, and starts again from the"
            << " solver; its fields, or its mesh, are no longer there" << nl << endl;
    }
}


void Foam::functionObjects::rolloutMode::resume()
{
    if (goesOn_)
    {
        predictor_.resume(startFolder());
    }
    else
    {
        Info<< object_.type() << ' ' << object_.name()
            << ": the rollout starts from the solver" << nl << endl;
    }
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
        rollout.feed(now, fields_->state());
    }
    else if (rollout.tick(now))
    {
        const inSitu::Span<const double> values = rollout.advance(now);
        {
            const inSitu::ScopedTimer timer(predictor_.profiler(), "scatter");
            fields_->update(values);
        }
        const report result = predictor_.note(now, fields);
        rollout.feed(now, fields_->state());
        return result;
    }
    return {};
}


void Foam::functionObjects::rolloutMode::write()
{
    fields_->write();
    if (!object_.postProcess)
    {
        predictor_.write(folder(mesh_.time().timeName()));
    }
}


void Foam::functionObjects::rolloutMode::forget()
{
    predictor_.rollout().reset();
    fields_->makeAnew();
}


void Foam::functionObjects::rolloutMode::setPatches
(
    const inSitu::Instant& now,
    const labelList& patches
)
{
    fields_->setPatches(patches);

    inSitu::Rollout& rollout = predictor_.rollout();
    if (rollout.begun())
    {
        // OpenFOAM has mapped the fields: they are what was fed in
        const std::int64_t waited = rollout.waited();
        const double inputTime = rollout.inputTime();
        rollout.setStart(fields_->startState());
        rollout.feed({inputTime, now.timeIndex, now.deltaT}, fields_->state());
        rollout.setWaited(waited, inputTime);
    }
}

// ************************************************************************* //
