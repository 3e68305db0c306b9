// SPDX-License-Identifier: GPL-3.0-or-later
#include "graph/MeshGraph.hpp"

#include "base/Error.hpp"
#include "graph/countingOrder.hpp"

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
    if (halo_)
    {
        state.putTree("halo", halo_->save());
    }
    return state;
}


MeshGraph MeshGraph::load(const StateTree& state)
{
    const auto count = [&](const char* name)
    {
        const std::int64_t n = state.getInt(name);
        requireIndices(n, name);
        if (n < 0)
        {
            throw Error("a saved graph has " + std::to_string(n) + " as its " + name);
        }
        return static_cast<std::int32_t>(n);
    };

    MeshGraph graph;
    graph.nCells_ = count("nCells");
    graph.nBoundary_ = count("nBoundary");
    graph.nInternalFaces_ = count("nInternalFaces");
    requireIndices(std::int64_t(graph.nCells_) + graph.nBoundary_, "nodes");
    graph.nNodes_ = graph.nCells_ + graph.nBoundary_;
    if (state.has("halo/cells"))
    {
        graph.halo_ = std::make_shared<const HaloPlan>(
            HaloPlan::load(state.subTree("halo"), graph.nCells_));
    }
    const std::size_t nStarts = state.getArray("receiverStart").count();
    if (nStarts != static_cast<std::size_t>(graph.nNodes_) + 1)
    {
        graph.contradiction("its rows are " + std::to_string(nStarts) + " less one");
    }
    graph.allocate(static_cast<std::int64_t>(state.getArray("senders").count()));
    state.get("receiverStart", graph.receiverStart_);
    state.get("senders", graph.senders_);
    state.get("faceOf", graph.faceOf_);
    state.get("reverseEdge", graph.reverseEdge_);
    graph.requireConsistent();
    return graph;
}


void MeshGraph::contradiction(const std::string& what) const
{
    throw Error("a saved graph of " + std::to_string(nNodes_) + " nodes contradicts itself: "
        + what);
}


void MeshGraph::requireConsistent() const
{
    const std::int32_t* start = receiverStart_.data();
    if
    (
        start[0] != 0 || start[nNodes_] != nEdges() || start[nCells_] != nEdges()
     || !std::is_sorted(start, start + nNodes_ + 1)
    )
    {
        contradiction("its rows do not divide its " + std::to_string(nEdges()) + " edges");
    }

    std::vector<bool> sends(nHalo(), false);
    for (std::int32_t row = 0; row < nCells_; ++row)
    {
        for (std::int32_t e = start[row]; e < start[row + 1]; ++e)
        {
            const auto wrong = [&](const char* what, std::int32_t value)
            {
                contradiction(std::string(what) + " of edge " + std::to_string(e) + " is "
                    + std::to_string(value));
            };

            const std::int32_t sender = senders_[e];
            if (!inside(sender, nNodes_ + nHalo()) || (e > start[row] && sender < senders_[e - 1]))
            {
                wrong("the sender", sender);
            }
            if (sender >= nNodes_)
            {
                if (sends[sender - nNodes_])
                {
                    wrong("the sender", sender);
                }
                sends[sender - nNodes_] = true;
            }
            const bool repeated = e > start[row] && sender == senders_[e - 1];
            if
            (
                faceOf_[e] < 0 || (sender >= nCells_ && faceOf_[e] < nInternalFaces_)
             || (repeated && faceOf_[e] < faceOf_[e - 1])
            )
            {
                wrong("the face", faceOf_[e]);
            }
            const std::int32_t reverse = reverseEdge_[e];
            if
            (
                reverse != -1
             && !(
                    sender < nCells_ && reverse >= start[sender] && reverse < start[sender + 1]
                 && senders_[reverse] == row && reverseEdge_[reverse] == e
                )
            )
            {
                wrong("the reverse edge", reverse);
            }
        }
    }
    if (std::find(sends.begin(), sends.end(), false) != sends.end())
    {
        contradiction("a halo row sends to no cell");
    }
}


bool MeshGraph::operator==(const MeshGraph& other) const
{
    const auto same = [](Span<const std::int32_t> a, Span<const std::int32_t> b)
        { return std::equal(a.begin(), a.end(), b.begin(), b.end()); };

    const bool sameHalo = halo_ && other.halo_ ? *halo_ == *other.halo_ : !halo_ == !other.halo_;
    return sameHalo && nCells_ == other.nCells_ && nNodes_ == other.nNodes_
        && nInternalFaces_ == other.nInternalFaces_
        && same(receiverStart_, other.receiverStart_) && same(senders_, other.senders_)
        && same(faceOf_, other.faceOf_) && same(reverseEdge_, other.reverseEdge_);
}

}
