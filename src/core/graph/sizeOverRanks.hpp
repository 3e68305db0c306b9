// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"
#include "graph/MeshGraph.hpp"

#include <cstdint>

namespace inSitu
{

//- Of a graph, summed over the ranks
struct GraphSize
{
    std::int64_t cells;
    std::int64_t nodes;
    std::int64_t edges;
    std::int64_t halo;              //!< rows for cells of other ranks
};

//- Collective
GraphSize sizeOverRanks(const MeshGraph& graph, const Comm& comm);

}
