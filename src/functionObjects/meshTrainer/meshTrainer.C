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
#include "profiling.H"
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

inSitu::TrainingCase Foam::functionObjects::meshTrainer::describeCase()
{
    const inSitu::ObjectConfig& config = trainer_->config();
    const fieldSelection selection(fieldSelection::of(config, block_, mesh_));

    mirrorMesh(selection);
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
    inSitu::TrainingCase result;
    result.staticColumns = graphBuilder::staticColumns(gather_->inputNames());
    result.fields = gather_->specs();
    result.inputs = gather_->inputs();
    result.targets = gather_->targets();
    result.versions = {foamDescription()};
    result.outputFolder = runPaths::newRunFolder(mesh_, name());
    result.stableFolder = runPaths::objectFolder(mesh_, name());
    result.meshMayChange = !meshIsStatic();
    result.pointRounding = result.meshMayChange ? pointRounding() : 0;
    result.exactRestart = time_.writeFormat() == IOstream::BINARY;
    return result;
}


void Foam::functionObjects::meshTrainer::begin()
{
    const scalar start = time_.startTime().value();

    inSitu::TrainingCase theCase(describeCase());
    theCase.startTime = start;
    theCase.endTime = time_.endTime().value();
    theCase.timeTolerance = runPaths::nameRounding(start);
    theCase.meshOfStartTime =
        meshIsStatic() || time_.timeIndex() == time_.startTimeIndex();

    scalar latest = start;
    if (madeInMidRun_)
    {
        // Removed from the dictionary and put back: goes on from the last checkpoint
        // of this run, and what lies between is a gap
        latest = max(start, getProperty<scalar>("checkpointTime", start));
        theCase.startTime = time_.value() - time_.deltaTValue();
        theCase.timeTolerance = runPaths::nameRounding(theCase.startTime);
    }

    trainer_->begin(std::move(theCase), mirror_->mesh());
    trainer_->resume(runPaths::checkpoints(mesh_, name(), latest));
    keepWaitingInputs();
}


bool Foam::functionObjects::meshTrainer::resumesBeforeTheMeshChanges() const
{
    const scalar start = time_.startTime().value();
    if
    (
        meshIsStatic()
     || madeInMidRun_
     || runPaths::checkpoints(mesh_, name(), start).empty()
    )
    {
        return false;
    }
    try
    {
        fieldSelection::of(trainer_->config(), block_, mesh_);
        return true;
    }
    catch (const inSitu::Error&)
    {
        // Fields that come later: the first execution looks for them again
        return false;
    }
}


void Foam::functionObjects::meshTrainer::train()
{
    const executionRhythm::beat beat = rhythm_.next();

    if (beat == executionRhythm::beat::extra)
    {
        return;
    }
    if (beat == executionRhythm::beat::afterGap)
    {
        trainer_->gap();
    }
    if (trainer_->begun())
    {
        followMesh();
    }
    else
    {
        begin();
    }

    const auto report = trainer_->execute
    (
        {time_.value(), time_.timeIndex(), time_.deltaTValue()},
        gather_->views()
    );
    ++nExecutions_;
    checkCaches();

    keepWaitingInputs();
    if (scatter_ && !trainer_->prediction().empty())
    {
        scatter_->update(trainer_->prediction());
    }
    if (report.due)
    {
        Log << type() << ' ' << name() << " execute:" << nl
            << report.text.c_str() << nl << endl;
    }
}


void Foam::functionObjects::meshTrainer::store()
{
    if
    (
        !time_.writeTime()
     || !trainer_->begun()
     || stored_ == time_.timeIndex()
    )
    {
        return;
    }
    stored_ = time_.timeIndex();

    // The mesh of this time, also if it has changed since the last execution
    followMesh();
    keepWaitingInputs();

    const fileName folder
    (
        runPaths::checkpointFolder(mesh_, name(), time_.timeName())
    );
    mkDir(folder.path());
    trainer_->write(time_.value(), time_.timeName(), folder);
    setProperty("checkpointTime", time_.value());

    if (scatter_)
    {
        scatter_->write();
    }
}


// * * * * * * * * * * * * Protected Member Functions  * * * * * * * * * * * //

bool Foam::functionObjects::meshTrainer::hasEngine() const
{
    return trainer_ != nullptr;
}


void Foam::functionObjects::meshTrainer::makeEngine()
{
    trainer_ = std::make_unique<inSitu::InSituTrainer>
    (
        block_,
        name(),
        time_.globalPath(),
        hostKeys(),
        std::make_shared<inSitu::SerialComm>(),
        std::make_shared<foamLog>(*this)
    );
}


void Foam::functionObjects::meshTrainer::dropEngine()
{
    trainer_.reset();
}


void Foam::functionObjects::meshTrainer::finishEngine()
{
    trainer_->finish();
}


void Foam::functionObjects::meshTrainer::reconfigureEngine
(
    const inSitu::Node& block
)
{
    trainer_->reconfigure(block);
}


bool Foam::functionObjects::meshTrainer::goesOnAfterError() const
{
    return trainer_->config().onError == "continue";
}


Foam::label Foam::functionObjects::meshTrainer::selfCheckInterval() const
{
    return label(trainer_->config().selfCheck);
}


void Foam::functionObjects::meshTrainer::checkEngine()
{
    trainer_->check();
}


void Foam::functionObjects::meshTrainer::setGeometry
(
    const inSitu::CaseMesh& mesh
)
{
    trainer_->setGeometry(mesh);
}


void Foam::functionObjects::meshTrainer::setTopology
(
    const inSitu::CaseMesh& mesh,
    const std::vector<inSitu::PendingAccess::Pending>& pending
)
{
    trainer_->setTopology(mesh, pending);
}


void Foam::functionObjects::meshTrainer::forgetFields()
{
    if (scatter_)
    {
        scatter_->forget();
    }
}


const inSitu::PendingAccess&
Foam::functionObjects::meshTrainer::waitingInputs() const
{
    return *trainer_;
}


void Foam::functionObjects::meshTrainer::countBuild
(
    const std::string& cache,
    const std::string& reason,
    double seconds
)
{
    trainer_->countBuild(cache, reason, seconds);
}


Foam::functionObjects::inSituObject::meshOptions
Foam::functionObjects::meshTrainer::optionsOfMesh() const
{
    const inSitu::ObjectConfig& config = trainer_->config();
    return
    {
        config.graph.boundaryNodes,
        config.cellZone,
        config.onTopologyChange
    };
}


// * * * * * * * * * * * * * * * * Constructors  * * * * * * * * * * * * * * //

Foam::functionObjects::meshTrainer::meshTrainer
(
    const word& name,
    const Time& runTime,
    const dictionary& dict
)
:
    inSituObject(name, runTime, dict),
    stored_(-1)
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


bool Foam::functionObjects::meshTrainer::execute()
{
    addProfiling(trainer, "meshTrainer::execute");

    if (trainer_ && executed_ != time_.timeIndex())
    {
        executed_ = time_.timeIndex();
        attempt("execute", onFailure::endRun, [this]
        {
            train();
            store();
        });
    }
    return true;
}


bool Foam::functionObjects::meshTrainer::write()
{
    if (trainer_)
    {
        attempt("write", onFailure::endRun, [this] { store(); });
    }
    return true;
}

// ************************************************************************* //
