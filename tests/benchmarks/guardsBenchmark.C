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

Description
    What meshTrainer::execute does in each step on a mesh that does not change,
    beside gathering and training: float traps off and on, exceptions caught, the
    rhythm of executions, the stamps of the mesh and the caches that follow them.

\*---------------------------------------------------------------------------*/

#include "Time.H"
#include "executionRhythm.H"
#include "floatTrapGuard.H"
#include "functionObject.H"
#include "fvMesh.H"
#include "guarded.H"
#include "meshMirror.H"
#include "meshStamps.H"

#include <benchmark/benchmark.h>

using namespace Foam;
using functionObjects::executionRhythm;
using functionObjects::floatTrapGuard;
using functionObjects::guarded;
using functionObjects::meshMirror;
using functionObjects::meshStamps;
using functionObjects::onFailure;

// * * * * * * * * * * * * * * * Local Functions * * * * * * * * * * * * * * //

namespace
{

class idler
:
    public functionObject
{
public:

    TypeName("idler");

    idler()
    :
        functionObject("surrogate")
    {}

    virtual bool execute()
    {
        return true;
    }

    virtual bool write()
    {
        return true;
    }
};

defineTypeNameAndDebug(idler, 0);


pointField points()
{
    pointField corners(8);
    forAll(corners, i)
    {
        corners[i] = point(i & 1, (i >> 1) & 1, (i >> 2) & 1);
    }
    return corners;
}


//- Of the unit cube, pointing out of it
faceList faces()
{
    return
    {
        face({0, 4, 6, 2}), face({1, 3, 7, 5}),
        face({0, 1, 5, 4}), face({2, 6, 7, 3}),
        face({0, 2, 3, 1}), face({4, 5, 7, 6})
    };
}


//- A mesh of one cell: nothing here depends on the number of cells. Float traps
//  are on, as in a solver.
struct place
{
    Time runTime{fileName("."), fileName("."), "system", "constant", false};
    fvMesh mesh
    {
        IOobject(polyMesh::defaultRegion, runTime.timeName(), runTime),
        pointField(points()),
        faceList(faces()),
        cellList(1, cell(identity(6)))
    };
    idler object;
    executionRhythm rhythm{runTime, dictionary()};

    place()
    {
        sigFpe::set(false);
        auto* patch =
            new polyPatch("all", 6, 0, 0, mesh.boundaryMesh(), polyPatch::typeName);
        mesh.addFvPatches(List<polyPatch*>(1, patch));
        meshStamps::of(mesh);
    }

    static place& get()
    {
        static place only;
        return only;
    }
};


void allGuards(benchmark::State& state)
{
    place& here = place::get();
    meshMirror mirror
    (
        here.mesh,
        std::make_shared<inSitu::SerialComm>(),
        true,
        true,
        "",
        {},
        [](const labelList&) { return std::vector<std::vector<bool>>{{false}, {true}}; },
        [](const std::string&, const std::string&, double) {}
    );
    mirror.update();

    for (auto _ : state)
    {
        guarded(here.object, here.runTime, "execute", onFailure::endRun, [&]
        {
            benchmark::DoNotOptimize(here.rhythm.next());
            if (mirror.update() != meshMirror::change::none)
            {
                state.SkipWithError("the mesh has changed");
            }
        });
    }
}


void floatTraps(benchmark::State& state)
{
    place::get();
    for (auto _ : state)
    {
        const floatTrapGuard off;
        benchmark::ClobberMemory();
    }
}


void stamps(benchmark::State& state)
{
    const place& here = place::get();
    for (auto _ : state)
    {
        benchmark::DoNotOptimize(meshStamps::of(here.mesh));
    }
}

} // End anonymous namespace


BENCHMARK(allGuards)->Unit(benchmark::kMicrosecond);
BENCHMARK(floatTraps)->Unit(benchmark::kMicrosecond);
BENCHMARK(stamps)->Unit(benchmark::kMicrosecond);

// ************************************************************************* //
