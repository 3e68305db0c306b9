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

#include "meshTrainer.H"
#include "addToRunTimeSelectionTable.H"
#include "base/Error.hpp"
#include "foamLog.H"
#include "runPaths.H"

#include <algorithm>

// * * * * * * * * * * * * * * Static Data Members * * * * * * * * * * * * * //

namespace Foam
{
namespace functionObjects
{
    defineTypeNameAndDebug(meshTrainer, 0);
    addToRunTimeSelectionTable(functionObject, meshTrainer, dictionary);
}
}


// * * * * * * * * * * * * * * * Local Functions * * * * * * * * * * * * * * //

namespace
{

// All that live: OpenFOAM may wrap its objects, and keeps them to itself
std::vector<Foam::functionObjects::meshTrainer*> objects;

} // End anonymous namespace


// * * * * * * * * * * * * * Private Member Functions  * * * * * * * * * * * //

Foam::scalar Foam::functionObjects::meshTrainer::resumeTime() const
{
    const scalar start = time_.startTime().value();

    // Removed from the dictionary and put back: goes on from the last checkpoint of this
    // run, and what lies between is a gap
    return
        madeInMidRun_
      ? max(start, getProperty<scalar>("checkpointTime", start))
      : start;
}


std::vector<inSitu::CheckpointPlace>
Foam::functionObjects::meshTrainer::checkpoints() const
{
    return runPaths::checkpoints(mesh_, name(), resumeTime());
}


inSitu::TrainingCase Foam::functionObjects::meshTrainer::mirrorCase()
{
    const inSitu::ObjectConfig& config = trainer().config();

    mirrorMesh(fieldSelection::of(config, block_, mesh_, name()));
    if (config.writePrediction)
    {
        scatter_ = std::make_unique<fieldScatter>
        (
            mesh_,
            name(),
            gather_->specs(),
            gather_->targets()
        );
    }
    return describeCase();
}


void Foam::functionObjects::meshTrainer::begin()
{
    const scalar start = time_.startTime().value();

    inSitu::TrainingCase theCase(mirrorCase());
    theCase.pointRounding = theCase.meshMayChange ? pointRounding() : 0;
    theCase.exactRestart = time_.writeFormat() == IOstream::BINARY;
    theCase.endTime = time_.endTime().value();
    theCase.timeTolerance = runPaths::nameRounding(start);
    theCase.meshOfStartTime =
        meshIsStatic() || time_.timeIndex() == time_.startTimeIndex();

    if (madeInMidRun_)
    {
        theCase.startTime = time_.value() - time_.deltaTValue();
        theCase.timeTolerance = runPaths::nameRounding(theCase.startTime);
    }

    trainer().begin(std::move(theCase), mirror_->mesh());
    trainer().resume(checkpoints());
    keepWaitingInputs();
}


bool Foam::functionObjects::meshTrainer::resumesBeforeTheMeshChanges() const
{
    if
    (
        meshIsStatic()
     || madeInMidRun_
     || checkpoints().empty()
    )
    {
        return false;
    }
    try
    {
        fieldSelection::of(trainer().config(), block_, mesh_, name());
        return true;
    }
    catch (const inSitu::Error&)
    {
        // Fields that come later: the first execution looks for them again
        return false;
    }
}


// * * * * * * * * * * * * Protected Member Functions  * * * * * * * * * * * //

std::unique_ptr<inSitu::InSituEngine>
Foam::functionObjects::meshTrainer::makeEngine()
{
    auto engine = std::make_unique<inSitu::InSituTrainer>
    (
        block_,
        name(),
        time_.globalPath(),
        hostKeys(),
        comm_,
        std::make_shared<foamLog>(*this)
    );
    engine->requireInitialWeights
    (
        checkpoints(),
        runPaths::objectFolder(mesh_, name()),
        resumeTime() + runPaths::nameRounding(resumeTime())
    );
    return engine;
}


void Foam::functionObjects::meshTrainer::step()
{
    if (trainer().begun())
    {
        followMesh();
    }
    else
    {
        begin();
    }
    conclude(trainer().execute(now(), gather_->views()));

    if (scatter_ && trainer().hasPrediction())
    {
        scatter_->update(trainer().prediction());
    }
}


void Foam::functionObjects::meshTrainer::store()
{
    // The mesh of this time, also if it has changed since the last execution
    followMesh();
    keepWaitingInputs();

    const fileName folder
    (
        runPaths::checkpointFolder(mesh_, name(), time_.timeName())
    );
    if (Pstream::master())
    {
        mkDir(folder.path());
    }
    trainer().write(time_.value(), time_.timeName(), folder);
    setProperty("checkpointTime", time_.value());

    if (scatter_)
    {
        scatter_->write();
    }
}


void Foam::functionObjects::meshTrainer::forgetFields()
{
    if (scatter_)
    {
        scatter_->forget();
    }
}


// * * * * * * * * * * * * * * * * Constructors  * * * * * * * * * * * * * * //

Foam::functionObjects::meshTrainer::meshTrainer
(
    const word& name,
    const Time& runTime,
    const dictionary& dict
)
:
    inSituObject(name, runTime, dict)
{
    if (postProcess)
    {
        Info<< type() << ' ' << name
            << " trains only inside a running solver: nothing done" << nl << endl;
        return;
    }

    configure(dict);
    if (resumesBeforeTheMeshChanges())
    {
        attempt("construction", onFailure::endConstruction, [this] { begin(); });
    }
    objects.push_back(this);
}


// * * * * * * * * * * * * * * * * Destructor  * * * * * * * * * * * * * * * //

Foam::functionObjects::meshTrainer::~meshTrainer()
{
    const auto end = std::remove(objects.begin(), objects.end(), this);
    objects.erase(end, objects.end());
    close();
}


// * * * * * * * * * * * * * * * Member Functions  * * * * * * * * * * * * * //

const Foam::functionObjects::meshTrainer*
Foam::functionObjects::meshTrainer::find(const Time& runTime, const word& name)
{
    // One that takes the place of another is made before that goes
    const auto found = std::find_if
    (
        objects.rbegin(),
        objects.rend(),
        [&](const meshTrainer* object)
        {
            return &object->time_ == &runTime && object->name() == name;
        }
    );
    return found == objects.rend() ? nullptr : *found;
}

// ************************************************************************* //
