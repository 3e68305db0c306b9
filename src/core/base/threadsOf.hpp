// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace inSitu
{

//- Threads of this rank: the number wanted, or with 0 its share of the cores that it may use; warn
//  is told where the ranks are bound in a way that wastes cores. Collective.
int threadsOf(std::int64_t wanted, const Comm& comm,
    const std::function<void(const std::string&)>& warn);

}
