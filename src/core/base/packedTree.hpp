// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"
#include "base/StateTree.hpp"

namespace inSitu
{

//- A tree as the bytes that travel between ranks of one program
Comm::Bytes packed(const StateTree& tree);

//- Throws Error for bytes that are none
StateTree unpackedTree(const Comm::Bytes& bytes);

}
