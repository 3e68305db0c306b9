// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/StateTree.hpp"

#include <string>

namespace inSitu
{

//- A StateTree as an HDF5 file: arrays are contiguous little-endian datasets with their
//  path as name, texts are UTF-8 string attributes of the object they lie in ("a/b/note":
//  attribute "note" of group or dataset "a/b"). Equal trees give equal files. Errors of the
//  library become Error with file and entry; it prints nothing itself. The space is taken
//  from the disk before anything is written. A file that could not be completed is left for
//  the caller to remove.
void writeHdf5(const std::string& path, const StateTree& tree);

//- Upper bound of the size of that file
std::size_t hdf5Bytes(const StateTree& tree);

//- Read any HDF5 file, made by writeHdf5 or by another program:
//  - a dataset is an array under its path;
//  - an attribute is an entry below its object: "processor_size" of the root,
//    "parameters/index" of the group or dataset "parameters"; numbers are arrays, strings
//    are texts. An attribute and a dataset may share a name only if one of them is a string;
//  - integers of 8 to 16 bits become int32 (uint8 stays), uint32 and uint64 int64, enumerations
//    (h5py's booleans) their numbers, half precision float32;
//  - a list of strings is a text with one line each.
//  Throws Error naming file and entry for anything else, and for numbers that do not fit.
StateTree readHdf5(const std::string& path);

}
