// SPDX-License-Identifier: GPL-3.0-or-later
#include "graph/MeshGraph.hpp"

#include "base/Error.hpp"

#include <algorithm>
#include <limits>
#include <string>

namespace inSitu
{
namespace
{

using Index = std::int32_t;
using Indices = std::vector<Index>;


// Counts become the first position of each bin; the total is returned
std::int64_t startsFromCounts(Indices& counts)
{
    std::int64_t total = 0;
    for (Index& count : counts)
    {
        const Index n = count;
        count = static_cast<Index>(total);
        total += n;
    }
    return total;
}


void requireIndices(std::int64_t count, const char* what)
{
    if (count > std::numeric_limits<Index>::max())
    {
        throw Error("the graph has " + std::to_string(count) + ' ' + what
            + ", more than 32-bit indices can count; use more ranks");
    }
}


bool inside(Index i, Index size)
{
    return static_cast<std::uint32_t>(i) < static_cast<std::uint32_t>(size);
}


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


// Positions of items in ascending order of their key, equal keys in the given order
template<class KeyOf>
Indices countingOrder(Span<const Index> items, Index nKeys, const KeyOf& keyOf)
{
    Indices start(nKeys, 0);
    for (const Index item : items)
    {
        ++start[keyOf(item)];
    }
    startsFromCounts(start);

    Indices order(items.size());
    for (const Index item : items)
    {
        order[start[keyOf(item)]++] = item;
    }
    return order;
}


Indices sequence(std::size_t n)
{
    Indices items(n);
    for (std::size_t i = 0; i < n; ++i)
    {
        items[i] = static_cast<Index>(i);
    }
    return items;
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

    // Cells below and above each cell, then everything that its row holds
    Indices lower(nCells, 0);
    Indices internalDegree(nCells, 0);
    for (std::size_t f = 0; f < nFaces; ++f)
    {
        const bool ordered = f == 0 || owner[f - 1] < owner[f]
         || (owner[f - 1] == owner[f] && neighbour[f - 1] <= neighbour[f]);
        if (!ordered || owner[f] < 0 || owner[f] >= neighbour[f] || neighbour[f] >= nCells)
        {
            wrongFace(owner, neighbour, f);
        }
        ++lower[neighbour[f]];
        ++internalDegree[owner[f]];
    }

    std::int64_t nBoundary = 0;
    graph.receiverStart_.assign(static_cast<std::size_t>(nCells) + 1, 0);
    Index* degree = graph.receiverStart_.data();
    for (Index c = 0; c < nCells; ++c)
    {
        internalDegree[c] += lower[c];
        degree[c] = internalDegree[c];
    }
    for (const CoupledPatch& patch : coupled)
    {
        const std::string place = "the coupled patch at face " + std::to_string(patch.firstFace);
        requireInside(patch.cells, nCells, place);
        requireInside(patch.neighbourCells, nCells, place);
        for (const Index cell : patch.cells)
        {
            ++degree[cell];
        }
    }
    for (const BoundaryPatch& patch : boundary)
    {
        requireInside(patch.cells, nCells,
            "the boundary patch at face " + std::to_string(patch.firstFace));
        nBoundary += static_cast<std::int64_t>(patch.cells.size());
        for (const Index cell : patch.cells)
        {
            ++degree[cell];
        }
    }
    requireIndices(nCells + nBoundary, "nodes");

    const std::int64_t nEdges = startsFromCounts(graph.receiverStart_);
    requireIndices(nEdges, "edges");
    graph.nBoundary_ = static_cast<Index>(nBoundary);
    graph.nNodes_ = nCells + graph.nBoundary_;
    graph.receiverStart_.resize(static_cast<std::size_t>(graph.nNodes_) + 1,
        static_cast<Index>(nEdges));

    graph.senders_.resize(nEdges);
    graph.receivers_.resize(nEdges);
    graph.faceOf_.resize(nEdges);
    graph.reverseEdge_.resize(nEdges);
    for (Index c = 0; c < nCells; ++c)
    {
        std::fill(graph.receivers_.begin() + graph.receiverStart_[c],
            graph.receivers_.begin() + graph.receiverStart_[c + 1], c);
    }

    graph.placeInternal(owner, neighbour, lower);
    graph.mergeCoupled(coupled, internalDegree);
    graph.placeBoundary(boundary);
    graph.listSenders();
    return graph;
}


void MeshGraph::placeInternal
(
    Span<const Index> owner,
    Span<const Index> neighbour,
    Span<const Index> lower
)
{
    // Face order visits the senders of every row in ascending order: those below the
    // receiver from its start, those above it behind them
    Indices nextLower(receiverStart_.begin(), receiverStart_.begin() + nCells_);
    Index above = 0;
    for (std::size_t f = 0; f < owner.size(); ++f)
    {
        const Index o = owner[f];
        const Index n = neighbour[f];
        if (f == 0 || owner[f - 1] != o)
        {
            above = receiverStart_[o] + lower[o];
        }
        const Index toOwner = above++;
        const Index toNeighbour = nextLower[n]++;
        senders_[toOwner] = n;
        senders_[toNeighbour] = o;
        faceOf_[toOwner] = static_cast<Index>(f);
        faceOf_[toNeighbour] = static_cast<Index>(f);
        reverseEdge_[toOwner] = toNeighbour;
        reverseEdge_[toNeighbour] = toOwner;
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


void MeshGraph::listSenders()
{
    senderStart_.assign(static_cast<std::size_t>(nNodes_) + 1, 0);
    for (const Index sender : senders_)
    {
        ++senderStart_[sender];
    }
    startsFromCounts(senderStart_);

    Indices next(senderStart_.begin(), senderStart_.end() - 1);
    senderEdge_.resize(senders_.size());
    const Index n = nEdges();
    for (Index edge = 0; edge < n; ++edge)
    {
        senderEdge_[next[senders_[edge]]++] = edge;
    }
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

    const Indices bySender = countingOrder(sequence(n), nNodes,
        [&](Index i) { return senders[i]; });
    graph.faceOf_ = countingOrder(bySender, nNodes,
        [&](Index i) { return receivers[i]; });

    graph.receiverStart_.assign(static_cast<std::size_t>(nNodes) + 1, 0);
    for (const Index i : graph.faceOf_)
    {
        graph.senders_.push_back(senders[i]);
        graph.receivers_.push_back(receivers[i]);
        ++graph.receiverStart_[receivers[i]];
    }
    startsFromCounts(graph.receiverStart_);
    graph.listSenders();

    // Edges into a node ascend by sender, those out of it by receiver: pair them in one walk
    graph.reverseEdge_.assign(n, -1);
    for (Index node = 0; node < nNodes; ++node)
    {
        Index in = graph.receiverStart_[node];
        Index out = graph.senderStart_[node];
        while (in < graph.receiverStart_[node + 1] && out < graph.senderStart_[node + 1])
        {
            const Index outEdge = graph.senderEdge_[out];
            const Index from = graph.senders_[in];
            const Index to = graph.receivers_[outEdge];
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


std::size_t MeshGraph::bytes() const
{
    const auto sizes = {receiverStart_.size(), senders_.size(), receivers_.size(),
        senderStart_.size(), senderEdge_.size(), reverseEdge_.size(), faceOf_.size()};
    std::size_t count = 0;
    for (const std::size_t size : sizes)
    {
        count += size;
    }
    return count*sizeof(Index);
}

}
