// SPDX-License-Identifier: GPL-3.0-or-later
#include "mpiCheck.hpp"

#include "base/Error.hpp"

#include <mpi.h>

#include <string>

namespace inSitu
{

void mpiCheck(int code, const char* call)
{
    if (code == MPI_SUCCESS)
    {
        return;
    }

    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    if (MPI_Error_string(code, text, &length) != MPI_SUCCESS)
    {
        length = 0;
    }
    throw Error(std::string(call) + " failed: "
      + (length > 0 ? std::string(text, length) : "error " + std::to_string(code)));
}


bool mpiRuns()
{
    int begun = 0;
    int ended = 0;
    MPI_Initialized(&begun);
    MPI_Finalized(&ended);
    return begun && !ended;
}

}
