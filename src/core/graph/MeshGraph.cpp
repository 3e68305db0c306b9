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


// Neighbours of each cell through internal faces, and those of lower index; checks the order
void countInternal
(
    Span<const Index> owner,
    Span<const Index> neighbour,
    Span<Index> lower,
    Span<Index> degree
)
{
    const auto nCells = static_cast<Index>(lower.size());
    Index previousOwner = 0;
    Index previousNeighbour = 0;
    std::size_t firstOfOwner = 0;
    for (std::size_t f = 0; f < owner.size(); ++f)
    {
        const Index o = owner[f];
        const Index n = neighbour[f];
        if (o != previousOwner)
        {
            degree[previousOwner] = static_cast<Index>(f - firstOfOwner);
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
        ++lower[n];
        previousOwner = o;
        previousNeighbour = n;
    }
    if (!owner.empty())
    {
        degree[previousOwner] = static_cast<Index>(owner.size() - firstOfOwner);
    }
    for (std::size_t c = 0; c < lower.size(); ++c)
    {
        degree[c] += lower[c];
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

    MeshGraph graph;
    graph.nCells_ = nCells;
    graph.nInternalFaces_ = static_cast<Index>(nFaces);

    // Cells below each cell and neighbours of it, then everything that its row holds
    Indices lower(nCells, 0);
    Indices internalDegree(nCells, 0);
    countInternal(owner, neighbour, lower, internalDegree);

    Indices degree(internalDegree);
    for (const CoupledPatch& patch : coupled)
    {
        const std::string place = "the coupled patch at face " + std::to_string(patch.firstFace);
        requireInside(patch.neighbourCells, nCells, place);
        countFaces(patch.cells, place, degree);
    }
    std::int64_t nNodes = nCells;
    for (const BoundaryPatch& patch : boundary)
    {
        countFaces(patch.cells, "the boundary patch at face " + std::to_string(patch.firstFace),
            degree);
        nNodes += static_cast<std::int64_t>(patch.cells.size());
    }
    requireIndices(nNodes, "nodes");
    graph.nNodes_ = static_cast<Index>(nNodes);
    graph.nBoundary_ = graph.nNodes_ - nCells;

    graph.allocate(startsFromCounts(degree));
    std::copy(degree.begin(), degree.end(), graph.receiverStart_.begin());
    std::fill(graph.receiverStart_.begin() + nCells, graph.receiverStart_.end(), graph.nEdges());

    graph.placeInternal(owner, neighbour, lower);
    graph.mergeCoupled(coupled, internalDegree);
    graph.placeBoundary(boundary);
    graph.completeRows();
    return graph;
}


void MeshGraph::allocate(std::int64_t nEdges)
{
    requireIndices(nEdges, "edges");
    const auto nStarts = static_cast<std::size_t>(nNodes_) + 1;
    const auto n = static_cast<std::size_t>(nEdges);
    memory_.reset(static_cast<Index*>(takeMemory((2*nStarts + 5*n)*sizeof(Index))), giveMemory);

    Index* next = memory_.get();
    for (Span<Index>* starts : {&receiverStart_, &senderStart_})
    {
        *starts = {next, nStarts};
        next += nStarts;
    }
    for (Span<Index>* edges : {&senders_, &receivers_, &faceOf_, &reverseEdge_, &senderEdge_})
    {
        *edges = {next, n};
        next += n;
    }
}


void MeshGraph::placeInternal
(
    Span<const Index> owner,
    Span<const Index> neighbour,
    Span<const Index> lower
)
{
    // Senders below the receiver come first, those above it behind them. Row by row, so that
    // memory is written in order; only the faces of lower senders are put ahead into rows to
    // come. The edge that owner o receives through its face f is toOwner[o] + f.
    const Span<Index> senders = senders_, faceOf = faceOf_, reverse = reverseEdge_;
    const Span<const Index> start = receiverStart_;
    const Index nCells = nCells_;   // local: no store through a view can change it

    Indices toOwner(nCells);
    Indices nextLower(start.begin(), start.begin() + nCells);
    const auto nFaces = static_cast<Index>(owner.size());
    Index face = 0;
    for (Index cell = 0; cell < nCells; ++cell)
    {
        toOwner[cell] = start[cell] + lower[cell] - face;
        for (Index edge = start[cell]; edge < nextLower[cell]; ++edge)
        {
            const Index through = faceOf[edge];
            const Index sender = owner[through];
            senders[edge] = sender;
            reverse[edge] = toOwner[sender] + through;
        }
        for (; face < nFaces && owner[face] == cell; ++face)
        {
            const Index edge = toOwner[cell] + face;
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


void MeshGraph::completeRows()
{
    const Span<const Index> start = receiverStart_, senders = senders_, reverses = reverseEdge_;
    const Span<Index> receivers = receivers_, outStart = senderStart_, outEdge = senderEdge_;
    const Index nCells = nCells_;   // local: no store through a view can change it

    // The edges out of a cell are the reverses of those into it, and in their order but for
    // repeated senders through coupled faces; boundary nodes have one edge each
    Index out = 0;
    Index edge = 0;
    const Index boundaryOut = nEdges() - nBoundary_;
    for (Index cell = 0; cell < nCells; ++cell)
    {
        const Index firstOut = out;
        outStart[cell] = out;
        for (; edge < start[cell + 1]; ++edge)
        {
            receivers[edge] = cell;
            const Index reverse = reverses[edge];
            if (reverse < 0)
            {
                outEdge[boundaryOut + senders[edge] - nCells] = edge;
                continue;
            }
            Index place = out++;
            for (; place > firstOut && outEdge[place - 1] > reverse; --place)
            {
                outEdge[place] = outEdge[place - 1];
            }
            outEdge[place] = reverse;
        }
    }
    for (Index node = nCells; node <= nNodes_; ++node)
    {
        outStart[node] = out++;
    }
}


std::size_t MeshGraph::bytes() const
{
    return (receiverStart_.size() + senderStart_.size() + 5*senders_.size())*sizeof(Index);
}

}
