// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace inSitu
{

//- Throws Error with MPI's own words if the code that a call has returned is one of failure
void mpiCheck(int code, const char* call);

//- MPI has begun and not ended
bool mpiRuns();

}
