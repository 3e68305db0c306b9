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

bool Foam::functionObjects::meshPredictor::isClosure()
{
    return predictor().config().mode == "closure";
}


bool Foam::functionObjects::meshPredictor::hasModel()
{
    const std::string name = predictor().config().trainer();
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
    if (object->hasTrainer())
    {
        predictor().follow(object->trainer());
    }
    return predictor().hasModel();
}


void Foam::functionObjects::meshPredictor::begin()
{
    const inSitu::ModelCard& card = predictor().card();
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
    else if (predictor().config().mode == "rollout")
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
    else if (predictor().config().writePrediction)
    {
        scatter_ = std::make_unique<fieldScatter>
        (
            mesh_,
            name(),
            theCase.fields,
            theCase.targets
        );
    }
    predictor().begin(std::move(theCase), mirror_->mesh());
}


void Foam::functionObjects::meshPredictor::beginEarly()
{
    const bool goesOn =
        predictor().config().mode == "rollout"
     && getProperty<label>("rolloutStep", -1) >= 0;

    // A trainer may be made after this object
    const std::string trainer = predictor().config().trainer();
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
        step();
    }
}


void Foam::functionObjects::meshPredictor::resumeRollout()
{
    const label step = getProperty<label>("rolloutStep", -1);
    if (step < 0 || !rollout_->wasRead())
    {
        return;
    }

    predictor().rollout().resume(step, rollout_->startState());
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
    inSitu::Rollout& rollout = predictor().rollout();
    rollout.feed({inputTime, time_.timeIndex(), time_.deltaTValue()}, rollout_->state());
    rollout.setWaited(waited, inputTime);
}


inSitu::InSituEngine::Report Foam::functionObjects::meshPredictor::rollOut()
{
    inSitu::Rollout& rollout = predictor().rollout();

    const label steps = label(predictor().config().rollout.steps);
    if (steps > 0 && rollout.step() >= steps)
    {
        rollout.reset();
    }
    if (!rollout.begun())
    {
        rollout_->start();
        rollout.begin(rollout_->startState());
        feedRollout(0, time_.value());
    }
    else if (rollout.tick(now()))
    {
        rollout_->update(rollout.advance(now()));
        const auto report = predictor().note
        (
            now(),
            rollout.compare(gather_->views(), inSitu::SerialComm())
        );
        feedRollout(0, time_.value());
        return report;
    }
    return {};
}


// * * * * * * * * * * * * Protected Member Functions  * * * * * * * * * * * //

std::unique_ptr<inSitu::InSituEngine>
Foam::functionObjects::meshPredictor::makeEngine()
{
    auto engine = std::make_unique<inSitu::InSituPredictor>
    (
        block_,
        name(),
        time_.globalPath(),
        hostKeys(),
        std::make_shared<inSitu::SerialComm>(),
        std::make_shared<foamLog>(*this)
    );
    if (postProcess && engine->config().mode == "closure")
    {
        throw inSitu::Error
        (
            "mode closure acts on a running solver; post-processing has mode compare"
        );
    }
    return engine;
}


void Foam::functionObjects::meshPredictor::step()
{
    if (!hasModel())
    {
        return;
    }
    std::unique_ptr<storedFields> stored;
    if (postProcess)
    {
        const inSitu::ModelCard& card = predictor().card();
        stored = std::make_unique<storedFields>(mesh_, card.inputs, card.targets);
    }
    if (predictor().begun())
    {
        followMesh();
    }
    else
    {
        begin();
    }

    conclude
    (
        rollout_ ? rollOut()
      : closure_ ? predictor().close(now(), gather_->views(), closure_->values())
      : predictor().compare(now(), gather_->views())
    );

    if (!predictor().prediction().empty())
    {
        if (closure_)
        {
            closure_->update(predictor().prediction());
        }
        else if (scatter_)
        {
            scatter_->update(predictor().prediction());
        }
    }
}


void Foam::functionObjects::meshPredictor::store()
{
    if (rollout_)
    {
        const inSitu::Rollout& rollout = predictor().rollout();
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


void Foam::functionObjects::meshPredictor::forgetFields()
{
    if (scatter_)
    {
        scatter_->forget();
    }
}


void Foam::functionObjects::meshPredictor::rowsChanged()
{
    if (rollout_ && predictor().rollout().begun())
    {
        // OpenFOAM has mapped the fields: they are what was fed in
        inSitu::Rollout& rollout = predictor().rollout();
        const label waited = label(rollout.waited());
        const scalar inputTime = rollout.inputTime();
        rollout_->setPatches(mirror_->boundaryPatches());
        rollout.resume(rollout.step(), rollout_->startState());
        feedRollout(waited, inputTime);
    }
}


// * * * * * * * * * * * * * * * * Constructors  * * * * * * * * * * * * * * //

Foam::functionObjects::meshPredictor::meshPredictor
(
    const word& name,
    const Time& runTime,
    const dictionary& dict
)
:
    inSituObject(name, runTime, dict)
{
    configure(dict);
    if (engine_ && !postProcess && !madeInMidRun_)
    {
        attempt("construction", onFailure::endConstruction, [this] { beginEarly(); });
    }
}


// * * * * * * * * * * * * * * * * Destructor  * * * * * * * * * * * * * * * //

Foam::functionObjects::meshPredictor::~meshPredictor()
{
    close();
}

// ************************************************************************* //
