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
#include "makeComm.H"
#include "foamVersion.H"
#include "profiling.H"

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

} // End anonymous namespace


// * * * * * * * * * * * * * Private Member Functions  * * * * * * * * * * * //

bool Foam::functionObjects::inSituObject::isDue()
{
    switch (postProcess ? executionRhythm::beat::regular : rhythm_.next())
    {
        case executionRhythm::beat::extra:
        {
            return false;
        }
        case executionRhythm::beat::afterGap:
        {
            engine_->gap();
            break;
        }
        case executionRhythm::beat::regular:
        {
            break;
        }
    }
    return true;
}


void Foam::functionObjects::inSituObject::storeIfDue()
{
    if
    (
        (postProcess || time_.writeTime())
     && engine_->begun()
     && stored_ != time_.timeIndex()
    )
    {
        stored_ = time_.timeIndex();
        store();
    }
}


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

    waiting_ = !guarded(*this, time_, "construction", policy, together([&]
    {
        comm_ = makeComm();
        block_ = foamNode(dict);
        engine_ = makeEngine();
    }));
    if (waiting_)
    {
        Warning
            << type().c_str() << ' ' << name()
            << " does nothing until its entries are right" << nl << endl;
    }
}


std::function<void()> Foam::functionObjects::inSituObject::together
(
    std::function<void()> body
)
{
    return [this, body = std::move(body)]
    {
        try
        {
            body();
        }
        catch (const std::exception& fault)
        {
            leave(fault.what());
            throw;
        }
        catch (...)
        {
            leave("an exception of unknown type");
            throw;
        }
    };
}


void Foam::functionObjects::inSituObject::leave(const std::string& reason)
{
    if (comm_)
    {
        comm_->leave(reason);
        comm_.reset();
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
            engine_->goesOnAfterError() ? onFailure::warn : policy,
            together(body)
        );
    }
    catch (const Foam::error&)
    {
        // 'errors warn' (v2012) goes on: not with an engine that broke off midway
        engine_.reset();
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
            engine_.reset();
            pending_.reset();
        });
    }
}


void Foam::functionObjects::inSituObject::conclude
(
    const inSitu::InSituEngine::Report& report
)
{
    ++nExecutions_;
    checkCaches();
    keepWaitingInputs();
    if (report.due)
    {
        Log << type() << ' ' << name() << " execute:" << nl
            << report.text.c_str() << nl << endl;
    }
}


inSitu::Instant Foam::functionObjects::inSituObject::now() const
{
    return {time_.value(), time_.timeIndex(), time_.deltaTValue()};
}


void Foam::functionObjects::inSituObject::close()
{
    if (engine_)
    {
        guarded(*this, time_, "destructor", onFailure::warn, together([this]
        {
            engine_->finish();
            engine_.reset();
            pending_.reset();
        }));
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
    executed_(-1),
    stored_(-1)
{
    fvMeshFunctionObject::read(dict);
}


// * * * * * * * * * * * * * * * Member Functions  * * * * * * * * * * * * * //

bool Foam::functionObjects::inSituObject::read(const dictionary& dict)
{
    fvMeshFunctionObject::read(dict);

    if (engine_)
    {
        rhythm_.read(dict);

        // A slip of the pen must not end a run that has come this far
        const bool good = guarded(*this, time_, "read", onFailure::warn, [&]
        {
            inSitu::Node block(foamNode(dict));
            engine_->reconfigure(block);
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


bool Foam::functionObjects::inSituObject::execute()
{
    addProfiling(execute, type() + "::execute");

    if (engine_ && executed_ != time_.timeIndex())
    {
        executed_ = time_.timeIndex();
        attempt("execute", onFailure::endRun, [this]
        {
            if (isDue())
            {
                step();
            }
            storeIfDue();
        });
    }
    return true;
}


bool Foam::functionObjects::inSituObject::write()
{
    if (engine_)
    {
        attempt("write", onFailure::endRun, [this] { storeIfDue(); });
    }
    return true;
}


bool Foam::functionObjects::inSituObject::end()
{
    if (engine_)
    {
        attempt("end", onFailure::endRun, [this] { engine_->finish(); });
    }
    return true;
}

// ************************************************************************* //
