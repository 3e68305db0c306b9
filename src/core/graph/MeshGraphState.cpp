// SPDX-License-Identifier: GPL-3.0-or-later
#include "graph/MeshGraph.hpp"

#include "base/Error.hpp"

#include <algorithm>
#include <string>

namespace inSitu
{

StateTree MeshGraph::save() const
{
    StateTree state;
    state.putInt("nCells", nCells_);
    state.putInt("nBoundary", nBoundary_);
    state.putInt("nInternalFaces", nInternalFaces_);

    const auto share = [&](const char* name, Span<const std::int32_t> values)
    {
        state.putArray(name, {StateTree::Type::int32, {static_cast<std::int64_t>(values.size())},
            std::shared_ptr<const void>(memory_, values.data())});
    };
    share("receiverStart", receiverStart_);
    share("senders", senders_);
    share("faceOf", faceOf_);
    share("reverseEdge", reverseEdge_);
    return state;
}


MeshGraph MeshGraph::load(const StateTree& state)
{
    MeshGraph graph;
    graph.nCells_ = static_cast<std::int32_t>(state.getInt("nCells"));
    graph.nBoundary_ = static_cast<std::int32_t>(state.getInt("nBoundary"));
    graph.nInternalFaces_ = static_cast<std::int32_t>(state.getInt("nInternalFaces"));
    graph.nNodes_ = graph.nCells_ + graph.nBoundary_;
    graph.allocate(static_cast<std::int64_t>(state.getArray("senders").count()));
    state.get("receiverStart", graph.receiverStart_);
    state.get("senders", graph.senders_);
    state.get("faceOf", graph.faceOf_);
    state.get("reverseEdge", graph.reverseEdge_);

    const std::int32_t nEdges = graph.nEdges();
    const auto outside = [](Span<const std::int32_t> values, std::int32_t least, std::int32_t end)
    {
        return std::any_of(values.begin(), values.end(),
            [=](std::int32_t i) { return i < least || i >= end; });
    };
    if
    (
        graph.receiverStart_[0] != 0 || *(graph.receiverStart_.end() - 1) != nEdges
     || !std::is_sorted(graph.receiverStart_.begin(), graph.receiverStart_.end())
     || outside(graph.senders_, 0, graph.nNodes_) || outside(graph.reverseEdge_, -1, nEdges)
    )
    {
        throw Error("a saved graph of " + std::to_string(graph.nNodes_) + " nodes and "
            + std::to_string(nEdges) + " edges contradicts itself");
    }
    return graph;
}


bool MeshGraph::operator==(const MeshGraph& other) const
{
    const auto same = [](Span<const std::int32_t> a, Span<const std::int32_t> b)
        { return std::equal(a.begin(), a.end(), b.begin(), b.end()); };

    return nCells_ == other.nCells_ && nNodes_ == other.nNodes_
        && nInternalFaces_ == other.nInternalFaces_
        && same(receiverStart_, other.receiverStart_) && same(senders_, other.senders_)
        && same(faceOf_, other.faceOf_) && same(reverseEdge_, other.reverseEdge_);
}

}
