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
#include "runPaths.H"

#include <cmath>

// How an object follows its mesh

// * * * * * * * * * * * * * * * Local Functions * * * * * * * * * * * * * * //

namespace
{

using namespace Foam;

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


// * * * * * * * * * * * * * Private Member Functions  * * * * * * * * * * * //

void Foam::functionObjects::inSituObject::checkCaches()
{
    const label interval = label(engine_->selfCheckInterval());
    if (interval > 0 && nExecutions_ % interval == 0)
    {
        mirror_->check();
        engine_->check();
    }
}


// * * * * * * * * * * * * Protected Member Functions  * * * * * * * * * * * //

void Foam::functionObjects::inSituObject::mirrorMesh
(
    const fieldSelection& selection
)
{
    const inSitu::InSituEngine::MeshOptions options(engine_->meshOptions());

    gather_ = std::make_unique<fieldGather>
    (
        mesh_,
        selection,
        graphBuilder(mesh_, options.boundaryRows).boundaryPatches(),
        options.halo
    );
    mirror_ = std::make_unique<meshMirror>
    (
        mesh_,
        comm_,
        options.boundaryRows,
        options.halo,
        options.cellZone,
        options.features,
        [this](const labelList& patches) { return gather_->fixedInputs(patches); },
        [this](const std::string& cache, const std::string& reason, double seconds)
        {
            engine_->countBuild(cache, reason, seconds);
        }
    );
    if (!meshIsStatic() && !onlyMoves(mesh_) && options.mapsWaiting)
    {
        pending_ = std::make_unique<pendingFields>(mesh_, name());
    }
    mirror_->update();
}


inSitu::TrainingCase Foam::functionObjects::inSituObject::describeCase() const
{
    inSitu::TrainingCase result;
    result.staticColumns = graphBuilder::staticColumns
    (
        gather_->inputNames(),
        engine_->meshOptions().features
    );
    result.fields = gather_->specs();
    result.inputs = gather_->inputs();
    result.targets = gather_->targets();
    result.edgeInputs = gather_->edgeInputs();
    result.versions = {foamDescription()};
    result.outputFolder = runPaths::newRunFolder(mesh_, name());
    result.stableFolder = runPaths::objectFolder(mesh_, name());
    result.startTime = time_.startTime().value();
    result.meshMayChange = !meshIsStatic();
    return result;
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
            engine_->setGeometry(mirror_->mesh());
            break;
        }
        case meshMirror::change::topology:
        {
            const labelList& patches = mirror_->boundaryPatches();
            gather_->setPatches(patches);
            engine_->setTopology
            (
                mirror_->mesh(),
                pending_ && mirror_->mapped()
              ? pending_->mapped(*engine_, patches)
              : std::vector<inSitu::PendingAccess::Pending>()
            );
            if (!mirror_->mapped())
            {
                // Fields of the size of another mesh would end the run when OpenFOAM maps
                // them next
                pending_.reset();
                forgetFields();
            }
            rowsChanged();
            if (!pending_ && engine_->meshOptions().mapsWaiting)
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
        pending_->keep(*engine_, mirror_->boundaryPatches());
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

// ************************************************************************* //
