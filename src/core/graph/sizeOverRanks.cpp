// SPDX-License-Identifier: GPL-3.0-or-later
#include "graph/sizeOverRanks.hpp"

namespace inSitu
{

GraphSize sizeOverRanks(const MeshGraph& graph, const Comm& comm)
{
    double sizes[4] = {double(graph.nCells()), double(graph.nNodes()), double(graph.nEdges()),
        double(graph.nHalo())};
    comm.sum(Span<double>(sizes, 4));
    return {std::int64_t(sizes[0]), std::int64_t(sizes[1]), std::int64_t(sizes[2]),
        std::int64_t(sizes[3])};
}

}
