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

#include "makeComm.H"
#include "Pstream.H"
#include "PstreamReduceOps.H"
#include "base/Error.hpp"

#include <dlfcn.h>

#include <string>

// * * * * * * * * * * * * * * * Local Functions * * * * * * * * * * * * * * //

namespace
{

// What src/pstreamComm offers: the caller owns it
using factory = inSitu::Comm*();


std::string besideThisLibrary(const std::string& file)
{
    Dl_info info;
    if (!dladdr(reinterpret_cast<const void*>(&besideThisLibrary), &info))
    {
        return file;
    }
    const std::string path(info.dli_fname);
    return path.substr(0, path.rfind('/') + 1) + file;
}


// Null, and the reason, if there is none
factory* openFactory(std::string& reason)
{
    const std::string library = besideThisLibrary("libinSituPstream.so");
    void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    void* symbol = handle ? dlsym(handle, "inSituPstreamComm") : nullptr;
    if (!symbol)
    {
        const char* text = dlerror();
        reason = text ? text : library + " is of another version";
    }
    return reinterpret_cast<factory*>(symbol);
}

} // End anonymous namespace


// * * * * * * * * * * * * * * * Global Functions  * * * * * * * * * * * * * //

std::shared_ptr<inSitu::Comm> Foam::functionObjects::makeComm()
{
    if (!Pstream::parRun())
    {
        return std::make_shared<inSitu::SerialComm>();
    }

    std::string reason;
    factory* make = openFactory(reason);
    if (!returnReduce(bool(make), andOp<bool>()))
    {
        throw inSitu::Error
        (
            make ? "another rank cannot run in parallel: its message says why"
          : "inSituFoam cannot run in parallel: " + reason + ".\n    Remedy: run its Allwmake"
            " where OpenFOAM's own MPI is found; the line MPI of its summary says what was"
        );
    }
    return std::shared_ptr<inSitu::Comm>(make());
}

// ************************************************************************* //
