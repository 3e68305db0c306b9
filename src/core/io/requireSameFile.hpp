// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"

#include <string>

namespace inSitu
{

//- All ranks read the same bytes. Collective. key is the entry that names the file ("model").
//  Throws Error on all ranks if the contents differ, or the file cannot be read on some.
void requireSameFile(const std::string& path, const std::string& key, const Comm& comm);

}
