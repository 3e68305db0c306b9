// SPDX-License-Identifier: GPL-3.0-or-later
#include "graph/MeshGraph.hpp"

#include "base/Error.hpp"
#include "graph/countingOrder.hpp"

#include <string>

namespace inSitu
{

MeshGraph MeshGraph::withHalo(const std::vector<HaloLink>& links, const Comm& comm) const
{
    if (halo_)
    {
        throw Error("a graph gets its halo once");
    }
    for (const HaloLink& link : links)
    {
        if (!inside(link.cell, nCells_) || link.face < nInternalFaces_)
        {
            throw Error("a cell of rank " + std::to_string(link.rank) + " sends through face "
                + std::to_string(link.face) + " to cell " + std::to_string(link.cell)
                + ": the faces between ranks follow the " + std::to_string(nInternalFaces_)
                + " internal ones, and there are " + std::to_string(nCells_) + " cells");
        }
    }

    MeshGraph graph;
    graph.nNodes_ = nNodes_;
    graph.nCells_ = nCells_;
    graph.nBoundary_ = nBoundary_;
    graph.nInternalFaces_ = nInternalFaces_;
    graph.halo_ = std::make_shared<const HaloPlan>(makeHaloPlan(links, nCells_, comm));
    requireIndices(std::int64_t(nNodes_) + graph.nHalo(), "nodes");
    graph.allocate(static_cast<std::int64_t>(nEdges()) + graph.nHalo());

    // Halo rows follow all others, so their edges come last in a row
    const GraphIndices order = countingOrder(sequence(links.size()), nCells_,
        [&](GraphIndex i) { return links[i].cell; });
    GraphIndices before(nNodes_);           // halo edges in the rows before
    auto link = order.begin();
    GraphIndex place = 0;
    for (GraphIndex row = 0; row < nNodes_; ++row)
    {
        before[row] = static_cast<GraphIndex>(link - order.begin());
        graph.receiverStart_[row] = place;
        for (GraphIndex edge = receiverStart_[row]; edge < receiverStart_[row + 1]; ++edge)
        {
            graph.senders_[place] = senders_[edge];
            graph.faceOf_[place++] = faceOf_[edge];
        }
        for (; link != order.end() && links[*link].cell == row; ++link)
        {
            graph.senders_[place] = nNodes_ + *link;
            graph.reverseEdge_[place] = -1;
            graph.faceOf_[place++] = links[*link].face;
        }
    }
    graph.receiverStart_[nNodes_] = place;

    for (GraphIndex row = 0; row < nNodes_; ++row)
    {
        for (GraphIndex edge = receiverStart_[row]; edge < receiverStart_[row + 1]; ++edge)
        {
            const GraphIndex reverse = reverseEdge_[edge];
            graph.reverseEdge_[edge + before[row]] =
                reverse < 0 ? reverse : reverse + before[senders_[edge]];
        }
    }
    return graph;
}

}
