// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/StateTree.hpp"

#include <string>

namespace inSitu
{

//- A StateTree as an HDF5 file: arrays are contiguous little-endian datasets with their
//  path as name, texts are string attributes of the group they lie in. Errors of the
//  library become Error with file and entry; it prints nothing itself.
void writeHdf5(const std::string& path, const StateTree& tree);

//- Integers of other widths are widened, fixed-length strings read as texts: files made by
//  other programs can be read too
StateTree readHdf5(const std::string& path);

}
