// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/StateTree.hpp"
#include "infer/Inspection.hpp"

#include <string>

namespace inSitu
{

//- The file begins as HDF5 does
bool isHdf5(const std::string& path);

//- The parts of inspect() for the folder of a checkpoint, and for graph.h5, state.h5, rank0.h5 and
//  replay0.h5. result.path is set. Throws Error for what cannot be read at all.
void inspectCheckpoint(Inspection& result);
void inspectHdf5(Inspection& result);

//- Arrays as tensors, and the check whether they are finite
void addTensors(Inspection& result, const StateTree& tree);

}
