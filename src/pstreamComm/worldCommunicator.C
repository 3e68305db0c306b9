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

#include "worldCommunicator.H"
#include "DynamicList.H"
#include "UPstream.H"
#include "base/Error.hpp"
#include "mpiCheck.hpp"

#include <string>

// * * * * * * * * * * * * * * Static Data Members * * * * * * * * * * * * * //

// As in src/Pstream/mpi/PstreamGlobals.H
namespace Foam
{
namespace PstreamGlobals
{
    extern __attribute__((weak)) DynamicList<MPI_Comm> MPICommunicators_;
}
}


// * * * * * * * * * * * * * * * Local Functions * * * * * * * * * * * * * * //

namespace
{

// "Open MPI v4.1.4": of the library that the process has loaded
std::string runningMpi()
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(text, &length);
    const std::string version(text, length);
    return version.substr(0, version.find_first_of(",\n"));
}


// Handles are pointers in one family of MPIs and numbers in the other
bool ofThisFamily(const std::string& mpi)
{
    const bool running = mpi.find("Open MPI") != std::string::npos;
    #ifdef OPEN_MPI
    return running || mpi.find("Spectrum MPI") != std::string::npos;
    #else
    return !running;
    #endif
}


[[noreturn]] void refuse(const std::string& reason)
{
    throw inSitu::Error
    (
        "the ranks of this run are not those of the MPI that inSituFoam was built with: "
      + reason + ".\n    OpenFOAM and inSituFoam must use one MPI. Remedy: run inSituFoam's"
        " Allwmake in the environment of this OpenFOAM"
    );
}


Foam::label sizeOf(MPI_Comm comm)
{
    int size = 0;
    inSitu::mpiCheck(MPI_Comm_size(comm, &size), "MPI_Comm_size");
    return size;
}


Foam::label rankIn(MPI_Comm comm)
{
    int rank = 0;
    inSitu::mpiCheck(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
    return rank;
}

} // End anonymous namespace


// * * * * * * * * * * * * * * * Global Functions  * * * * * * * * * * * * * //

MPI_Comm Foam::worldCommunicator()
{
    const std::string mpi = runningMpi();
    if (!ofThisFamily(mpi))
    {
        refuse("the process runs with " + mpi);
    }
    if (!inSitu::mpiRuns())
    {
        refuse(mpi + " does not run in this process");
    }

    MPI_Comm world = MPI_COMM_WORLD;
    const DynamicList<MPI_Comm>* known = &PstreamGlobals::MPICommunicators_;
    if (known && known->size() > UPstream::worldComm)
    {
        world = (*known)[UPstream::worldComm];
    }

    if (sizeOf(world) != UPstream::nProcs() || rankIn(world) != UPstream::myProcNo())
    {
        refuse
        (
            "OpenFOAM has " + std::to_string(UPstream::nProcs()) + " ranks, " + mpi + ' '
          + std::to_string(sizeOf(world))
        );
    }
    return world;
}

// ************************************************************************* //
