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

bool Foam::functionObjects::meshPredictor::hasModel()
{
    const std::string name = predictor().config().trainer();
    if (name.empty())
    {
        predictor().followFile();
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


bool Foam::functionObjects::meshPredictor::hasModelEarly()
{
    // A trainer may be made after this object
    const std::string trainer = predictor().config().trainer();
    return
        (trainer.empty() || meshTrainer::find(time_, word(trainer, false)))
     && hasModel();
}


Foam::functionObjects::fieldSelection
Foam::functionObjects::meshPredictor::selectFields()
{
    mode_->makeFields();

    const inSitu::ModelCard& card = predictor().card();
    return fieldSelection::of
    (
        namesOf(card.inputs),
        namesOf(card.targets),
        namesOf(card.edgeInputs),
        block_,
        mesh_,
        name()
    );
}


bool Foam::functionObjects::meshPredictor::fieldsAreThere()
{
    try
    {
        selectFields();
        return true;
    }
    catch (const inSitu::ConfigError&)
    {
        return false;
    }
}


void Foam::functionObjects::meshPredictor::begin()
{
    const fieldSelection selection(selectFields());
    mirrorMesh(selection);

    inSitu::TrainingCase theCase(describeCase());
    const bool fromStart =
        !postProcess && !madeInMidRun_
     && (meshIsStatic() || time_.timeIndex() == time_.startTimeIndex());

    mode_->begin(selection, theCase, mirror_->boundaryPatches(), fromStart);
    predictor().begin(std::move(theCase), mirror_->mesh());
    mode_->resume();
}


void Foam::functionObjects::meshPredictor::beginEarly()
{
    mode_->restore();
    if (!mode_->isEarly(rhythm_.isOpen()) || !hasModelEarly())
    {
        return;
    }
    if (fieldsAreThere())
    {
        begin();
        if (mode_->predictsEarly())
        {
            step();
        }
    }
    else if (mode_->predictsEarly())
    {
        // Of function objects, which come after the first step: the execution asks again
        Warning
            << type().c_str() << ' ' << name() << ": not all fields of the model are there"
            << " before the first step: until the first execution its result is 0"
            << nl << endl;
    }
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
        comm_,
        std::make_shared<foamLog>(*this)
    );
    if (postProcess && engine->config().mode == "closure")
    {
        throw inSitu::Error
        (
            "mode closure acts on a running solver; post-processing has mode compare"
        );
    }
    mode_ = predictionMode::New(mesh_, *this, *engine);
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
        stored = std::make_unique<storedFields>
        (
            mesh_,
            card.inputs,
            card.targets,
            card.edgeInputs
        );
    }
    if (predictor().begun())
    {
        followMesh();
    }
    else
    {
        begin();
    }

    conclude(mode_->predict(now(), gather_->views()));
}


void Foam::functionObjects::meshPredictor::store()
{
    mode_->write();
}


void Foam::functionObjects::meshPredictor::forgetFields()
{
    mode_->forget();
}


void Foam::functionObjects::meshPredictor::rowsChanged()
{
    mode_->setPatches(now(), mirror_->boundaryPatches());
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
