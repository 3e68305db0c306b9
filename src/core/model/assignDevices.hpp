// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"

#include <string>
#include <vector>

namespace inSitu
{

//- Which of the devices that each rank sees is its own: visible[rank] are their names, the same for
//  one device wherever it is seen. Ranks choose in their order, each the first one that nobody has.
//  Returns places in visible[rank], -1 for a rank for which none is left.
std::vector<int> assignDevices(const std::vector<std::vector<std::string>>& visible);

//- The same for ranks that tell each other what they see, here: of this one. No name has a line
//  break. Collective.
std::vector<int> assignDevices(const Comm& comm, const std::vector<std::string>& here);

}
