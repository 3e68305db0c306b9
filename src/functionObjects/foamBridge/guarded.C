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

#include "guarded.H"
#include "base/Error.hpp"
#include "error.H"
#include "floatTrapGuard.H"
#include "newHandlerGuard.H"

#include <algorithm>
#include <new>
#include <string>

// * * * * * * * * * * * * * * * Local Functions * * * * * * * * * * * * * * //

namespace
{

// What went wrong, and in which file
struct failure
{
    std::string message;
    std::string file;
    int line;
};


failure describe(const inSitu::ConfigError& fault)
{
    return {fault.message(), fault.file(), fault.line()};
}


failure describe(const std::bad_alloc&)
{
    return
    {
        "there is no memory left for an allocation; a smaller buffer.maxMemory,"
        " batchSize or model needs less",
        "",
        0
    };
}


// LibTorch adds the addresses of its call stack, with or without a headline
failure describe(const std::exception& fault)
{
    const std::string text = fault.what();
    const auto end =
        std::min(text.find("\nException raised from "), text.find("\nframe #"));
    return {text.substr(0, end), "", 0};
}

} // End anonymous namespace


static void report
(
    const Foam::functionObject& object,
    const Foam::Time& runTime,
    const char* entry,
    const Foam::functionObjects::onFailure policy,
    const failure& fault
)
{
    using namespace Foam;
    using functionObjects::onFailure;

    const std::string where = object.type() + "::" + entry;
    std::string text =
        std::string(object.type()) + ' ' + object.name() + ", " + entry
      + " at time " + runTime.timeName() + ":\n    " + fault.message;

    if (policy == onFailure::warn)
    {
        if (!fault.file.empty())
        {
            text += "\n    file: " + fault.file + " at line "
              + std::to_string(fault.line);
        }
        Warning << text.c_str() << nl << endl;
    }
    else if (policy == onFailure::endConstruction || !fault.file.empty())
    {
        FatalIOError
        (
            where.c_str(),
            __FILE__,
            __LINE__,
            fault.file.empty() ? runTime.controlDict().name() : fault.file,
            fault.line > 0 ? fault.line : -1
        )   << text.c_str() << exit(FatalIOError);
    }
    else
    {
        FatalError(where.c_str(), __FILE__, __LINE__)
            << text.c_str() << exit(FatalError);
    }
}


// * * * * * * * * * * * * * * * Global Functions  * * * * * * * * * * * * * //

bool Foam::functionObjects::guarded
(
    const functionObject& object,
    const Time& runTime,
    const char* entry,
    const onFailure policy,
    const std::function<void()>& body
)
{
    failure fault{"an exception of unknown type", "", 0};

    try
    {
        const floatTrapGuard trapsOff;
        const newHandlerGuard handlerOff;
        body();
        return true;
    }
    catch (const Foam::error&)
    {
        throw;
    }
    catch (const inSitu::ConfigError& err)
    {
        fault = describe(err);
    }
    catch (const std::bad_alloc& err)
    {
        fault = describe(err);
    }
    catch (const std::exception& err)
    {
        fault = describe(err);
    }
    catch (...)
    {}

    report(object, runTime, entry, policy, fault);
    return false;
}

// ************************************************************************* //
