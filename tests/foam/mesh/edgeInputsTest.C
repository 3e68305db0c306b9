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

// Before OpenFOAM, which makes a macro of the word Log
#include <gmock/gmock.h>

#include "base/Error.hpp"
#include "fieldGather.H"
#include "foamCase.H"
#include "graphBuilder.H"
#include "sample/EdgeGather.hpp"
#include "surfaceFieldKinds.H"

using namespace Foam;
using functionObjects::fieldGather;
using functionObjects::fieldSelection;
using functionObjects::graphBuilder;
using functionObjects::isOriented;
using testing::ElementsAre;
using testing::HasSubstr;

// * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * //

namespace
{

//- Differs on the two halves of a cyclic
vector velocity(const point& p)
{
    return vector(3 + p.x() - 2*p.y(), 5*p.y() + p.x()*p.z(), 2 - 4*p.z());
}


//- A mesh with fields on its faces
struct faceFields : foamCase
{
    surfaceVectorField Uf;
    surfaceScalarField phi;
    surfaceScalarField speed;
    std::unique_ptr<volScalarField> p;

    explicit faceFields(const std::string& name)
    :
        foamCase(name),
        Uf(named("Uf"), mesh, dimensionedVector(dimVelocity, Zero)),
        phi(named("phi"), mesh, dimensionedScalar(dimVelocity*dimArea, Zero)),
        speed(named("speed"), mesh, dimensionedScalar(dimVelocity, Zero)),
        p(field<scalar>("p", dimPressure, {}, [](const point& C) { return C.x(); }))
    {
        forAll(Uf, facei)
        {
            Uf[facei] = velocity(mesh.Cf()[facei]);
        }
        for (auto& patch : Uf.boundaryFieldRef())
        {
            forAll(patch, i)
            {
                patch[i] = velocity(patch.patch().Cf()[i]);
            }
        }
        Uf.setOriented(false);
        phi = mesh.Sf() & Uf;
        speed = mag(Uf);
    }

    IOobject named(const word& name) const
    {
        return IOobject(name, runTime.timeName(), mesh);
    }
};


fieldSelection edgeInputs
(
    const std::vector<inSitu::Pattern>& patterns,
    const fvMesh& mesh
)
{
    inSitu::ObjectConfig config;
    config.inputs = config.targets = {{"p", false}};
    config.edgeInputs = patterns;
    return fieldSelection::of
    (
        config, inSitu::Node::block("system/controlDict", 40), mesh, "surrogate"
    );
}


class EdgeInputsOf : public testing::TestWithParam<const char*> {};

} // End anonymous namespace


TEST_P(EdgeInputsOf, AreTheFluxesFromSenderToReceiver)
{
    const faceFields theCase(GetParam());
    const fvMesh& mesh = theCase.mesh;
    const vectorField& C = mesh.cellCentres();

    for (const bool boundaryRows : {true, false})
    {
        const graphBuilder builder(mesh, boundaryRows);
        const auto graph = builder.graph();
        fieldGather gather
        (
            mesh, edgeInputs({{"phi", false}, {"Uf", false}}, mesh), builder.boundaryPatches()
        );
        const auto& specs = gather.specs();
        EXPECT_THAT(gather.edgeInputs(), ElementsAre(1, 2));
        EXPECT_TRUE(specs[1].oriented);
        EXPECT_FALSE(specs[2].oriented);
        EXPECT_EQ(specs[1].type, "surfaceScalarField");

        inSitu::EdgeGather edges
        (
            inSitu::EdgeLayout::of(specs, gather.edgeInputs()),
            inSitu::Precision::float64
        );
        const std::vector<int>& components = specs[2].components;
        const std::size_t width = 1 + components.size();
        std::vector<double> values(width*graph->nEdges());
        EXPECT_EQ(edges.take(graph, gather.views(), values.data()).field, -1);

        for (label e = 0; e < graph->nEdges(); ++e)
        {
            SCOPED_TRACE("edge " + std::to_string(e));
            const label facei = graph->faceOf()[e];
            const label receiver = graph->receivers()[e];
            const label sender = graph->senders()[e];
            const vector U(velocity(mesh.faceCentres()[facei]));
            const vector& Sf = mesh.faceAreas()[facei];

            // Normals of other faces than internal ones leave the receiver
            const bool along =
                mesh.isInternalFace(facei) && (Sf & (C[receiver] - C[sender])) > 0;
            ASSERT_NEAR(values[width*e], (along ? 1 : -1)*(U & Sf), 1e-12);
            for (std::size_t c = 0; c < components.size(); ++c)
            {
                ASSERT_NEAR(values[width*e + 1 + c], U[components[c]], 1e-12);
            }
        }
    }
}


INSTANTIATE_TEST_SUITE_P
(
    Cases,
    EdgeInputsOf,
    testing::Values("cavity", "wedge", "channel", "baffle", "ported", "refined", "sector"),
    [](const auto& info) { return info.param; }
);


TEST(EdgeInputs, KeepTheOrientationThatTheyHad)
{
    faceFields theCase("cavity");
    const surfaceScalarField flux
    (
        theCase.named("flux"), theCase.mesh, dimensionedScalar(dimMass/dimTime, Zero)
    );
    const surfaceScalarField height
    (
        theCase.named("height"), theCase.mesh, dimensionedScalar(dimLength, Zero)
    );
    EXPECT_TRUE(isOriented(theCase.phi));
    EXPECT_FALSE(isOriented(theCase.speed));
    EXPECT_TRUE(isOriented(flux));
    EXPECT_FALSE(isOriented(height));

    fieldGather gather(theCase.mesh, edgeInputs({{"phi", false}}, theCase.mesh), {});
    gather.views();
    theCase.phi.setOriented(false);
    EXPECT_THAT
    (
        [&] { gather.views(); },
        testing::ThrowsMessage<inSitu::Error>(HasSubstr("'phi' was oriented"))
    );
}


TEST(EdgeInputs, AreSelectedAmongTheSurfaceFields)
{
    faceFields theCase("cavity");
    const fvMesh& mesh = theCase.mesh;
    theCase.phi.oldTime();

    EXPECT_EQ
    (
        edgeInputs({{"p.*", true}, {"speed", false}}, mesh).edgeInputs,
        wordList({"phi", "speed"})
    );
    const auto complaint = [&](const inSitu::Pattern& pattern)
    {
        try
        {
            edgeInputs({pattern}, mesh);
        }
        catch (const inSitu::ConfigError& fault)
        {
            return std::string(fault.what());
        }
        return std::string("none");
    };
    EXPECT_THAT
    (
        complaint({"p", false}),
        AllOf
        (
            HasSubstr("edgeInputs: 'p' is a volScalarField"),
            HasSubstr("surfaceScalarField: phi speed; surfaceVectorField: Uf")
        )
    );
    EXPECT_THAT(complaint({"rhoPhi", false}), HasSubstr("there is no field 'rhoPhi'"));
    EXPECT_THAT(complaint({"T.*", true}), HasSubstr("selects no field"));
}


TEST(EdgeInputs, AreRefusedAcrossSlidingInterfaces)
{
    const faceFields theCase("sliding");
    EXPECT_THAT
    (
        [&] { fieldGather(theCase.mesh, edgeInputs({{"phi", false}}, theCase.mesh), {}); },
        testing::ThrowsMessage<inSitu::Error>(HasSubstr("sliding interfaces"))
    );
}

// ************************************************************************* //
