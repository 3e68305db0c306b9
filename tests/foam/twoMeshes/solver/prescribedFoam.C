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

Application
    prescribedFoam

Description
    A solver that solves nothing: on each of several meshes, U, p and the flux phi are
    functions of position and time, so that a restarted run has the very fields of an
    unbroken one. What happens to a mesh is in its dynamicMeshDict; a file
    system/changes adds what no dynamic mesh does, by time index:

    \verbatim
    <region>
    {
        renumber  (5);      // other cell, face and point labels, as many as before
        replace   (9);      // the same, but OpenFOAM does not map the fields
        points    (7);      // points of the last process move behind OpenFOAM's back
        neighbour (7);      // a face gets another neighbour behind OpenFOAM's back
        notFinite (7);      // p of one cell of the last process is no number
        reread    (9);      // the mesh is read anew from the folder of the time, and no
                            // field is mapped
    }
    \endverbatim

    The field "marker", near 1 in a ball that flies about in the mesh, is there to
    refine on. OpenFOAM's choice of cells depends on the decomposition unless the field
    is as "block": 1 behind a plane that goes to and fro, and 0 before it.

\*---------------------------------------------------------------------------*/

#include "argList.H"
#include "dynamicFvMesh.H"
#include "mapPolyMesh.H"
#include "polyTopoChange.H"
#include "surfaceFields.H"
#include "volFields.H"

#include <limits>

using namespace Foam;

// * * * * * * * * * * * * * * * Local Functions * * * * * * * * * * * * * * //

namespace
{

vector velocity(const point& x, const scalar t)
{
    return vector
    (
        Foam::sin(3*x.x() + 5*t) + 0.3*x.y(),
        Foam::cos(2*x.y() - 4*t)*x.z(),
        0.5*Foam::sin(x.x() + 4*x.z() + 3*t)
    );
}


scalar pressure(const point& x, const scalar t)
{
    return Foam::cos(4*x.x() - 6*t) + 2*x.y()*x.z();
}


scalar marker(const point& x, const scalar t)
{
    const point centre
    (
        0.5 - 0.3*Foam::cos(4*t),
        0.5 + 0.3*Foam::sin(3*t),
        0.5 + 0.2*Foam::sin(5*t)
    );
    return Foam::exp(-magSqr(x - centre)/sqr(0.15));
}


scalar block(const point& x, const scalar t)
{
    return x.x() > 0.35 + 0.25*Foam::sin(16*t) ? 1 : 0;
}


template<class Type, class Function>
void prescribe
(
    GeometricField<Type, fvPatchField, volMesh>& field,
    const Function& function
)
{
    const fvMesh& mesh = field.mesh();
    const scalar t = mesh.time().value();

    field.primitiveFieldRef().setSize(mesh.nCells());
    forAll(mesh.cellCentres(), celli)
    {
        field.primitiveFieldRef()[celli] = function(mesh.cellCentres()[celli], t);
    }
    for (auto& patchField : field.boundaryFieldRef())
    {
        const vectorField centres(patchField.patch().patch().faceCentres());
        patchField.setSize(centres.size());
        Field<Type> values(centres.size());
        forAll(values, facei)
        {
            values[facei] = function(centres[facei], t);
        }
        patchField == values;
    }
}


void prescribeFlux(surfaceScalarField& phi)
{
    const fvMesh& mesh = phi.mesh();
    const scalar t = mesh.time().value();
    const auto flux = [&](const label facei)
    {
        return velocity(mesh.faceCentres()[facei], t) & mesh.faceAreas()[facei];
    };

    phi.setOriented();
    phi.primitiveFieldRef().setSize(mesh.nInternalFaces());
    forAll(phi, facei)
    {
        phi[facei] = flux(facei);
    }
    for (auto& patchField : phi.boundaryFieldRef())
    {
        const polyPatch& patch = patchField.patch().patch();
        patchField.setSize(patch.size());
        forAll(patchField, i)
        {
            patchField[i] = flux(patch.start() + i);
        }
    }
}


void renumber(fvMesh& mesh)
{
    polyTopoChange change(mesh);
    const autoPtr<mapPolyMesh> map(change.changeMesh(mesh, false, true, true, true));
    mesh.updateMesh(map());
}


// By another mesh of the same cells
void replace(fvMesh& mesh)
{
    autoPtr<fvMesh> other;
    polyTopoChange(mesh).makeMesh
    (
        other,
        IOobject("other", mesh.time().timeName(), mesh.time()),
        mesh,
        true,
        true,
        true
    );

    labelList sizes, starts;
    for (const polyPatch& patch : other->boundaryMesh())
    {
        sizes.append(patch.size());
        starts.append(patch.start());
    }
    mesh.resetPrimitives
    (
        autoPtr<pointField>::New(other->points()),
        autoPtr<faceList>::New(other->faces()),
        autoPtr<labelList>::New(other->faceOwner()),
        autoPtr<labelList>::New(other->faceNeighbour()),
        sizes,
        starts
    );
    mesh.clearOut();
}


// What a faulty library does: no event tells of it
void spoilPoints(const fvMesh& mesh)
{
    const label pointi = mesh.nPoints()/2;
    const vector shift(0.003, 0.002, -0.004);

    const_cast<point&>(mesh.points()[pointi]) += shift;
    for (const label celli : mesh.pointCells()[pointi])
    {
        const_cast<point&>(mesh.cellCentres()[celli]) += shift/8;
    }
    Info<< "Spoilt cell " << min(mesh.pointCells()[pointi]) << endl;
}


void spoilNeighbour(const fvMesh& mesh)
{
    const labelUList& owner = mesh.faceOwner();
    const labelUList& neighbour = mesh.faceNeighbour();

    for (label facei = mesh.nInternalFaces()/2; ; ++facei)
    {
        if (owner[facei] == owner[facei + 1] && neighbour[facei] + 1 < neighbour[facei + 1])
        {
            const_cast<label&>(neighbour[facei])++;
            Info<< "Spoilt cell " << neighbour[facei] << endl;
            return;
        }
    }
}


struct region
{
    autoPtr<dynamicFvMesh> mesh;
    const dictionary changes;
    volVectorField U;
    volScalarField p;
    volScalarField blob;
    volScalarField half;
    surfaceScalarField phi;

    region(const word& name, const Time& runTime, const dictionary& allChanges)
    :
        mesh
        (
            dynamicFvMesh::New
            (
                IOobject(name, runTime.timeName(), runTime, IOobject::MUST_READ)
            )
        ),
        changes(allChanges.subOrEmptyDict(name)),
        U(field<vector>("U", dimVelocity)),
        p(field<scalar>("p", sqr(dimVelocity))),
        blob(field<scalar>("marker", dimless)),
        half(field<scalar>("block", dimless)),
        phi
        (
            IOobject("phi", runTime.timeName(), *mesh),
            *mesh,
            dimensionedScalar(dimVolume/dimTime, Zero)
        )
    {
        prescribe(U, velocity);
        prescribe(p, pressure);
        prescribeFlux(phi);
    }

    template<class Type>
    GeometricField<Type, fvPatchField, volMesh> field
    (
        const word& name,
        const dimensionSet& dimensions
    ) const
    {
        return GeometricField<Type, fvPatchField, volMesh>
        (
            IOobject
            (
                name,
                mesh->time().timeName(),
                *mesh,
                IOobject::NO_READ,
                IOobject::AUTO_WRITE
            ),
            *mesh,
            dimensioned<Type>(dimensions, Zero),
            "fixedValue"
        );
    }

    bool isDue(const word& change) const
    {
        const labelList indices(changes.getOrDefault(change, labelList()));
        return indices.found(mesh->time().timeIndex());
    }

    void step()
    {
        prescribe(blob, marker);
        prescribe(half, ::block);
        mesh->topoChanging(false);
        mesh->update();
        bool changed = mesh->topoChanging();

        if (isDue("renumber"))
        {
            renumber(*mesh);
            changed = true;
        }
        if (isDue("replace"))
        {
            replace(*mesh);
            changed = true;
        }
        if (isDue("reread"))
        {
            changed = mesh->readUpdate() >= polyMesh::TOPO_CHANGE;
        }
        const bool last = Pstream::myProcNo() == Pstream::nProcs() - 1;
        if (isDue("points") && last)
        {
            spoilPoints(*mesh);
        }
        if (isDue("neighbour"))
        {
            spoilNeighbour(*mesh);
        }

        prescribe(U, velocity);
        prescribe(p, pressure);
        prescribeFlux(phi);
        if (isDue("notFinite") && last)
        {
            p[mesh->nCells()/2] = std::numeric_limits<scalar>::quiet_NaN();
        }

        Info<< "Region " << mesh->name() << ": "
            << (changed ? "changed, " : "kept, ")
            << returnReduce(mesh->nCells(), sumOp<label>()) << " cells, " << mesh->nFaces() << " faces, "
            << mesh->nPoints() << " points" << endl;
    }
};

} // End anonymous namespace


// * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * //

int main(int argc, char* argv[])
{
    #include "setRootCase.H"
    #include "createTime.H"

    const IOdictionary changes
    (
        IOobject("changes", runTime.system(), runTime, IOobject::READ_IF_PRESENT)
    );

    PtrList<region> regions;
    for (const word& name : runTime.controlDict().get<wordList>("regions"))
    {
        regions.append(new region(name, runTime, changes));
    }

    while (runTime.run())
    {
        ++runTime;
        Info<< "Time = " << runTime.timeName() << endl;

        for (region& each : regions)
        {
            each.step();
        }
        runTime.write();
    }

    Info<< "End" << endl;
    return 0;
}

// ************************************************************************* //
