// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Error.hpp"
#include "base/Span.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace inSitu
{

using GraphIndex = std::int32_t;
using GraphIndices = std::vector<GraphIndex>;


//- Throw Error if there are more of something than indices can count
inline void requireIndices(std::int64_t count, const char* what)
{
    if (count > std::numeric_limits<GraphIndex>::max())
    {
        throw Error("the graph has " + std::to_string(count) + ' ' + what
            + ", more than 32-bit indices can count; use more ranks");
    }
}


inline bool inside(GraphIndex i, GraphIndex size)
{
    return static_cast<std::uint32_t>(i) < static_cast<std::uint32_t>(size);
}


//- Counts become the first position of each bin; the total is returned
inline std::int64_t startsFromCounts(Span<GraphIndex> counts)
{
    std::int64_t total = 0;
    for (GraphIndex& count : counts)
    {
        const GraphIndex n = count;
        count = static_cast<GraphIndex>(total);
        total += n;
    }
    return total;
}


//- 0 1 2 … n-1
inline GraphIndices sequence(std::size_t n)
{
    GraphIndices items(n);
    for (std::size_t i = 0; i < n; ++i)
    {
        items[i] = static_cast<GraphIndex>(i);
    }
    return items;
}


//- Items in ascending order of their key in [0, nKeys), equal keys in the given order;
//  O(items + keys)
template<class KeyOf>
GraphIndices countingOrder(Span<const GraphIndex> items, GraphIndex nKeys, const KeyOf& keyOf)
{
    GraphIndices start(nKeys, 0);
    for (const GraphIndex item : items)
    {
        ++start[keyOf(item)];
    }
    startsFromCounts(start);

    GraphIndices order(items.size());
    for (const GraphIndex item : items)
    {
        order[start[keyOf(item)]++] = item;
    }
    return order;
}

}
