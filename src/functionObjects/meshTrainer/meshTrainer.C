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
#include "cellZoneMask.H"
#include "foamLog.H"
#include "foamNode.H"
#include "foamVersion.H"
#include "graphBuilder.H"
#include "guarded.H"
#include "profiling.H"
#include "runPaths.H"

#include <cmath>

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

using namespace Foam;
using namespace Foam::functionObjects;

// Entries that OpenFOAM reads itself
const std::vector<std::string> hostKeys
{
    "type", "libs", "functionObjectLibs", "enabled", "log", "region", "errors",
    "timeStart", "timeEnd",
    "executeControl", "executeInterval", "writeControl", "writeInterval",
    "outputControl", "outputInterval",
    "triggerStart", "triggerEnd", "controlMode",
    "deltaTCoeff", "nStepsToStartTimeChange"
};


bool inMidRun(const Time& runTime)
{
    return runTime.timeIndex() > runTime.startTimeIndex();
}


// OpenFOAM turns the FatalError of its own look-up into a warning and goes on without
// the object: right for a run that has come far, wrong at its start
const dictionary& withMesh(const Time& runTime, const dictionary& dict)
{
    const word region(dict.getOrDefault("region", polyMesh::defaultRegion));
    if (!runTime.foundObject<fvMesh>(region) && !inMidRun(runTime))
    {
        const wordList names(runTime.sortedNames<fvMesh>());
        FatalIOErrorInFunction(dict)
            << "region: there is no mesh '" << region << "'; there is "
            << inSitu::join({names.begin(), names.end()}).c_str()
            << exit(FatalIOError);
    }
    return dict;
}


std::string foamDescription()
{
    return
        "OpenFOAM v" + std::to_string(foamVersion::api)
      + (sizeof(scalar) == sizeof(double) ? " DP" : " SP")
      + " Int" + std::to_string(8*sizeof(label));
}


bool isStatic(const polyMesh& mesh)
{
    const word& kind = mesh.type();
    return kind == polyMesh::typeName || kind == fvMesh::typeName || kind == "staticFvMesh";
}


// Meshes that move, but neither add nor remove cells: their names say so. For others
// the inputs that wait are kept ready for mapping from the start
bool onlyMoves(const polyMesh& mesh)
{
    const word& kind = mesh.type();
    return isStatic(mesh)
     || kind.find("Motion") != std::string::npos
     || kind == "dynamicInkJetFvMesh";
}


// What writing points to a file may change of them, relative to their size
scalar pointRounding(const Time& runTime)
{
    return
        runTime.writeFormat() == IOstream::BINARY
      ? 0
      : std::pow(scalar(10), 1 - scalar(IOstream::defaultPrecision()));
}

} // End anonymous namespace


// * * * * * * * * * * * * * Private Member Functions  * * * * * * * * * * * //

void Foam::functionObjects::meshTrainer::configure(const dictionary& dict)
{
    // A slip of the pen must not end a run that has come far
    const onFailure policy =
        madeInMidRun_ ? onFailure::warn : onFailure::endConstruction;

    waiting_ = !guarded(*this, time_, "construction", policy, [&]
    {
        block_ = foamNode(dict);
        trainer_ = std::make_unique<inSitu::InSituTrainer>
        (
            block_,
            name(),
            time_.globalPath(),
            hostKeys,
            std::make_shared<inSitu::SerialComm>(),
            std::make_shared<foamLog>(*this)
        );
    });
    if (waiting_)
    {
        Warning
            << type().c_str() << ' ' << name()
            << " does nothing until its entries are right" << nl << endl;
    }
}


void Foam::functionObjects::meshTrainer::attempt
(
    const char* entry,
    const onFailure policy,
    const std::function<void()>& body
)
{
    const bool goOn = trainer_->config().onError == "continue";

    bool good = false;
    try
    {
        good = guarded(*this, time_, entry, goOn ? onFailure::warn : policy, body);
    }
    catch (const Foam::error&)
    {
        // 'errors warn' (v2012) goes on: not with a trainer that broke off midway
        trainer_.reset();
        pending_.reset();
        throw;
    }

    if (!good)
    {
        Warning
            << type().c_str() << ' ' << name()
            << " is switched off for the rest of the run (onError continue)"
            << nl << endl;

        guarded(*this, time_, entry, onFailure::warn, [this]
        {
            trainer_.reset();
            pending_.reset();
        });
    }
}


inSitu::TrainingCase Foam::functionObjects::meshTrainer::describeCase()
{
    const inSitu::ObjectConfig& config = trainer_->config();
    const fieldSelection selection(fieldSelection::of(config, block_, mesh_));

    gather_ = std::make_unique<fieldGather>
    (
        mesh_,
        selection,
        graphBuilder(mesh_, config.graph.boundaryNodes).boundaryPatches()
    );
    mirror_ = std::make_unique<meshMirror>
    (
        mesh_,
        config.graph.boundaryNodes,
        config.cellZone,
        [this](const labelList& patches) { return gather_->fixedInputs(patches); },
        [this](const std::string& cache, const std::string& reason, double seconds)
        {
            trainer_->countBuild(cache, reason, seconds);
        }
    );
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
    if (!onlyMoves(mesh_) && config.onTopologyChange == "map")
    {
        pending_ = std::make_unique<pendingFields>(mesh_, name());
    }

    inSitu::TrainingCase result;
    result.staticColumns = graphBuilder::staticColumns(gather_->inputNames());
    result.fields = gather_->specs();
    result.inputs = gather_->inputs();
    result.targets = gather_->targets();
    result.versions = {foamDescription()};
    result.outputFolder = runPaths::newRunFolder(mesh_, name());
    result.stableFolder = runPaths::objectFolder(mesh_, name());
    result.meshMayChange = !isStatic(mesh_);
    result.pointRounding = result.meshMayChange ? pointRounding(time_) : 0;
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
        isStatic(mesh_) || time_.timeIndex() == time_.startTimeIndex();

    scalar latest = start;
    if (madeInMidRun_)
    {
        // Removed from the dictionary and put back: goes on from the last checkpoint
        // of this run, and what lies between is a gap
        latest = max(start, getProperty<scalar>("checkpointTime", start));
        theCase.startTime = time_.value() - time_.deltaTValue();
        theCase.timeTolerance = runPaths::nameRounding(theCase.startTime);
    }

    mirror_->update();
    trainer_->begin(std::move(theCase), mirror_->mesh());
    trainer_->resume(runPaths::checkpoints(mesh_, name(), latest));
    keepPending();
}


bool Foam::functionObjects::meshTrainer::resumesBeforeTheMeshChanges() const
{
    const scalar start = time_.startTime().value();
    if
    (
        isStatic(mesh_)
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


void Foam::functionObjects::meshTrainer::followMesh()
{
    switch (mirror_->update())
    {
        case meshMirror::change::none:
        {
            break;
        }
        case meshMirror::change::geometry:
        {
            trainer_->setGeometry(mirror_->mesh());
            break;
        }
        case meshMirror::change::topology:
        {
            const labelList& patches = mirror_->boundaryPatches();
            gather_->setPatches(patches);
            trainer_->setTopology
            (
                mirror_->mesh(),
                pending_ && mirror_->mapped()
              ? pending_->mapped(*trainer_, patches)
              : std::vector<inSitu::InSituTrainer::Pending>()
            );
            if (!mirror_->mapped())
            {
                // Fields of the size of another mesh would end the run when OpenFOAM maps
                // them next
                pending_.reset();
                if (scatter_)
                {
                    scatter_->forget();
                }
            }
            if (!pending_ && trainer_->config().onTopologyChange == "map")
            {
                // Once is a surprise
                pending_ = std::make_unique<pendingFields>(mesh_, name());
            }
            break;
        }
    }
}


void Foam::functionObjects::meshTrainer::keepPending()
{
    if (pending_)
    {
        pending_->keep(*trainer_, mirror_->boundaryPatches());
    }
}


void Foam::functionObjects::meshTrainer::checkCaches()
{
    const label interval = label(trainer_->config().selfCheck);
    if (interval > 0 && nExecutions_ % interval == 0)
    {
        mirror_->check();
        trainer_->check();
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

    keepPending();
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
    keepPending();

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


// * * * * * * * * * * * * * * * * Constructors  * * * * * * * * * * * * * * //

Foam::functionObjects::meshTrainer::meshTrainer
(
    const word& name,
    const Time& runTime,
    const dictionary& dict
)
:
    fvMeshFunctionObject(name, runTime, withMesh(runTime, dict)),
    rhythm_(runTime, dict),
    madeInMidRun_(inMidRun(runTime)),
    waiting_(false),
    nExecutions_(0),
    executed_(-1),
    stored_(-1)
{
    if (postProcess)
    {
        Info<< type() << ' ' << name
            << " trains only inside a running solver: nothing done" << nl << endl;
    }
    else if (Pstream::parRun())
    {
        FatalIOErrorInFunction(dict)
            << type() << ' ' << name << " in a parallel run is not supported yet;"
            << " run the solver on one process" << exit(FatalIOError);
    }
    else
    {
        fvMeshFunctionObject::read(dict);
        configure(dict);
        if (resumesBeforeTheMeshChanges())
        {
            attempt("construction", onFailure::endConstruction, [this] { begin(); });
        }
    }
}


// * * * * * * * * * * * * * * * * Destructor  * * * * * * * * * * * * * * * //

Foam::functionObjects::meshTrainer::~meshTrainer()
{
    if (trainer_)
    {
        guarded(*this, time_, "destructor", onFailure::warn, [this]
        {
            const std::unique_ptr<inSitu::InSituTrainer> last(std::move(trainer_));
            last->finish();
            pending_.reset();
        });
    }
}


// * * * * * * * * * * * * * * * Member Functions  * * * * * * * * * * * * * //

bool Foam::functionObjects::meshTrainer::read(const dictionary& dict)
{
    fvMeshFunctionObject::read(dict);

    if (trainer_)
    {
        rhythm_.read(dict);

        // A slip of the pen must not end a run that has come this far
        const bool good = guarded(*this, time_, "read", onFailure::warn, [&]
        {
            inSitu::Node block(foamNode(dict));
            trainer_->reconfigure(block);
            block_ = std::move(block);
        });
        if (!good)
        {
            Warning
                << type().c_str() << ' ' << name()
                << " keeps the entries that it had" << nl << endl;
        }
    }
    else if (waiting_)
    {
        rhythm_.read(dict);
        configure(dict);
    }
    return true;
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


bool Foam::functionObjects::meshTrainer::end()
{
    if (trainer_)
    {
        attempt("end", onFailure::endRun, [this] { trainer_->finish(); });
    }
    return true;
}

// ************************************************************************* //
