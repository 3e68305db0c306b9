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

#include <chrono>

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


// OpenFOAM (v1912) turns the FatalError of its own look-up into a warning and goes
// on without the object
const dictionary& withMesh(const Time& runTime, const dictionary& dict)
{
    const word region(dict.getOrDefault("region", polyMesh::defaultRegion));
    if (!runTime.foundObject<fvMesh>(region))
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


// Result of make() and the seconds that it took
template<class Make>
auto timed(const Make& make)
{
    using clock = std::chrono::steady_clock;

    const auto start = clock::now();
    auto result = make();
    const std::chrono::duration<double> seconds = clock::now() - start;
    return std::make_pair(std::move(result), seconds.count());
}

} // End anonymous namespace


// * * * * * * * * * * * * * Private Member Functions  * * * * * * * * * * * //

void Foam::functionObjects::meshTrainer::attempt
(
    const char* entry,
    const std::function<void()>& body
)
{
    const bool goOn = trainer_->config().onError == "continue";

    if (!guarded(*this, time_, entry, goOn ? onFailure::warn : onFailure::endRun, body))
    {
        Warning
            << type().c_str() << ' ' << name()
            << " is switched off for the rest of the run (onError continue)"
            << nl << endl;

        guarded(*this, time_, entry, onFailure::warn, [this] { trainer_.reset(); });
    }
}


inSitu::TrainingCase Foam::functionObjects::meshTrainer::describeCase()
{
    const inSitu::ObjectConfig& config = trainer_->config();
    const fieldSelection selection(fieldSelection::of(config, block_, mesh_));
    const graphBuilder builder(mesh_, config.graph.boundaryNodes);

    gather_ =
        std::make_unique<fieldGather>(mesh_, selection, builder.boundaryPatches());
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

    const auto graph = timed([&] { return builder.graph(); });
    const auto geometry = timed([&] { return builder.geometry(*graph.first); });
    trainer_->countBuild("topology", "first execution", graph.second);
    trainer_->countBuild("geometry", "first execution", geometry.second);

    inSitu::TrainingCase result;
    result.mesh.graph = graph.first;
    result.mesh.geometry = geometry.first;
    result.mesh.staticFeatures =
        builder.staticFeatures(*graph.first, gather_->fixedInputs());
    result.staticColumns = graphBuilder::staticColumns(gather_->inputNames());
    result.fields = gather_->specs();
    result.inputs = gather_->inputs();
    result.targets = gather_->targets();
    result.cellMask = cellZoneMask(mesh_, config.cellZone);
    result.topologyFingerprint = topologyFingerprint(mesh_);
    result.topologyText = topologyText(mesh_);
    result.placeOfRow = builder.placeOfRow();
    result.versions = {foamDescription()};
    result.outputFolder = runPaths::newRunFolder(mesh_, name());
    result.stableFolder = runPaths::objectFolder(mesh_, name());
    result.exactRestart = time_.writeFormat() == IOstream::BINARY;
    return result;
}


void Foam::functionObjects::meshTrainer::begin()
{
    stamps_ = meshStamps::of(mesh_);

    const scalar start = time_.startTime().value();

    inSitu::TrainingCase theCase(describeCase());
    theCase.startTime = start;
    theCase.timeTolerance = runPaths::nameRounding(start);

    scalar latest = start;
    if (madeInMidRun_)
    {
        // Removed from the dictionary and put back: goes on from the last checkpoint
        // of this run, and what lies between is a gap
        latest = max(start, getProperty<scalar>("checkpointTime", start));
        theCase.startTime = time_.value() - time_.deltaTValue();
    }

    trainer_->begin(std::move(theCase));
    trainer_->resume(runPaths::checkpoints(mesh_, name(), latest));
}


void Foam::functionObjects::meshTrainer::requireSameMesh() const
{
    const meshStamps now(meshStamps::of(mesh_));

    if (now.topology != stamps_.topology)
    {
        throw inSitu::Error
        (
            "the topology of mesh " + mesh_.name() + " has changed since the first"
            " execution; training on a mesh that changes is not supported yet"
        );
    }
    if (now.geometry != stamps_.geometry)
    {
        throw inSitu::Error
        (
            "the geometry of mesh " + mesh_.name() + " has changed since the first"
            " execution (points have moved); training on a mesh that moves is not"
            " supported yet"
        );
    }
}


void Foam::functionObjects::meshTrainer::train()
{
    const executionRhythm::beat beat = rhythm_.next();

    if (beat == executionRhythm::beat::extra)
    {
        return;
    }
    if (!trainer_->begun())
    {
        begin();
    }
    requireSameMesh();
    if (beat == executionRhythm::beat::afterGap)
    {
        trainer_->gap();
    }

    const auto report =
        trainer_->execute(time_.value(), time_.timeIndex(), gather_->views());

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
    stamps_{-1, -1},
    madeInMidRun_(runTime.timeIndex() > runTime.startTimeIndex()),
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
        guarded(*this, time_, "construction", onFailure::endConstruction, [&]
        {
            block_ = foamNode(dict);
            trainer_ = std::make_unique<inSitu::InSituTrainer>
            (
                block_,
                name,
                time_.globalPath(),
                hostKeys,
                std::make_shared<inSitu::SerialComm>(),
                std::make_shared<foamLog>(*this)
            );
        });
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
    return true;
}


bool Foam::functionObjects::meshTrainer::execute()
{
    addProfiling(trainer, "meshTrainer::execute");

    if (trainer_ && executed_ != time_.timeIndex())
    {
        executed_ = time_.timeIndex();
        attempt("execute", [this]
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
        attempt("write", [this] { store(); });
    }
    return true;
}


bool Foam::functionObjects::meshTrainer::end()
{
    if (trainer_)
    {
        attempt("end", [this] { trainer_->finish(); });
    }
    return true;
}

// ************************************************************************* //
