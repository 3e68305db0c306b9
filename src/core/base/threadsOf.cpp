// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/threadsOf.hpp"

#include "base/ThreadPool.hpp"

#include <algorithm>

namespace inSitu
{

int threadsOf(std::int64_t wanted, const Comm& comm)
{
    return wanted > 0
      ? static_cast<int>(wanted)
      : std::max(1, availableCores()/comm.nodeSize());
}

}
