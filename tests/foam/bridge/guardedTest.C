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

#include "Time.H"
#include "base/Error.hpp"
#include "base/ownThread.hpp"
#include "floatTrapGuard.H"
#include "functionObject.H"
#include "guarded.H"
#include "sigFpe.H"

#include <cmath>
#include <csignal>
#include <future>
#include <new>
#include <thread>

using namespace Foam;
using functionObjects::guarded;
using functionObjects::onFailure;
using testing::HasSubstr;

// * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * //

namespace
{

//- An object without any function
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


struct Guarded : testing::Test
{
    Time runTime{Time::controlDictName, fileName("."), fileName(".")};
    idler object;

    bool run(const onFailure policy, const std::function<void()>& body)
    {
        return guarded(object, runTime, "execute", policy, body);
    }
};


//- What a solver might do by mistake
double divideByZero()
{
    // Volatile on both sides: a division nobody looks at is compiled away
    volatile double zero = 0;
    volatile double result = 1/zero;
    return result;
}


//- More than any machine has. Volatile: memory nobody looks at is not asked for
void allocateTooMuch()
{
    volatile std::size_t size = std::size_t(1) << 60;
    void* volatile memory = ::operator new(size);
    ::operator delete(memory);
}


bool throwsBadAlloc()
{
    try
    {
        allocateTooMuch();
    }
    catch (const std::bad_alloc&)
    {
        return true;
    }
    return false;
}


using FloatTraps = Guarded;
using FailedAllocation = Guarded;

} // End anonymous namespace


TEST_F(Guarded, PassesWhatWorks)
{
    int calls = 0;
    EXPECT_TRUE(run(onFailure::endRun, [&] { ++calls; }));
    EXPECT_EQ(calls, 1);
}


TEST_F(Guarded, AnErrorNamesObjectEntryAndTime)
{
    runTime++;
    try
    {
        run(onFailure::endRun, [] { throw std::runtime_error("no slot left"); });
        FAIL() << "no error";
    }
    catch (const Foam::IOerror&)
    {
        FAIL() << "not a fault of a dictionary";
    }
    catch (const Foam::error& err)
    {
        EXPECT_THAT(err.message(), AllOf(HasSubstr("idler surrogate, execute at time 0.1"),
            HasSubstr("no slot left")));
    }
}


TEST_F(Guarded, ACallStackOfLibTorchIsLeftOut)
{
    for (const char* stack : {"\nException raised from f at g.h:8\nframe #0", "\nframe #0: f"})
    {
        try
        {
            run(onFailure::endRun, [&]
            {
                throw std::runtime_error("sizes differ" + std::string(stack));
            });
            FAIL() << "no error";
        }
        catch (const Foam::error& err)
        {
            EXPECT_THAT(err.message(), testing::EndsWith("sizes differ"));
        }
    }
}


TEST_F(Guarded, AFaultInADictionaryKeepsFileAndLine)
{
    try
    {
        run(onFailure::endRun, []
        {
            throw inSitu::ConfigError("system/surrogate.yaml", 12, "noise is -1; it must be >= 0");
        });
        FAIL() << "no error";
    }
    catch (const Foam::IOerror& err)
    {
        EXPECT_EQ(err.ioFileName(), "system/surrogate.yaml");
        EXPECT_EQ(err.ioStartLineNumber(), 12);
        EXPECT_THAT(err.message(), HasSubstr("noise is -1"));
    }
}


TEST_F(Guarded, DuringConstructionEveryFailureIsOneOfInput)
{
    // The other kind would be a mere warning there
    EXPECT_THROW
    (
        run(onFailure::endConstruction, [] { throw std::bad_alloc(); }),
        Foam::IOerror
    );
}


TEST_F(Guarded, AWarningLetsTheRunGoOn)
{
    testing::internal::CaptureStderr();
    testing::internal::CaptureStdout();
    EXPECT_FALSE(run(onFailure::warn, [] { throw inSitu::Error("no luck"); }));
    EXPECT_FALSE(run(onFailure::warn, [] { throw 7; }));
    const std::string said =
        testing::internal::GetCapturedStderr() + testing::internal::GetCapturedStdout();

    EXPECT_THAT(said, AllOf(HasSubstr("FOAM Warning : idler surrogate"), HasSubstr("no luck"),
        HasSubstr("unknown type")));
}


TEST_F(Guarded, OpenFOAMsOwnErrorsPassUnchanged)
{
    try
    {
        run(onFailure::warn, []
        {
            FatalErrorInFunction << "from OpenFOAM" << exit(FatalError);
        });
        FAIL() << "no error";
    }
    catch (const Foam::error& err)
    {
        EXPECT_EQ(err.message(), "from OpenFOAM");
    }
}


TEST_F(FloatTraps, AreOffInsideForAllThreadsMadeThere)
{
    EXPECT_EXIT
    (
        {
            sigFpe::set();
            double sum = 0;
            run(onFailure::endRun, [&]
            {
                sum += divideByZero();
                std::thread([&] { sum += divideByZero(); }).join();
            });
            ::exit(std::isinf(sum) && sigFpe::active() ? 0 : 1);
        },
        testing::ExitedWithCode(0),
        ""
    );
}


TEST_F(FloatTraps, StillStopTheSolverAfterwards)
{
    EXPECT_EXIT
    (
        {
            sigFpe::set();
            run(onFailure::endRun, [] { divideByZero(); });
            divideByZero();
            ::exit(0);
        },
        testing::KilledBySignal(SIGFPE),
        "sigFpe::sigHandler"
    );
}


TEST_F(FloatTraps, AreOnAgainAfterAFailure)
{
    EXPECT_EXIT
    (
        {
            sigFpe::set();
            run(onFailure::warn, [] { divideByZero(); throw 1; });
            ::exit
            (
                sigFpe::active() && !std::fetestexcept(FE_DIVBYZERO) ? 0 : 1
            );
        },
        testing::ExitedWithCode(0),
        ""
    );
}


TEST_F(FailedAllocation, EndsAsOneErrorWithARemedy)
{
    try
    {
        run(onFailure::endRun, allocateTooMuch);
        FAIL() << "no error";
    }
    catch (const Foam::error& err)
    {
        EXPECT_THAT(err.message(), AllOf(HasSubstr("idler surrogate, execute at time"),
            HasSubstr("no memory left"), HasSubstr("buffer.maxMemory")));
    }
}


TEST_F(FailedAllocation, InAnyThreadMeanwhileIsAnExceptionThere)
{
    EXPECT_TRUE(run(onFailure::endRun, []
    {
        bool thrown = false;
        std::thread([&] { thrown = throwsBadAlloc(); }).join();
        EXPECT_TRUE(thrown);
    }));
}


TEST_F(FailedAllocation, InAThreadOfOursIsAnExceptionAlsoBesideTheSolver)
{
    std::promise<void> returned;
    bool thrown = false;
    std::thread ours;
    run(onFailure::endRun, [&]
    {
        ours = inSitu::startOwnThread([&]
        {
            returned.get_future().wait();
            thrown = throwsBadAlloc();
        });
    });
    EXPECT_EXIT
    (
        allocateTooMuch(),
        testing::KilledBySignal(SIGABRT),
        "new cannot satisfy memory request"
    );
    returned.set_value();
    ours.join();
    EXPECT_TRUE(thrown);

    // The solver's own comes back with the next call of ours
    run(onFailure::warn, [] {});
}


TEST_F(FailedAllocation, LeavesOpenFOAMsHandlerInPlace)
{
    const std::new_handler handler = std::get_new_handler();
    ASSERT_NE(handler, nullptr);

    run(onFailure::warn, allocateTooMuch);
    EXPECT_EQ(std::get_new_handler(), handler);

    EXPECT_EXIT
    (
        allocateTooMuch(),
        testing::KilledBySignal(SIGABRT),
        "new cannot satisfy memory request"
    );
}

// ************************************************************************* //
