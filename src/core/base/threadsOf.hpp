// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"

#include <cstdint>

namespace inSitu
{

//- Threads of this rank: the number wanted, or with 0 its share of the cores that it may use.
//  Collective.
int threadsOf(std::int64_t wanted, const Comm& comm);

}
