// SPDX-License-Identifier: GPL-3.0-or-later
#include "sample/slotState.hpp"

#include "base/Error.hpp"

#include <cstring>

namespace inSitu
{

StateTree::Type realType(Precision precision)
{
    return precision == Precision::float64 ? StateTree::Type::float64 : StateTree::Type::float32;
}


StateTree::Array slotArray
(
    const SlotPool::Handle& slot,
    StateTree::Type type,
    std::int64_t nRows,
    int nColumns
)
{
    return {type, {nRows, nColumns}, slot};
}


SlotPool::Handle slotFrom
(
    const StateTree& state,
    const std::string& name,
    StateTree::Type type,
    SlotPool& pool
)
{
    const StateTree::Array& array = state.getArray(name);
    if (array.type != type || array.bytes() != pool.bytes())
    {
        throw Error("saved values '" + name + "' have " + std::to_string(array.bytes())
            + " bytes in " + std::to_string(bytesOf(array.type)) + "-byte numbers, but a sample"
            " of this run has " + std::to_string(pool.bytes()) + " bytes in "
            + std::to_string(bytesOf(type)) + "-byte ones; fields, mesh and precision must be"
            " those of the saved run");
    }
    SlotPool::Handle slot = pool.acquire();
    std::memcpy(slot.get(), array.data.get(), array.bytes());
    return slot;
}

}
