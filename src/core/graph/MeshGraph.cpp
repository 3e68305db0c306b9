// SPDX-License-Identifier: GPL-3.0-or-later
#include "graph/MeshGraph.hpp"

#include "base/Error.hpp"
#include "base/alignedMemory.hpp"
#include "graph/countingOrder.hpp"
#include "graph/patchChecks.hpp"

#include <algorithm>
#include <string>

namespace inSitu
{
namespace
{

using Index = GraphIndex;
using Indices = GraphIndices;


[[noreturn]] void wrongFace(Span<const Index> owner, Span<const Index> neighbour, std::size_t face)
{
    throw Error("internal face " + std::to_string(face) + " with owner "
        + std::to_string(owner[face]) + " and neighbour " + std::to_string(neighbour[face])
        + " is out of range or not in upper-triangular order (owners ascending, neighbours"
          " ascending within an owner, owner below neighbour); renumber the mesh");
}


// Neighbours of each cell through internal faces, added to degree; checks the order
void countInternal(Span<const Index> owner, Span<const Index> neighbour, Span<Index> degree)
{
    const auto nCells = static_cast<Index>(degree.size());
    Index previousOwner = 0;
    Index previousNeighbour = 0;
    std::size_t firstOfOwner = 0;
    for (std::size_t f = 0; f < owner.size(); ++f)
    {
        const Index o = owner[f];
        const Index n = neighbour[f];
        if (o != previousOwner)
        {
            degree[previousOwner] += static_cast<Index>(f - firstOfOwner);
            firstOfOwner = f;
        }
        else if (n < previousNeighbour)
        {
            wrongFace(owner, neighbour, f);
        }
        if (o < previousOwner || n <= o || n >= nCells)
        {
            wrongFace(owner, neighbour, f);
        }
        ++degree[n];
        previousOwner = o;
        previousNeighbour = n;
    }
    if (!owner.empty())
    {
        degree[previousOwner] += static_cast<Index>(owner.size() - firstOfOwner);
    }
}


void countFaces(Span<const Index> cells, const std::string& place, Span<Index> degree)
{
    requireInside(cells, static_cast<Index>(degree.size()), place);
    for (const Index cell : cells)
    {
        ++degree[cell];
    }
}

}


MeshGraph MeshGraph::fromFaces
(
    Index nCells,
    Span<const Index> owner,
    Span<const Index> neighbour,
    const std::vector<BoundaryPatch>& boundary,
    const std::vector<CoupledPatch>& coupled
)
{
    if (owner.size() != neighbour.size())
    {
        throw Error("owner has " + std::to_string(owner.size()) + " internal faces, neighbour "
            + std::to_string(neighbour.size()));
    }
    const std::size_t nFaces = owner.size();
    requireIndices(static_cast<std::int64_t>(nFaces), "internal faces");
    requireFaceOrder(boundary, static_cast<Index>(nFaces), "boundary");

    std::int64_t nBoundary = 0;
    for (const BoundaryPatch& patch : boundary)
    {
        nBoundary += static_cast<std::int64_t>(patch.cells.size());
    }
    requireIndices(nCells + nBoundary, "nodes");

    MeshGraph graph;
    graph.nCells_ = nCells;
    graph.nInternalFaces_ = static_cast<Index>(nFaces);
    graph.nBoundary_ = static_cast<Index>(nBoundary);
    graph.nNodes_ = nCells + graph.nBoundary_;
    graph.allocate(2*static_cast<std::int64_t>(nFaces) + nBoundary);

    // Edges into each cell, internal ones first; boundary nodes receive none
    std::fill(graph.receiverStart_.begin(), graph.receiverStart_.end(), 0);
    const Span<Index> degree(graph.receiverStart_.data(), nCells);
    countInternal(owner, neighbour, degree);

    for (const BoundaryPatch& patch : boundary)
    {
        countFaces(patch.cells, "the boundary patch at face " + std::to_string(patch.firstFace),
            degree);
    }
    startsFromCounts(graph.receiverStart_);

    graph.placeInternal(owner, neighbour);
    graph.placeBoundary(boundary);
    return coupled.empty() ? graph : graph.withCoupled(coupled);
}


void MeshGraph::allocate(std::int64_t nEdges)
{
    requireIndices(nEdges, "edges");
    const auto nStarts = static_cast<std::size_t>(nNodes_) + 1;
    const auto n = static_cast<std::size_t>(nEdges);
    memory_.reset(static_cast<Index*>(takeMemory((nStarts + 3*n)*sizeof(Index))), giveMemory);

    receiverStart_ = {memory_.get(), nStarts};
    senders_ = {receiverStart_.end(), n};
    faceOf_ = {senders_.end(), n};
    reverseEdge_ = {faceOf_.end(), n};
}


void MeshGraph::placeInternal(Span<const Index> owner, Span<const Index> neighbour)
{
    // Senders below the receiver come first, those above it behind them. Row by row, so that
    // memory is written in order; only the faces of lower senders are put ahead, into rows to
    // come.
    const Span<Index> senders = senders_, faceOf = faceOf_, reverse = reverseEdge_;
    const Index nCells = nCells_;   // local: no store through a view can change it

    // Rows to come: where the next lower sender goes. Rows that are done: what makes a face
    // that the cell owns its edge there, toOwner[owner] + face.
    Indices nextLower(receiverStart_.begin(), receiverStart_.begin() + nCells);
    Indices& toOwner = nextLower;

    const auto nFaces = static_cast<Index>(owner.size());
    Index face = 0;
    for (Index cell = 0; cell < nCells; ++cell)
    {
        Index edge = receiverStart_[cell];
        for (; edge < nextLower[cell]; ++edge)
        {
            const Index through = faceOf[edge];
            const Index sender = owner[through];
            senders[edge] = sender;
            reverse[edge] = toOwner[sender] + through;
        }
        toOwner[cell] = edge - face;
        for (; face < nFaces && owner[face] == cell; ++face, ++edge)
        {
            const Index toNeighbour = nextLower[neighbour[face]]++;
            faceOf[edge] = face;
            faceOf[toNeighbour] = face;
            senders[edge] = neighbour[face];
            reverse[edge] = toNeighbour;
        }
    }
}


void MeshGraph::placeBoundary(const std::vector<BoundaryPatch>& boundary)
{
    // Boundary nodes come after all cells, hence last in a row: fill it from its end, the
    // last face first
    Indices next(receiverStart_.begin() + 1, receiverStart_.begin() + 1 + nCells_);
    Index node = nNodes_;
    for (auto patch = boundary.rbegin(); patch != boundary.rend(); ++patch)
    {
        for (std::size_t i = patch->cells.size(); i-- > 0; )
        {
            const Index edge = --next[patch->cells[i]];
            senders_[edge] = --node;
            faceOf_[edge] = patch->firstFace + static_cast<Index>(i);
            reverseEdge_[edge] = -1;
        }
    }
}


const MeshGraph::Derived& MeshGraph::derived() const
{
    std::call_once(derived_->made, [this] { make(*derived_); });
    return *derived_;
}


void MeshGraph::make(Derived& derived) const
{
    const std::size_t n = senders_.size();
    const std::size_t nStarts = receiverStart_.size();
    const std::size_t nSent = halo_ ? halo_->cells.size() : 0;
    const auto nHaloRows = static_cast<std::size_t>(nHalo());
    derived.memory =
    {
        static_cast<Index*>(takeMemory((nStarts + 2*n + nSent + nHaloRows)*sizeof(Index))),
        giveMemory
    };
    derived.senderStart = {derived.memory.get(), nStarts};
    derived.receivers = {derived.senderStart.end(), n};
    derived.senderEdge = {derived.receivers.end(), n - nHaloRows + nSent};
    derived.haloEdge = {derived.senderEdge.end(), nHaloRows};

    const Span<const Index> senders = senders_;
    const Span<Index> receivers = derived.receivers;
    Indices next(nStarts, 0);
    for (Index node = 0; node < nNodes_; ++node)
    {
        for (Index edge = receiverStart_[node]; edge < receiverStart_[node + 1]; ++edge)
        {
            receivers[edge] = node;
            if (senders[edge] < nNodes_)
            {
                ++next[senders[edge]];
            }
        }
    }
    for (std::size_t i = 0; i < nSent; ++i)
    {
        ++next[halo_->cells[i]];
    }
    startsFromCounts(next);
    std::copy(next.begin(), next.end(), derived.senderStart.begin());

    const Span<Index> senderEdge = derived.senderEdge;
    for (std::size_t edge = 0; edge < n; ++edge)
    {
        Index& place = senders[edge] < nNodes_
            ? senderEdge[next[senders[edge]]++]
            : derived.haloEdge[senders[edge] - nNodes_];
        place = static_cast<Index>(edge);
    }
    for (std::size_t i = 0; i < nSent; ++i)
    {
        senderEdge[next[halo_->cells[i]]++] = static_cast<Index>(n + i);
    }
}


std::size_t MeshGraph::bytes() const
{
    return (2*receiverStart_.size() + 5*senders_.size())*sizeof(Index)
        + (halo_ ? halo_->bytes() : 0);
}

}
