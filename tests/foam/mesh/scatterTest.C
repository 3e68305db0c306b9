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

#include "AllocationCounter.hpp"
#include "OSspecific.H"
#include "base/Error.hpp"
#include "closureFields.H"
#include "fieldGather.H"
#include "fieldScatter.H"
#include "foamCase.H"
#include "rolloutFields.H"

using namespace Foam;
using functionObjects::closureFields;
using functionObjects::fieldGather;
using functionObjects::fieldScatter;
using functionObjects::rolloutFields;

// * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * //

namespace
{

struct cavity : foamCase
{
    std::unique_ptr<volVectorField> U = field<vector>
    (
        "U", dimVelocity, {"lid"},
        [](const vector& C) { return vector(C.x(), 2*C.y(), 0.75); }
    );
    std::unique_ptr<volScalarField> p = field<scalar>
    (
        "p", dimPressure, {}, [](const vector& C) { return 7 + C.x(); }
    );

    //- Columns p Ux Uy: the fields with something added
    std::vector<double> prediction() const
    {
        std::vector<double> rows;
        for (label celli = 0; celli < mesh.nCells(); ++celli)
        {
            rows.insert(rows.end(),
            {
                (*p)[celli] + 0.5,
                (*U)[celli].x() - 2,
                (*U)[celli].y() + celli
            });
        }
        return rows;
    }

    cavity()
    :
        foamCase("cavity")
    {}
};

} // End anonymous namespace


TEST(FieldScatter, RegistersPredictionAndError)
{
    cavity theCase;
    const fieldGather gather(theCase.mesh, {{"U", "p"}, {"p", "U"}}, {});
    fieldScatter scatter(theCase.mesh, "surrogate", gather.specs(), gather.targets());

    scatter.update(theCase.prediction());

    const auto& UP = theCase.mesh.lookupObject<volVectorField>("UPredicted");
    const auto& UE = theCase.mesh.lookupObject<volVectorField>("UError");
    const auto& pP = theCase.mesh.lookupObject<volScalarField>("pPredicted");
    const auto& pE = theCase.mesh.lookupObject<volScalarField>("pError");

    EXPECT_EQ(UP.dimensions(), dimVelocity);
    EXPECT_EQ(UP[11], vector((*theCase.U)[11].x() - 2, (*theCase.U)[11].y() + 11, 0.75));
    EXPECT_NEAR(UE[11].x(), -2, 1e-12);
    EXPECT_NEAR(UE[11].y(), 11, 1e-12);
    EXPECT_EQ(UE[11].z(), 0);
    EXPECT_NEAR(pE[34], 0.5, 1e-12);

    // Values of patches are those of their cells
    const fvPatch& walls = theCase.mesh.boundary()[1];
    EXPECT_EQ(pP.boundaryField()[1][3], pP[walls.faceCells()[3]]);
    EXPECT_NEAR(UE.boundaryField()[1][3].x(), -2, 1e-12);
}


TEST(FieldScatter, UpdatesTheSameFieldsAndWritesFreshOnesOnly)
{
    cavity theCase;
    const fieldGather gather(theCase.mesh, {{"U", "p"}, {"p", "U"}}, {});
    fieldScatter scatter(theCase.mesh, "surrogate", gather.specs(), gather.targets());

    scatter.update(theCase.prediction());
    const auto& pP = theCase.mesh.lookupObject<volScalarField>("pPredicted");

    // The solver's own write leaves them alone
    theCase.runTime++;
    theCase.runTime++;
    theCase.runTime.write();
    const fileName folder(theCase.runTime.timePath());
    EXPECT_FALSE(isFile(folder/"pPredicted"));

    scatter.write();        // two steps old
    EXPECT_FALSE(isFile(folder/"pPredicted"));

    *theCase.p += dimensionedScalar("shift", dimPressure, 4);
    scatter.update(theCase.prediction());
    EXPECT_EQ(pP[5], (*theCase.p)[5] + 0.5);

    scatter.write();
    for (const char* name : {"pPredicted", "pError", "UPredicted", "UError"})
    {
        EXPECT_TRUE(isFile(folder/name)) << name;
    }
    rmDir(folder);
}


TEST(FieldScatter, ANameInUseByAnotherIsRefused)
{
    cavity theCase;
    const fieldGather gather(theCase.mesh, {{"U"}, {"p", "U"}}, {});
    fieldScatter first(theCase.mesh, "first", gather.specs(), gather.targets());
    fieldScatter again(theCase.mesh, "first", gather.specs(), gather.targets());
    fieldScatter second(theCase.mesh, "second", gather.specs(), gather.targets());

    first.update(theCase.prediction());
    again.update(theCase.prediction());
    try
    {
        second.update(theCase.prediction());
        FAIL() << "no error";
    }
    catch (const inSitu::Error& err)
    {
        EXPECT_THAT(err.what(), testing::HasSubstr("the name pPredicted is taken"));
    }
}


TEST(FieldScatter, AStepAllocatesNothing)
{
    // Names that are too long for the memory inside a string
    cavity theCase;
    const auto alpha = theCase.field<scalar>
    (
        "alpha.waterAndAir", dimless, {}, [](const vector& C) { return C.y(); }
    );
    const std::vector<double> prediction = [&]
    {
        std::vector<double> rows = theCase.prediction();
        for (double& value : rows)
        {
            value += 0.25;
        }
        return rows;
    }();
    const functionObjects::fieldSelection selection
        {{"U", "alpha.waterAndAir"}, {"alpha.waterAndAir", "U"}};
    fieldGather gather(theCase.mesh, selection, {});
    fieldScatter scatter(theCase.mesh, "surrogate", gather.specs(), gather.targets());
    const rolloutFields rollout
        (theCase.mesh, "surrogate", selection, gather.specs(), gather.targets(), {}, true, false);
    closureFields closure(theCase.mesh, "surrogate");
    closure.make(gather.specs());
    closure.setLayout(gather.specs(), gather.targets());

    const auto step = [&]
    {
        gather.views();
        scatter.update(prediction);
        rollout.update(prediction);
        closure.values();
    };
    rollout.start();
    step();
    const long before = allocations;
    for (int i = 0; i < 3; ++i)
    {
        step();
    }
    EXPECT_EQ(allocations - before, 0);
    EXPECT_EQ
    (
        theCase.mesh.lookupObject<volScalarField>("alpha.waterAndAirRollout")[3],
        prediction[9]
    );
}


TEST(FieldScatter, OneObjectWritesAFieldAlsoWhenItIsMadeAnew)
{
    cavity theCase;
    const functionObjects::fieldSelection selection{{"U", "p"}, {"p", "U"}};
    fieldGather gather(theCase.mesh, selection, {});
    const auto rollout = [&](const word& owner)
    {
        return std::make_unique<rolloutFields>
        (
            theCase.mesh, owner, selection, gather.specs(), gather.targets(), labelList(), true,
            false
        );
    };
    const auto first = rollout("surrogate");
    EXPECT_THAT([&] { rollout("other"); },
        testing::ThrowsMessage<inSitu::Error>(testing::HasSubstr("pRollout is taken")));
    const auto again = rollout("surrogate");
    again->update(theCase.prediction());
    EXPECT_EQ
    (
        theCase.mesh.lookupObject<volScalarField>("pRollout")[3], theCase.prediction()[9]
    );

    auto closure = std::make_unique<closureFields>(theCase.mesh, "one");
    closure->make(gather.specs());
    closureFields other(theCase.mesh, "two");
    EXPECT_THAT([&] { other.make(gather.specs()); },
        testing::ThrowsMessage<inSitu::Error>(testing::HasSubstr("by the closure one already")));
    auto anew = std::make_unique<closureFields>(theCase.mesh, "one");
    anew->make(gather.specs());
    closure.reset();
    EXPECT_ANY_THROW(other.make(gather.specs()));
    anew.reset();
    other.make(gather.specs());
}

// ************************************************************************* //
