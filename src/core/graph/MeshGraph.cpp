// SPDX-License-Identifier: GPL-3.0-or-later
#include "graph/MeshGraph.hpp"

#include "base/Error.hpp"
#include "base/alignedMemory.hpp"
#include "graph/countingOrder.hpp"

#include <algorithm>
#include <string>

namespace inSitu
{
namespace
{

using Index = GraphIndex;
using Indices = GraphIndices;


void requireInside(Span<const Index> cells, Index nCells, const std::string& place)
{
    for (std::size_t i = 0; i < cells.size(); ++i)
    {
        if (!inside(cells[i], nCells))
        {
            throw Error("face " + std::to_string(i) + " of " + place + " has cell "
                + std::to_string(cells[i]) + ", outside the " + std::to_string(nCells)
                + " cells of the mesh");
        }
    }
}


template<class Patch>
void requireFaceOrder(const std::vector<Patch>& patches, Index nInternalFaces, const char* kind)
{
    std::int64_t end = nInternalFaces;
    for (const Patch& patch : patches)
    {
        if (patch.firstFace < end)
        {
            throw Error(std::string("the ") + kind + " patch that starts at face "
                + std::to_string(patch.firstFace) + " overlaps the faces before "
                + std::to_string(end) + "; patches follow the internal faces, in face order");
        }
        end = patch.firstFace + static_cast<std::int64_t>(patch.cells.size());
    }
}


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


// The other half of a coupled patch
std::size_t matchOf(const std::vector<CoupledPatch>& coupled, std::size_t patch)
{
    const CoupledPatch& half = coupled[patch];
    for (std::size_t i = 0; i < coupled.size(); ++i)
    {
        const CoupledPatch& other = coupled[i];
        if
        (
            i != patch
         && other.firstFace == half.neighbourFirstFace
         && other.neighbourFirstFace == half.firstFace
         && std::equal(half.cells.begin(), half.cells.end(),
                other.neighbourCells.begin(), other.neighbourCells.end())
         && std::equal(half.neighbourCells.begin(), half.neighbourCells.end(),
                other.cells.begin(), other.cells.end())
        )
        {
            return i;
        }
    }
    throw Error("the coupled patch that starts at face " + std::to_string(half.firstFace)
        + " has no matching half at face " + std::to_string(half.neighbourFirstFace)
        + "; both halves must be given, with cells and neighbourCells exchanged");
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
    requireFaceOrder(coupled, static_cast<Index>(nFaces), "coupled");

    std::int64_t nBoundary = 0;
    for (const BoundaryPatch& patch : boundary)
    {
        nBoundary += static_cast<std::int64_t>(patch.cells.size());
    }
    std::int64_t nCoupled = 0;
    for (const CoupledPatch& patch : coupled)
    {
        nCoupled += static_cast<std::int64_t>(patch.cells.size());
    }
    requireIndices(nCells + nBoundary, "nodes");

    MeshGraph graph;
    graph.nCells_ = nCells;
    graph.nInternalFaces_ = static_cast<Index>(nFaces);
    graph.nBoundary_ = static_cast<Index>(nBoundary);
    graph.nNodes_ = nCells + graph.nBoundary_;
    graph.allocate(2*static_cast<std::int64_t>(nFaces) + nCoupled + nBoundary);

    // Edges into each cell, internal ones first; boundary nodes receive none
    std::fill(graph.receiverStart_.begin(), graph.receiverStart_.end(), 0);
    const Span<Index> degree(graph.receiverStart_.data(), nCells);
    countInternal(owner, neighbour, degree);

    Indices internalDegree;
    if (!coupled.empty())
    {
        internalDegree.assign(degree.begin(), degree.end());
    }
    for (const CoupledPatch& patch : coupled)
    {
        const std::string place = "the coupled patch at face " + std::to_string(patch.firstFace);
        requireInside(patch.neighbourCells, nCells, place);
        countFaces(patch.cells, place, degree);
    }
    for (const BoundaryPatch& patch : boundary)
    {
        countFaces(patch.cells, "the boundary patch at face " + std::to_string(patch.firstFace),
            degree);
    }
    startsFromCounts(graph.receiverStart_);

    graph.placeInternal(owner, neighbour);
    graph.mergeCoupled(coupled, internalDegree);
    graph.placeBoundary(boundary);
    return graph;
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


void MeshGraph::mergeCoupled
(
    const std::vector<CoupledPatch>& coupled,
    Span<const Index> internalDegree
)
{
    // Coupled faces of all patches, numbered one after the other
    Indices faces, receivers, senders, match;
    Indices patchStart;
    for (const CoupledPatch& patch : coupled)
    {
        patchStart.push_back(static_cast<Index>(faces.size()));
        for (std::size_t i = 0; i < patch.cells.size(); ++i)
        {
            faces.push_back(patch.firstFace + static_cast<Index>(i));
        }
        receivers.insert(receivers.end(), patch.cells.begin(), patch.cells.end());
        senders.insert(senders.end(), patch.neighbourCells.begin(), patch.neighbourCells.end());
    }
    for (std::size_t p = 0; p < coupled.size(); ++p)
    {
        const Index first = patchStart[matchOf(coupled, p)];
        for (std::size_t i = 0; i < coupled[p].cells.size(); ++i)
        {
            match.push_back(first + static_cast<Index>(i));
        }
    }
    if (faces.empty())
    {
        return;
    }

    const Indices bySender = countingOrder(sequence(faces.size()), nCells_,
        [&](Index i) { return senders[i]; });
    const Indices order = countingOrder(bySender, nCells_,
        [&](Index i) { return receivers[i]; });

    // The rows have room behind their internal edges: merge from the back
    Indices edgeOf(faces.size());
    for (std::size_t end = order.size(); end > 0; )
    {
        const Index row = receivers[order[end - 1]];
        std::size_t begin = end;
        while (begin > 0 && receivers[order[begin - 1]] == row)
        {
            --begin;
        }

        Index internal = receiverStart_[row] + internalDegree[row];
        Index edge = internal + static_cast<Index>(end - begin);
        while (end > begin)
        {
            --edge;
            const Index face = order[end - 1];
            if (internal > receiverStart_[row] && senders_[internal - 1] > senders[face])
            {
                --internal;
                senders_[edge] = senders_[internal];
                faceOf_[edge] = faceOf_[internal];
                reverseEdge_[edge] = reverseEdge_[internal];
                reverseEdge_[reverseEdge_[edge]] = edge;
            }
            else
            {
                senders_[edge] = senders[face];
                faceOf_[edge] = faces[face];
                edgeOf[face] = edge;
                --end;
            }
        }
    }
    for (std::size_t face = 0; face < faces.size(); ++face)
    {
        reverseEdge_[edgeOf[face]] = edgeOf[match[face]];
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
    derived.memory =
        {static_cast<Index*>(takeMemory((nStarts + 2*n)*sizeof(Index))), giveMemory};
    derived.senderStart = {derived.memory.get(), nStarts};
    derived.receivers = {derived.senderStart.end(), n};
    derived.senderEdge = {derived.receivers.end(), n};

    const Span<const Index> senders = senders_;
    const Span<Index> receivers = derived.receivers;
    Indices next(nStarts, 0);
    for (Index node = 0; node < nNodes_; ++node)
    {
        for (Index edge = receiverStart_[node]; edge < receiverStart_[node + 1]; ++edge)
        {
            receivers[edge] = node;
            ++next[senders[edge]];
        }
    }
    startsFromCounts(next);
    std::copy(next.begin(), next.end(), derived.senderStart.begin());

    const Span<Index> senderEdge = derived.senderEdge;
    for (std::size_t edge = 0; edge < n; ++edge)
    {
        senderEdge[next[senders[edge]]++] = static_cast<Index>(edge);
    }
}


std::size_t MeshGraph::bytes() const
{
    return (2*receiverStart_.size() + 5*senders_.size())*sizeof(Index);
}

}
