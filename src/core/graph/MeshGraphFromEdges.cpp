// SPDX-License-Identifier: GPL-3.0-or-later
#include "graph/MeshGraph.hpp"

#include "graph/countingOrder.hpp"

#include <algorithm>
#include <string>

namespace inSitu
{
namespace
{

using Index = GraphIndex;
using Indices = GraphIndices;

}


MeshGraph MeshGraph::fromEdges
(
    Index nNodes,
    Span<const Index> senders,
    Span<const Index> receivers
)
{
    if (senders.size() != receivers.size())
    {
        throw Error("there are " + std::to_string(senders.size()) + " senders, but "
            + std::to_string(receivers.size()) + " receivers");
    }
    const std::size_t n = senders.size();
    requireIndices(static_cast<std::int64_t>(n), "edges");
    for (std::size_t i = 0; i < n; ++i)
    {
        if (!inside(senders[i], nNodes) || !inside(receivers[i], nNodes))
        {
            throw Error("edge " + std::to_string(i) + " from " + std::to_string(senders[i])
                + " to " + std::to_string(receivers[i]) + " leaves the "
                + std::to_string(nNodes) + " nodes of the graph");
        }
    }

    MeshGraph graph;
    graph.nNodes_ = nNodes;
    graph.nCells_ = nNodes;
    graph.nInternalFaces_ = static_cast<Index>(n);

    graph.allocate(static_cast<std::int64_t>(n));

    const Indices bySender = countingOrder(sequence(n), nNodes,
        [&](Index i) { return senders[i]; });
    const Indices order = countingOrder(bySender, nNodes,
        [&](Index i) { return receivers[i]; });
    std::copy(order.begin(), order.end(), graph.faceOf_.begin());

    std::fill(graph.receiverStart_.begin(), graph.receiverStart_.end(), 0);
    for (std::size_t e = 0; e < n; ++e)
    {
        graph.senders_[e] = senders[order[e]];
        ++graph.receiverStart_[receivers[order[e]]];
    }
    startsFromCounts(graph.receiverStart_);

    // Edges into a node ascend by sender, those out of it by receiver: pair them in one walk
    const Derived& derived = graph.derived();
    std::fill(graph.reverseEdge_.begin(), graph.reverseEdge_.end(), -1);
    for (Index node = 0; node < nNodes; ++node)
    {
        Index in = graph.receiverStart_[node];
        Index out = derived.senderStart[node];
        while (in < graph.receiverStart_[node + 1] && out < derived.senderStart[node + 1])
        {
            const Index outEdge = derived.senderEdge[out];
            const Index from = graph.senders_[in];
            const Index to = derived.receivers[outEdge];
            if (from == to)
            {
                graph.reverseEdge_[in] = outEdge;
            }
            in += from <= to;
            out += to <= from;
        }
    }
    return graph;
}

}
