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

#include "inSituObject.H"
#include "base/Error.hpp"
#include "foamNode.H"
#include "foamVersion.H"

#include <cmath>

// * * * * * * * * * * * * * * * Local Functions * * * * * * * * * * * * * * //

namespace
{

using namespace Foam;

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


// Meshes that move, but neither add nor remove cells: their names say so. For others
// the inputs that wait are kept ready for mapping from the start
bool onlyMoves(const polyMesh& mesh)
{
    const word& kind = mesh.type();
    return
        kind.find("Motion") != std::string::npos
     || kind == "dynamicInkJetFvMesh";
}

} // End anonymous namespace


// * * * * * * * * * * * * Protected Member Functions  * * * * * * * * * * * //

const std::vector<std::string>&
Foam::functionObjects::inSituObject::hostKeys()
{
    static const std::vector<std::string> keys
    {
        "type", "libs", "functionObjectLibs", "enabled", "log", "region", "errors",
        "timeStart", "timeEnd",
        "executeControl", "executeInterval", "writeControl", "writeInterval",
        "outputControl", "outputInterval",
        "triggerStart", "triggerEnd", "controlMode",
        "deltaTCoeff", "nStepsToStartTimeChange"
    };
    return keys;
}


std::string Foam::functionObjects::inSituObject::foamDescription()
{
    return
        "OpenFOAM v" + std::to_string(foamVersion::api)
      + (sizeof(scalar) == sizeof(double) ? " DP" : " SP")
      + " Int" + std::to_string(8*sizeof(label));
}


void Foam::functionObjects::inSituObject::configure(const dictionary& dict)
{
    // A slip of the pen must not end a run that has come far
    const onFailure policy =
        madeInMidRun_ ? onFailure::warn : onFailure::endConstruction;

    waiting_ = !guarded(*this, time_, "construction", policy, [&]
    {
        block_ = foamNode(dict);
        makeEngine();
    });
    if (waiting_)
    {
        Warning
            << type().c_str() << ' ' << name()
            << " does nothing until its entries are right" << nl << endl;
    }
}


void Foam::functionObjects::inSituObject::attempt
(
    const char* entry,
    const onFailure policy,
    const std::function<void()>& body
)
{
    bool good = false;
    try
    {
        good = guarded
        (
            *this,
            time_,
            entry,
            goesOnAfterError() ? onFailure::warn : policy,
            body
        );
    }
    catch (const Foam::error&)
    {
        // 'errors warn' (v2012) goes on: not with an engine that broke off midway
        dropEngine();
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
            dropEngine();
            pending_.reset();
        });
    }
}


void Foam::functionObjects::inSituObject::mirrorMesh
(
    const fieldSelection& selection
)
{
    const meshOptions options(optionsOfMesh());

    gather_ = std::make_unique<fieldGather>
    (
        mesh_,
        selection,
        graphBuilder(mesh_, options.boundaryRows).boundaryPatches()
    );
    mirror_ = std::make_unique<meshMirror>
    (
        mesh_,
        options.boundaryRows,
        options.cellZone,
        [this](const labelList& patches) { return gather_->fixedInputs(patches); },
        [this](const std::string& cache, const std::string& reason, double seconds)
        {
            countBuild(cache, reason, seconds);
        }
    );
    if (!meshIsStatic() && !onlyMoves(mesh_) && options.onTopologyChange == "map")
    {
        pending_ = std::make_unique<pendingFields>(mesh_, name());
    }
    mirror_->update();
}


void Foam::functionObjects::inSituObject::followMesh()
{
    switch (mirror_->update())
    {
        case meshMirror::change::none:
        {
            break;
        }
        case meshMirror::change::geometry:
        {
            setGeometry(mirror_->mesh());
            break;
        }
        case meshMirror::change::topology:
        {
            const labelList& patches = mirror_->boundaryPatches();
            gather_->setPatches(patches);
            setTopology
            (
                mirror_->mesh(),
                pending_ && mirror_->mapped()
              ? pending_->mapped(waitingInputs(), patches)
              : std::vector<inSitu::PendingAccess::Pending>()
            );
            if (!mirror_->mapped())
            {
                // Fields of the size of another mesh would end the run when OpenFOAM maps
                // them next
                pending_.reset();
                forgetFields();
            }
            if (!pending_ && optionsOfMesh().onTopologyChange == "map")
            {
                // Once is a surprise
                pending_ = std::make_unique<pendingFields>(mesh_, name());
            }
            break;
        }
    }
}


void Foam::functionObjects::inSituObject::keepWaitingInputs()
{
    if (pending_)
    {
        pending_->keep(waitingInputs(), mirror_->boundaryPatches());
    }
}


void Foam::functionObjects::inSituObject::checkCaches()
{
    const label interval = selfCheckInterval();
    if (interval > 0 && nExecutions_ % interval == 0)
    {
        mirror_->check();
        checkEngine();
    }
}


bool Foam::functionObjects::inSituObject::meshIsStatic() const
{
    const word& kind = static_cast<const polyMesh&>(mesh_).type();
    return kind == polyMesh::typeName || kind == fvMesh::typeName || kind == "staticFvMesh";
}


Foam::scalar Foam::functionObjects::inSituObject::pointRounding() const
{
    return
        time_.writeFormat() == IOstream::BINARY
      ? 0
      : std::pow(scalar(10), 1 - scalar(IOstream::defaultPrecision()));
}


void Foam::functionObjects::inSituObject::close()
{
    if (hasEngine())
    {
        guarded(*this, time_, "destructor", onFailure::warn, [this]
        {
            finishEngine();
            dropEngine();
            pending_.reset();
        });
    }
}


// * * * * * * * * * * * * * * * * Constructors  * * * * * * * * * * * * * * //

Foam::functionObjects::inSituObject::inSituObject
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
    executed_(-1)
{
    if (Pstream::parRun())
    {
        FatalIOErrorInFunction(dict)
            << dict.get<word>("type") << ' ' << name
            << " in a parallel run is not supported yet;"
            << " run the solver on one process" << exit(FatalIOError);
    }
    fvMeshFunctionObject::read(dict);
}


// * * * * * * * * * * * * * * * Member Functions  * * * * * * * * * * * * * //

bool Foam::functionObjects::inSituObject::read(const dictionary& dict)
{
    fvMeshFunctionObject::read(dict);

    if (hasEngine())
    {
        rhythm_.read(dict);

        // A slip of the pen must not end a run that has come this far
        const bool good = guarded(*this, time_, "read", onFailure::warn, [&]
        {
            inSitu::Node block(foamNode(dict));
            reconfigureEngine(block);
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


bool Foam::functionObjects::inSituObject::end()
{
    if (hasEngine())
    {
        attempt("end", onFailure::endRun, [this] { finishEngine(); });
    }
    return true;
}

// ************************************************************************* //
