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
    The ranks that makeComm gives: in a serial run, and on those of mpirun with the
    argument -parallel.

\*---------------------------------------------------------------------------*/

// Before OpenFOAM, which makes a macro of the word Log
#include <gmock/gmock.h>

#include "makeComm.H"
#include "Pstream.H"
#include "PstreamReduceOps.H"
#include "base/Error.hpp"
#include "error.H"

#include <dlfcn.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

// * * * * * * * * * * * * * * * Local Functions * * * * * * * * * * * * * * //

namespace Foam
{

// Whether this process has opened a library
static bool hasOpened(const std::string& name)
{
    std::ifstream maps("/proc/self/maps");
    const std::string text((std::istreambuf_iterator<char>(maps)), {});
    return text.find('/' + name) != std::string::npos;
}


// What body throws
static std::string failure(const std::function<void()>& body)
{
    try
    {
        body();
    }
    catch (const inSitu::Error& error)
    {
        return error.what();
    }
    return "nothing";
}


// The communicator as makeComm asks for it, whatever OpenFOAM thinks of the run
static std::string failureOfLibrary()
{
    void* library = dlopen("libinSituPstream.so", RTLD_NOW | RTLD_LOCAL);
    if (!library)
    {
        return dlerror();
    }
    void* make = dlsym(library, "inSituPstreamComm");
    return failure([make] { delete reinterpret_cast<inSitu::Comm*(*)()>(make)(); });
}


// * * * * * * * * * * * * * * * * * Tests * * * * * * * * * * * * * * * * * //

TEST(MakeComm, GivesTheRanksOfOpenFoam)
{
    const auto comm = functionObjects::makeComm();
    EXPECT_EQ(comm->size(), Pstream::nProcs());
    EXPECT_EQ(comm->rank(), Pstream::parRun() ? Pstream::myProcNo() : 0);
    EXPECT_EQ(comm->isMaster(), Pstream::master());
    EXPECT_EQ(hasOpened("libinSituPstream.so"), Pstream::parRun());
}


TEST(MakeComm, IsApartFromTheSolverAndFromAnother)
{
    const auto comm = functionObjects::makeComm();
    const auto other = functionObjects::makeComm();
    const int n = comm->size();
    const int rank = comm->rank();
    for (int step = 0; step < 20; ++step)
    {
        std::vector<double> values(3001, 0.5 + rank + step);
        std::vector<float> others(7, 2.5f*rank);
        comm->startSum(values);
        other->startSum(others);
        const scalar sum = returnReduce(scalar(rank + 3*step), sumOp<scalar>());
        other->finishSums();
        comm->finishSums();

        const double ranks = 0.5*n*(n - 1);
        EXPECT_EQ(sum, ranks + 3*step*n);
        EXPECT_THAT(values, testing::Each(n*(0.5 + step) + ranks));
        EXPECT_THAT(others, testing::Each(2.5f*ranks));
    }
}


TEST(MakeComm, LetsOneRankEndAll)
{
    const auto comm = functionObjects::makeComm();
    const int last = comm->size() - 1;
    if (comm->rank() == last)
    {
        comm->leave("a bad file");
    }
    else
    {
        std::vector<double> values(3);
        EXPECT_EQ(failure([&] { comm->sum(values); }),
            "rank " + std::to_string(last) + ": a bad file");
    }

    // The solver goes on
    EXPECT_EQ(returnReduce(scalar(1.5), sumOp<scalar>()), 1.5*comm->size());
}


// Chosen by Alltest where they hold

TEST(MakeComm, DISABLED_NamesTheMissingLibrary)
{
    EXPECT_THAT(failure([] { functionObjects::makeComm(); }), testing::AllOf
    (
        testing::StartsWith("inSituFoam cannot run in parallel: "),
        testing::HasSubstr("libinSituPstream.so: cannot open shared object file"),
        testing::HasSubstr("Remedy: run its Allwmake")
    ));
}


TEST(MakeComm, DISABLED_NeedsAnMpiThatRuns)
{
    EXPECT_THAT(failureOfLibrary(), testing::AllOf
    (
        testing::HasSubstr(" does not run in this process.\n"),
        testing::HasSubstr("OpenFOAM and inSituFoam must use one MPI. Remedy: ")
    ));
}


TEST(MakeComm, DISABLED_NeedsTheMpiOfOpenFoam)
{
    // MPI runs on two ranks, of which OpenFOAM has not been told
    UPstream::initNull();
    EXPECT_THAT(failureOfLibrary(), testing::ContainsRegex("OpenFOAM has 1 ranks, .* 2\\.\n"));
}

} // End namespace Foam


// * * * * * * * * * * * * * * * * * Main  * * * * * * * * * * * * * * * * * //

int main(int argc, char** argv)
{
    ::testing::InitGoogleMock(&argc, argv);
    if (argc > 1 && std::strcmp(argv[1], "-parallel") == 0)
    {
        Foam::UPstream::init(argc, argv, false);
    }
    Foam::FatalError.throwExceptions();
    Foam::UPstream::exit(RUN_ALL_TESTS());
}

// ************************************************************************* //
