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
#include "surfaceFields.H"

using namespace Foam;
using functionObjects::fieldGather;
using functionObjects::fieldSelection;
using functionObjects::graphBuilder;
using testing::ElementsAre;
using testing::HasSubstr;

// * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * //

namespace
{

const auto position = [](const vector& C) { return vector(C.x() + 3, 2*C.y(), 5 - C.x()); };
const auto pressure = [](const vector& C) { return 7 + C.x()*C.y(); };

//- A cavity with one field of each kind
struct cavity : foamCase
{
    std::unique_ptr<volVectorField> U =
        field<vector>("U", dimVelocity, {"lid"}, position);
    std::unique_ptr<volScalarField> p =
        field<scalar>("p", dimPressure, {}, pressure);
    std::unique_ptr<volSymmTensorField> R = field<symmTensor>
    (
        "R", sqr(dimVelocity), {"fixedWalls"},
        [](const vector& C) { return symmTensor(1, 2, 3, 4, 5, 6)*C.x(); }
    );
    std::unique_ptr<volTensorField> gradU = field<tensor>
    (
        "gradU", dimless/dimTime, {},
        [](const vector& C) { return tensor(1, 2, 3, 4, 5, 6, 7, 8, 9)*C.y(); }
    );
    std::unique_ptr<volSphericalTensorField> S = field<sphericalTensor>
    (
        "S", dimless, {}, [](const vector& C) { return sphericalTensor(C.x()); }
    );
    surfaceScalarField phi
    {
        IOobject("phi", runTime.timeName(), mesh),
        mesh,
        dimensionedScalar(dimVolume/dimTime, Zero)
    };

    cavity()
    :
        foamCase("cavity")
    {}
};


inSitu::ObjectConfig wants
(
    std::vector<inSitu::ObjectConfig::FieldPattern> inputs,
    std::vector<inSitu::ObjectConfig::FieldPattern> targets
)
{
    inSitu::ObjectConfig config;
    config.inputs = std::move(inputs);
    config.targets = std::move(targets);
    return config;
}


fieldSelection select(const inSitu::ObjectConfig& config, const fvMesh& mesh)
{
    return fieldSelection::of
    (
        config, inSitu::Node::block("system/controlDict", 40), mesh, "surrogate"
    );
}


std::string complaint(const inSitu::ObjectConfig& config, const fvMesh& mesh)
{
    try
    {
        select(config, mesh);
    }
    catch (const inSitu::ConfigError& err)
    {
        return err.what();
    }
    return "none";
}

} // End anonymous namespace


TEST(FieldSelection, KeepsTheOrderWrittenAndSortsWithinAnExpression)
{
    const cavity theCase;
    const auto selection = select
    (
        wants({{"p", false}, {"[A-Z]", true}, {"p|gradU", true}}, {{"U", false}}),
        theCase.mesh
    );

    EXPECT_EQ(selection.inputs, wordList({"p", "R", "S", "U", "gradU"}));
    EXPECT_EQ(selection.targets, wordList({"U"}));
}


TEST(FieldSelection, ExpressionsPassOverOldTimesAndPredictions)
{
    const cavity theCase;
    theCase.U->oldTime();
    const auto predicted = theCase.field<vector>("UPredicted", dimVelocity, {}, position);
    const auto error = theCase.field<scalar>("pError", dimPressure, {}, pressure);
    const auto other = theCase.field<scalar>("roundingError", dimless, {}, pressure);

    const auto selection = select(wants({{".*", true}}, {{"U_0", false}}), theCase.mesh);

    EXPECT_EQ(selection.inputs, wordList({"R", "S", "U", "gradU", "p", "roundingError"}));
    EXPECT_EQ(selection.targets, wordList({"U_0"}));
}


TEST(FieldSelection, SaysWhatIsWrongAndWhatThereIs)
{
    const cavity theCase;
    const fvMesh& mesh = theCase.mesh;

    EXPECT_THAT
    (
        complaint(wants({{"Q", false}}, {{"U", false}}), mesh),
        AllOf
        (
            HasSubstr("system/controlDict:40"),
            HasSubstr("inputs: there is no field 'Q'"),
            HasSubstr("volScalarField: p; volSphericalTensorField: S;"
                " volSymmTensorField: R; volTensorField: gradU; volVectorField: U")
        )
    );
    EXPECT_THAT
    (
        complaint(wants({{"U", false}}, {{"phi", false}}), mesh),
        HasSubstr("targets: 'phi' is a surfaceScalarField")
    );
    EXPECT_THAT
    (
        complaint(wants({{"U", false}}, {{"T.*", true}}), mesh),
        HasSubstr("targets: \"T.*\" selects no field")
    );

    auto sameTime = wants({{"[UR]", true}}, {{"p", false}, {"R", false}});
    sameTime.horizon = 0;
    EXPECT_THAT(complaint(sameTime, mesh), HasSubstr("targets: 'R' is also an input"));
    sameTime.horizon = 1;
    EXPECT_EQ(complaint(sameTime, mesh), "none");
}


TEST(FieldSelection, FaultsCarryTheLineOfTheirItem)
{
    const cavity theCase;
    inSitu::Node block = inSitu::Node::block("system/controlDict", 40);
    block.add("inputs", inSitu::Node::list
    (
        {
            inSitu::Node::scalar("U", "system/controlDict", 44),
            inSitu::Node::scalar("Q", "system/controlDict", 45)
        },
        "system/controlDict",
        43
    ));

    try
    {
        fieldSelection::of
        (
            wants({{"U", false}, {"Q", false}}, {{"p", false}}), block, theCase.mesh,
            "surrogate"
        );
        FAIL() << "no error";
    }
    catch (const inSitu::ConfigError& err)
    {
        EXPECT_EQ(err.line(), 45);
    }
}


TEST(FieldGather, TakesSolvedComponentsAndNamesThem)
{
    const cavity theCase;       // z is not solved
    const fieldGather gather
    (
        theCase.mesh,
        {{"p", "U", "R"}, {"gradU", "S", "U"}},
        {}
    );

    EXPECT_THAT(gather.inputs(), ElementsAre(0, 1, 2));
    EXPECT_THAT(gather.targets(), ElementsAre(3, 4, 1));

    const auto& specs = gather.specs();
    EXPECT_THAT(specs[0].columnNames, ElementsAre("p"));
    EXPECT_THAT(specs[1].columnNames, ElementsAre("Ux", "Uy"));
    EXPECT_THAT(specs[1].components, ElementsAre(0, 1));
    EXPECT_THAT(specs[2].columnNames, ElementsAre("Rxx", "Rxy", "Ryy", "Rzz"));
    EXPECT_THAT(specs[2].components, ElementsAre(0, 1, 3, 5));
    EXPECT_EQ(specs[2].nComponents, 6);
    EXPECT_THAT
    (
        specs[3].columnNames,
        ElementsAre("gradUxx", "gradUxy", "gradUyx", "gradUyy", "gradUzz")
    );
    EXPECT_THAT(specs[3].components, ElementsAre(0, 1, 3, 4, 8));
    EXPECT_THAT(specs[4].columnNames, ElementsAre("Sii"));

    EXPECT_EQ(specs[1].type, "volVectorField");
    EXPECT_THAT(specs[0].dimensions, ElementsAre(1, -1, -2, 0, 0, 0, 0));
}


TEST(FieldGather, ThreeDimensionalAndWedgeMeshesKeepAllComponents)
{
    for (const char* name : {"channel", "wedge"})
    {
        const foamCase theCase(name);
        const auto U = theCase.field<vector>("U", dimVelocity, {}, position);
        const fieldGather gather(theCase.mesh, {{"U"}, {"U"}}, {});

        EXPECT_THAT(gather.specs()[0].columnNames, ElementsAre("Ux", "Uy", "Uz")) << name;
    }
}


TEST(FieldGather, ViewsAreTheFieldsMemory)
{
    const cavity theCase;
    const graphBuilder builder(theCase.mesh, true);
    fieldGather gather(theCase.mesh, {{"U", "p"}, {"p"}}, builder.boundaryPatches());

    EXPECT_THAT
    (
        gather.fixedInputs(builder.boundaryPatches()),
        ElementsAre(ElementsAre(true, false), ElementsAre(false, false))
    );

    // Assigning a temporary gives the field other memory
    for (const scalar factor : {1.0, 3.0})
    {
        *theCase.U = factor*(*theCase.U);
        const auto& views = gather.views();

        ASSERT_EQ(views.size(), 2u);
        ASSERT_EQ(views[0].cells.size(), 3u*35);
        EXPECT_EQ
        (
            views[0].cells.data(),
            reinterpret_cast<const scalar*>(theCase.U->primitiveField().cdata())
        );
        EXPECT_EQ(views[0].cells[3*17 + 1], (*theCase.U)[17].y());
        EXPECT_EQ(views[1].cells[34], (*theCase.p)[34]);

        ASSERT_EQ(views[0].patches.size(), 2u);
        EXPECT_EQ(views[0].patches[0].size(), 3u*7);
        EXPECT_EQ(views[0].patches[1].size(), 3u*17);
        EXPECT_EQ
        (
            views[0].patches[1][3*16 + 2],
            theCase.U->boundaryField()[1][16].z()
        );
    }
}


TEST(FieldGather, AFieldThatIsGoneOrOtherIsNamed)
{
    cavity theCase;
    fieldGather gather(theCase.mesh, {{"U", "p"}, {"p"}}, {});
    gather.views();

    theCase.p.reset();
    try
    {
        gather.views();
        FAIL() << "no error";
    }
    catch (const inSitu::Error& err)
    {
        EXPECT_THAT(err.what(), HasSubstr("field 'p' is no longer registered"));
    }

    const auto other = theCase.field<vector>("p", dimVelocity, {}, position);
    try
    {
        gather.views();
        FAIL() << "no error";
    }
    catch (const inSitu::Error& err)
    {
        EXPECT_THAT(err.what(), HasSubstr("'p' was a volScalarField and is now a volVectorField"));
    }

    // Asked where the mesh has changed, which comes before the values
    fieldGather inputs(theCase.mesh, {{"U"}, {"U"}}, {});
    theCase.U.reset();
    try
    {
        inputs.fixedInputs({0});
        FAIL() << "no error";
    }
    catch (const inSitu::Error& err)
    {
        EXPECT_THAT(err.what(), HasSubstr("field 'U' is no longer registered"));
    }
}

// ************************************************************************* //
