// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Precision.hpp"
#include "base/StateTree.hpp"
#include "buffer/SlotPool.hpp"

#include <string>

namespace inSitu
{

StateTree::Type realType(Precision precision);

//- The values of a slot as an array that shares its memory: the slot stays out of its pool
//  as long as the array lives
StateTree::Array slotArray(const SlotPool::Handle& slot, StateTree::Type type,
    std::int64_t nRows, int nColumns);

//- A slot of the pool with the values of an entry. Throws Error if the entry is missing, or
//  of another type or size than the slot.
SlotPool::Handle slotFrom(const StateTree& state, const std::string& name,
    StateTree::Type type, SlotPool& pool);

}
