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
    predictedSource against matrices written down by hand: M == options(psi) reads
    M - options = 0, so a source S takes V*S off the options' source.

\*---------------------------------------------------------------------------*/

// First, since OpenFOAM defines Log
#include <gmock/gmock.h>

#include "IStringStream.H"
#include "foamCase.H"
#include "fvMatrices.H"
#include "fvOptionList.H"
#include "fvmSup.H"

using namespace Foam;
using testing::AllOf;
using testing::HasSubstr;

// * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * //

namespace
{

struct Mesh : foamCase
{
    Mesh()
    :
        foamCase("mesh")
    {}

    autoPtr<fv::option> option(const std::string& entries) const
    {
        IStringStream is
        (
            "type predictedSource; libs (inSituFvOptions); selectionMode all;" + entries
        );
        return fv::option::New("closure", dictionary(is), mesh);
    }

    template<class Type, class Value>
    auto field(const word& name, const dimensionSet& dimensions, const Value& value) const
    {
        return foamCase::field<Type>(name, dimensions, {}, value);
    }

    auto T() const
    {
        return field<scalar>("T", dimTemperature, [](const vector& C) { return 3 + C.x(); });
    }

    auto rate(const word& name = "rate") const
    {
        return field<scalar>
        (
            name, dimTemperature/dimTime, [](const vector& C) { return 5*C.x() - 7*C.y(); }
        );
    }

    auto rho() const
    {
        return field<scalar>("rho", dimDensity, [](const vector& C) { return 2 + 3*C.y(); });
    }
};


const dimensionSet perSecond(dimless/dimTime);


template<class Type>
fvMatrix<Type> matrix
(
    const GeometricField<Type, fvPatchField, volMesh>& psi,
    const dimensionSet& density = dimless
)
{
    return fvMatrix<Type>(psi, density*psi.dimensions()/dimTime*dimVolume);
}


template<class Body>
std::string errorOf(const Body& body)
{
    try
    {
        body();
    }
    catch (const Foam::error& err)
    {
        return err.message();
    }
    return "no error";
}


// Of a kind, with different components
template<class Type>
Type spread(scalar value)
{
    Type result;
    for (direction c = 0; c < pTraits<Type>::nComponents; ++c)
    {
        setComponent(result, c) = value*(c + 0.5);
    }
    return result;
}


template<class Type>
void expectExplicit()
{
    Mesh theCase;
    const auto psi = theCase.field<Type>
    (
        "psi", dimVelocity, [](const vector& C) { return spread<Type>(1 + C.y()); }
    );
    const auto force = theCase.field<Type>
    (
        "force", dimVelocity, [](const vector& C) { return spread<Type>(C.x() - 0.4); }
    );
    auto option = theCase.option
    (
        "fields (psi); source force; factor [0 0 -1 0 0 0 0] 2.5;"
    );

    auto eqn = matrix(*psi);
    option->addSup(eqn, 0);

    EXPECT_FALSE(eqn.hasDiag());
    forAll(theCase.mesh.V(), celli)
    {
        EXPECT_NEAR
        (
            mag(eqn.source()[celli] + 2.5*theCase.mesh.V()[celli]*(*force)[celli]), 0, 1e-15
        );
    }
    EXPECT_GT(mag(eqn.source()[17]), 1e-3);
}

} // End anonymous namespace


TEST(PredictedSource, ExplicitForEachKindOfField)
{
    expectExplicit<scalar>();
    expectExplicit<vector>();
    expectExplicit<sphericalTensor>();
    expectExplicit<symmTensor>();
    expectExplicit<tensor>();
}


TEST(PredictedSource, PushesASolutionItsWay)
{
    Mesh theCase;
    const auto T = theCase.T();
    const auto rate = theCase.rate();

    IStringStream is
    (
        "closure { type predictedSource; libs (inSituFvOptions); selectionMode all;"
        " fields (T); source rate; }"
    );
    fv::optionList options(theCase.mesh, dictionary(is));
    fvScalarMatrix eqn(fvm::Sp(dimensionedScalar("k", perSecond, 4), *T) == options(*T));
    const scalarField solution(eqn.source()/eqn.diag());

    forAll(solution, celli)
    {
        EXPECT_NEAR(solution[celli], (*rate)[celli]/4, 1e-13);
    }
}


TEST(PredictedSource, LinearisedIsImplicitWhereItIsStable)
{
    Mesh theCase;
    const auto T = theCase.T();
    const auto rate = theCase.rate();
    const auto c = theCase.field<scalar>
    (
        "c", perSecond, [](const vector& C) { return C.x() - 0.6; }
    );
    auto option = theCase.option
    (
        "fields (T); source rate; mode linearised; coefficient c; factor 1.5;"
    );

    auto eqn = matrix(*T);
    option->addSup(eqn, 0);

    label nImplicit = 0;
    forAll(*c, celli)
    {
        const scalar V = theCase.mesh.V()[celli];
        const scalar Sp = 1.5*(*c)[celli];
        const scalar Su = 1.5*(*rate)[celli] - (Sp > 0 ? 0 : Sp*(*T)[celli]);

        EXPECT_NEAR(eqn.diag()[celli], Sp > 0 ? -V*Sp : 0, 1e-15);
        EXPECT_NEAR(eqn.source()[celli], -V*Su, 1e-15);
        nImplicit += Sp > 0;
    }
    EXPECT_GT(nImplicit, 5);
    EXPECT_LT(nImplicit, theCase.mesh.nCells() - 5);
}


TEST(PredictedSource, NudgesWithANumber)
{
    Mesh theCase;
    const auto U = theCase.field<vector>("U", dimVelocity, [](const vector& C) { return C; });
    const auto Uref = theCase.field<vector>
    (
        "Uref", dimVelocity, [](const vector& C) { return vector(C.y(), 2, 3*C.x()); }
    );
    auto option = theCase.option
    (
        "fields (U); source Uref; mode linearised; coefficient 0.75;"
        "factor [0 0 -1 0 0 0 0] 10;"
    );

    auto eqn = matrix(*U);
    option->addSup(eqn, 0);

    forAll(theCase.mesh.V(), celli)
    {
        const scalar V = theCase.mesh.V()[celli];
        EXPECT_NEAR(eqn.diag()[celli], -7.5*V, 1e-15);
        EXPECT_NEAR(mag(eqn.source()[celli] + 10*V*(*Uref)[celli]), 0, 1e-15);
    }
}


TEST(PredictedSource, TakesOnDensityAndPhase)
{
    Mesh theCase;
    const auto T = theCase.T();
    const auto rate = theCase.rate();
    const auto rho = theCase.rho();
    const auto alpha = theCase.field<scalar>
    (
        "alpha", dimless, [](const vector& C) { return 0.2 + C.x()/2; }
    );
    const auto heat = theCase.field<scalar>
    (
        "heat", dimDensity*dimTemperature/dimTime, [](const vector& C) { return C.y() - 0.1; }
    );
    auto perMass = theCase.option
    (
        "fields (T); source rate; mode linearised; coefficient [0 0 -1 0 0 0 0] 3;"
    );
    auto perVolume = theCase.option("fields (T); source heat; per volume;");

    auto mass = matrix(*T, dimDensity);
    perMass->addSup(*rho, mass, 0);
    auto phase = matrix(*T, dimDensity);
    perMass->addSup(*alpha, *rho, phase, 0);
    auto volume = matrix(*T, dimDensity);
    perVolume->addSup(*alpha, *rho, volume, 0);

    forAll(*rho, celli)
    {
        const scalar M = theCase.mesh.V()[celli]*(*rho)[celli];
        const scalar fraction = (*alpha)[celli];

        EXPECT_NEAR(mass.source()[celli], -M*(*rate)[celli], 1e-14);
        EXPECT_NEAR(mass.diag()[celli], -3*M, 1e-14);
        EXPECT_NEAR(phase.source()[celli], -fraction*M*(*rate)[celli], 1e-14);
        EXPECT_NEAR(phase.diag()[celli], -3*fraction*M, 1e-14);
        EXPECT_NEAR(volume.source()[celli], -theCase.mesh.V()[celli]*(*heat)[celli], 1e-14);
    }
}


TEST(PredictedSource, StaysInItsCells)
{
    Mesh theCase;
    const auto T = theCase.T();
    const auto rate = theCase.rate();
    auto option = theCase.option
    (
        "selectionMode cellZone; cellZone right; fields (T); source rate;"
    );

    auto eqn = matrix(*T);
    option->addSup(eqn, 0);

    forAll(*T, celli)
    {
        EXPECT_EQ(eqn.source()[celli] != 0, celli >= 12) << celli;
    }
}


TEST(PredictedSource, LooksForItsFieldAtEachCall)
{
    Mesh theCase;
    const auto T = theCase.T();
    const auto other = theCase.rate("other");
    auto wanting = theCase.option("fields (T); source rate;");
    auto patient = theCase.option("fields (T); source rate; ifMissing skip;");
    auto eqn = matrix(*T);

    EXPECT_THAT(errorOf([&] { wanting->addSup(eqn, 0); }),
        AllOf(HasSubstr("there is no volScalarField 'rate' on mesh region0"),
              HasSubstr("There is: 2(T other)"),
              HasSubstr("ifMissing skip")));
    patient->addSup(eqn, 0);
    EXPECT_EQ(max(mag(eqn.source())), 0);

    const auto rate = theCase.rate();
    patient->addSup(eqn, 0);
    wanting->addSup(eqn, 0);
    EXPECT_NEAR
    (
        eqn.source()[20], -2*theCase.mesh.V()[20]*(*rate)[20], 1e-15
    );
}


TEST(PredictedSource, MissesItsCoefficientToo)
{
    Mesh theCase;
    const auto T = theCase.T();
    const auto rate = theCase.rate();
    const std::string entries("fields (T); source rate; mode linearised; coefficient c;");
    auto eqn = matrix(*T);

    EXPECT_THAT(errorOf([&] { theCase.option(entries)->addSup(eqn, 0); }),
        HasSubstr("there is no volScalarField 'c'"));
    theCase.option(entries + "ifMissing skip;")->addSup(eqn, 0);
    EXPECT_EQ(max(mag(eqn.source())), 0);
}


TEST(PredictedSource, RefusesAnotherKindOfField)
{
    Mesh theCase;
    const auto U = theCase.field<vector>("U", dimVelocity, [](const vector& C) { return C; });
    const auto rate = theCase.rate();
    auto eqn = matrix(*U);

    EXPECT_THAT
    (
        errorOf([&]
        {
            theCase.option("fields (U); source rate; ifMissing skip;")->addSup(eqn, 0);
        }),
        AllOf(HasSubstr("there is no volVectorField 'rate'"),
              HasSubstr("but a volScalarField of that name"))
    );
}


TEST(PredictedSource, RefusesOtherDimensions)
{
    Mesh theCase;
    const auto T = theCase.T();
    const auto rho = theCase.rho();
    const auto rate = theCase.rate();
    auto eqn = matrix(*T);

    EXPECT_THAT
    (
        errorOf([&] { theCase.option("fields (T); source T;")->addSup(eqn, 0); }),
        AllOf(HasSubstr("factor*T has the dimensions [0 0 0 1 0 0 0]"),
              HasSubstr("equation of T takes [0 0 -1 1 0 0 0]"))
    );
    EXPECT_THAT
    (
        errorOf([&]
        {
            theCase.option
            (
                "fields (T); source rate; mode linearised; coefficient rho;"
            )->addSup(eqn, 0);
        }),
        AllOf(HasSubstr("factor*coefficient*T has the dimensions [1 -3 0 1 0 0 0]"),
              HasSubstr("equation of T takes [0 0 -1 1 0 0 0]"))
    );

    auto withDensity = matrix(*T, dimDensity);
    EXPECT_THAT
    (
        errorOf([&]
        {
            theCase.option("fields (T); source rate; per volume;")->addSup
            (
                *rho, withDensity, 0
            );
        }),
        AllOf(HasSubstr("takes [1 -3 -1 1 0 0 0]"), HasSubstr("'per mass'"))
    );
    EXPECT_EQ(max(mag(eqn.source())), 0);
}


TEST(PredictedSource, RefusesWrongEntries)
{
    Mesh theCase;
    const auto complaint = [&](const std::string& entries)
    {
        return errorOf([&] { theCase.option("fields (T); source rate;" + entries); });
    };

    EXPECT_EQ(complaint(""), "no error");
    EXPECT_THAT(complaint("mode linear;"),
        HasSubstr("mode: 'linear' is neither explicit nor linearised"));
    EXPECT_THAT(complaint("per cell;"), HasSubstr("'cell' is neither mass nor volume"));
    EXPECT_THAT(complaint("ifMissing zero;"), HasSubstr("'zero' is neither abort nor skip"));
    EXPECT_THAT(complaint("facter 2;"), HasSubstr("there is no entry 'facter'"));
    EXPECT_THAT(complaint("coefficient 2;"), HasSubstr("only 'mode linearised' has one"));
    EXPECT_THAT(complaint("mode linearised;"), HasSubstr("coefficient"));
}


TEST(PredictedSource, ReadsItsEntriesAgain)
{
    Mesh theCase;
    const auto T = theCase.T();
    const auto rate = theCase.rate();
    auto option = theCase.option
    (
        "fields (T); source T; factor [0 0 -1 0 0 0 0] 2;"
    );
    IStringStream is
    (
        "type predictedSource; selectionMode all; fields (T); source rate; factor 3;"
    );
    option->read(dictionary(is));

    auto eqn = matrix(*T);
    option->addSup(eqn, 0);
    EXPECT_NEAR(eqn.source()[8], -3*theCase.mesh.V()[8]*(*rate)[8], 1e-15);
}

// ************************************************************************* //
