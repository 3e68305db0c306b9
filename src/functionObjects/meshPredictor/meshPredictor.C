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

#include "meshPredictor.H"
#include "addToRunTimeSelectionTable.H"
#include "base/Error.hpp"
#include "foamLog.H"
#include "meshTrainer.H"
#include "profiling.H"
#include "runPaths.H"
#include "storedFields.H"

// * * * * * * * * * * * * * * Static Data Members * * * * * * * * * * * * * //

namespace Foam
{
namespace functionObjects
{
    defineTypeNameAndDebug(meshPredictor, 0);
    addToRunTimeSelectionTable(functionObject, meshPredictor, dictionary);
}
}


// * * * * * * * * * * * * * * * Local Functions * * * * * * * * * * * * * * //

namespace
{

std::vector<inSitu::Pattern> namesOf(const std::vector<inSitu::FieldSpec>& fields)
{
    std::vector<inSitu::Pattern> names;
    for (const inSitu::FieldSpec& field : fields)
    {
        names.push_back({field.name, false});
    }
    return names;
}

} // End anonymous namespace


// * * * * * * * * * * * * * Private Member Functions  * * * * * * * * * * * //

bool Foam::functionObjects::meshPredictor::isClosure() const
{
    return predictor_->config().mode == "closure";
}


bool Foam::functionObjects::meshPredictor::hasModel()
{
    const std::string name = predictor_->config().trainer();
    if (name.empty())
    {
        return true;
    }

    const meshTrainer* object = meshTrainer::find(time_, word(name, false));
    if (!object)
    {
        throw inSitu::Error
        (
            "model: there is no meshTrainer '" + name + "' in this run"
        );
    }
    if (object->trainer())
    {
        predictor_->follow(*object->trainer());
    }
    return predictor_->hasModel();
}


inSitu::TrainingCase Foam::functionObjects::meshPredictor::describeCase() const
{
    inSitu::TrainingCase result;
    result.staticColumns = graphBuilder::staticColumns(gather_->inputNames());
    result.fields = gather_->specs();
    result.inputs = gather_->inputs();
    result.targets = gather_->targets();
    result.versions = {foamDescription()};
    result.outputFolder = runPaths::newRunFolder(mesh_, name());
    result.stableFolder = runPaths::objectFolder(mesh_, name());
    result.startTime = time_.startTime().value();
    result.meshMayChange = !meshIsStatic();
    return result;
}


void Foam::functionObjects::meshPredictor::begin()
{
    const inSitu::ModelCard& card = predictor_->card();
    if (isClosure())
    {
        closure_ = std::make_unique<closureFields>(mesh_, card.targets);
    }
    const fieldSelection selection(fieldSelection::of
    (
        namesOf(card.inputs),
        namesOf(card.targets),
        block_,
        mesh_
    ));
    mirrorMesh(selection);

    inSitu::TrainingCase theCase(describeCase());
    if (closure_)
    {
        closure_->setLayout(theCase.fields, theCase.targets);
    }
    else if (predictor_->config().mode == "rollout")
    {
        rollout_ = std::make_unique<rolloutFields>
        (
            mesh_,
            selection,
            theCase.fields,
            theCase.targets,
            mirror_->boundaryPatches()
        );
    }
    else if (predictor_->config().writePrediction)
    {
        scatter_ = std::make_unique<fieldScatter>
        (
            mesh_,
            name(),
            theCase.fields,
            theCase.targets
        );
    }
    predictor_->begin(std::move(theCase), mirror_->mesh());
}


void Foam::functionObjects::meshPredictor::beginEarly()
{
    const bool goesOn =
        predictor_->config().mode == "rollout"
     && getProperty<label>("rolloutStep", -1) >= 0;

    // A trainer may be made after this object
    const std::string trainer = predictor_->config().trainer();
    const bool early =
        (isClosure() || goesOn)
     && (trainer.empty() || meshTrainer::find(time_, word(trainer, false)));

    if (!early || !hasModel())
    {
        return;
    }
    begin();
    if (goesOn)
    {
        resumeRollout();
    }
    else if (!closure_->wasRead())
    {
        predict();
    }
}


void Foam::functionObjects::meshPredictor::predict()
{
    if (!hasModel())
    {
        return;
    }
    std::unique_ptr<storedFields> stored;
    if (postProcess)
    {
        const inSitu::ModelCard& card = predictor_->card();
        stored = std::make_unique<storedFields>(mesh_, card.inputs, card.targets);
    }
    if (predictor_->begun())
    {
        followMesh();
    }
    else
    {
        begin();
    }

    if (rollout_)
    {
        rollOut();
        return;
    }

    const inSitu::Instant now
        {time_.value(), time_.timeIndex(), time_.deltaTValue()};
    const auto report =
        closure_
      ? predictor_->close(now, gather_->views(), closure_->values())
      : predictor_->compare(now, gather_->views());
    ++nExecutions_;
    checkCaches();
    keepWaitingInputs();

    if (!predictor_->prediction().empty())
    {
        if (closure_)
        {
            closure_->update(predictor_->prediction());
        }
        else if (scatter_)
        {
            scatter_->update(predictor_->prediction());
        }
    }
    if (report.due)
    {
        Log << type() << ' ' << name() << " execute:" << nl
            << report.text.c_str() << nl << endl;
    }
}


void Foam::functionObjects::meshPredictor::resumeRollout()
{
    const label step = getProperty<label>("rolloutStep", -1);
    if (step < 0 || !rollout_->wasRead())
    {
        return;
    }

    predictor_->rollout().resume(step, rollout_->startState());
    feedRollout
    (
        getProperty<label>("rolloutWaited", 0),
        getProperty<scalar>("rolloutInputTime", time_.startTime().value())
    );
    Log << type() << ' ' << name() << ": the rollout goes on from its step "
        << step << nl << endl;
}


void Foam::functionObjects::meshPredictor::feedRollout
(
    const label waited,
    const scalar inputTime
)
{
    inSitu::Rollout& rollout = predictor_->rollout();
    rollout.feed({inputTime, time_.timeIndex(), time_.deltaTValue()}, rollout_->state());
    rollout.setWaited(waited, inputTime);
}


void Foam::functionObjects::meshPredictor::rollOut()
{
    const inSitu::Instant now
        {time_.value(), time_.timeIndex(), time_.deltaTValue()};
    inSitu::Rollout& rollout = predictor_->rollout();

    const label steps = label(predictor_->config().rollout.steps);
    if (steps > 0 && rollout.step() >= steps)
    {
        rollout.reset();
    }
    if (!rollout.begun())
    {
        rollout_->start();
        rollout.begin(rollout_->startState());
        feedRollout(0, now.time);
    }
    else if (rollout.tick(now))
    {
        rollout_->update(rollout.advance(now));
        const auto report = predictor_->note
        (
            now,
            rollout.compare(gather_->views(), inSitu::SerialComm())
        );
        feedRollout(0, now.time);
        if (report.due)
        {
            Log << type() << ' ' << name() << " execute:" << nl
                << report.text.c_str() << nl << endl;
        }
    }
    ++nExecutions_;
    checkCaches();
}


void Foam::functionObjects::meshPredictor::store()
{
    if
    (
        !(postProcess || time_.writeTime())
     || !predictor_->begun()
     || written_ == time_.timeIndex()
    )
    {
        return;
    }
    written_ = time_.timeIndex();

    if (rollout_)
    {
        const inSitu::Rollout& rollout = predictor_->rollout();
        rollout_->write();
        setProperty("rolloutStep", label(rollout.step()));
        setProperty("rolloutWaited", label(rollout.waited()));
        setProperty("rolloutInputTime", scalar(rollout.inputTime()));
    }
    else if (closure_)
    {
        closure_->write();
    }
    else if (scatter_)
    {
        scatter_->write();
    }
}


// * * * * * * * * * * * * Protected Member Functions  * * * * * * * * * * * //

bool Foam::functionObjects::meshPredictor::hasEngine() const
{
    return predictor_ != nullptr;
}


void Foam::functionObjects::meshPredictor::makeEngine()
{
    predictor_ = std::make_unique<inSitu::InSituPredictor>
    (
        block_,
        name(),
        time_.globalPath(),
        hostKeys(),
        std::make_shared<inSitu::SerialComm>(),
        std::make_shared<foamLog>(*this)
    );
    if (postProcess && isClosure())
    {
        throw inSitu::Error
        (
            "mode closure acts on a running solver; post-processing has mode compare"
        );
    }
}


void Foam::functionObjects::meshPredictor::dropEngine()
{
    predictor_.reset();
}


void Foam::functionObjects::meshPredictor::finishEngine()
{
    predictor_->finish();
}


void Foam::functionObjects::meshPredictor::reconfigureEngine
(
    const inSitu::Node& block
)
{
    predictor_->reconfigure(block);
}


bool Foam::functionObjects::meshPredictor::goesOnAfterError() const
{
    return predictor_->config().onError == "continue";
}


Foam::label Foam::functionObjects::meshPredictor::selfCheckInterval() const
{
    return label(predictor_->config().selfCheck);
}


void Foam::functionObjects::meshPredictor::checkEngine()
{
    predictor_->check();
}


void Foam::functionObjects::meshPredictor::setGeometry
(
    const inSitu::CaseMesh& mesh
)
{
    predictor_->setGeometry(mesh);
}


void Foam::functionObjects::meshPredictor::setTopology
(
    const inSitu::CaseMesh& mesh,
    const std::vector<inSitu::PendingAccess::Pending>& pending
)
{
    predictor_->setTopology(mesh, pending);
    if (rollout_ && predictor_->rollout().begun())
    {
        // OpenFOAM has mapped the fields: they are what was fed in
        inSitu::Rollout& rollout = predictor_->rollout();
        const label waited = label(rollout.waited());
        const scalar inputTime = rollout.inputTime();
        rollout_->setPatches(mirror_->boundaryPatches());
        rollout.resume(rollout.step(), rollout_->startState());
        feedRollout(waited, inputTime);
    }
}


void Foam::functionObjects::meshPredictor::forgetFields()
{
    if (scatter_)
    {
        scatter_->forget();
    }
}


const inSitu::PendingAccess&
Foam::functionObjects::meshPredictor::waitingInputs() const
{
    return *predictor_;
}


void Foam::functionObjects::meshPredictor::countBuild
(
    const std::string& cache,
    const std::string& reason,
    double seconds
)
{
    predictor_->countBuild(cache, reason, seconds);
}


Foam::functionObjects::inSituObject::meshOptions
Foam::functionObjects::meshPredictor::optionsOfMesh() const
{
    return
    {
        predictor_->card().boundaryNodes,
        "",
        predictor_->config().onTopologyChange
    };
}


// * * * * * * * * * * * * * * * * Constructors  * * * * * * * * * * * * * * //

Foam::functionObjects::meshPredictor::meshPredictor
(
    const word& name,
    const Time& runTime,
    const dictionary& dict
)
:
    inSituObject(name, runTime, dict),
    written_(-1)
{
    configure(dict);
    if (predictor_ && !postProcess && !madeInMidRun_)
    {
        attempt("construction", onFailure::endConstruction, [this] { beginEarly(); });
    }
}


// * * * * * * * * * * * * * * * * Destructor  * * * * * * * * * * * * * * * //

Foam::functionObjects::meshPredictor::~meshPredictor()
{
    close();
}


// * * * * * * * * * * * * * * * Member Functions  * * * * * * * * * * * * * //

bool Foam::functionObjects::meshPredictor::execute()
{
    addProfiling(predictor, "meshPredictor::execute");

    if (predictor_ && executed_ != time_.timeIndex())
    {
        executed_ = time_.timeIndex();
        attempt("execute", onFailure::endRun, [this]
        {
            const executionRhythm::beat beat =
                postProcess ? executionRhythm::beat::regular : rhythm_.next();

            if (beat == executionRhythm::beat::extra)
            {
                return;
            }
            if (beat == executionRhythm::beat::afterGap && predictor_->begun())
            {
                predictor_->gap();
            }
            predict();
            store();
        });
    }
    return true;
}


bool Foam::functionObjects::meshPredictor::write()
{
    if (predictor_)
    {
        attempt("write", onFailure::endRun, [this] { store(); });
    }
    return true;
}

// ************************************************************************* //
