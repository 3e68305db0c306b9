// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Span.hpp"
#include "base/StateTree.hpp"
#include "graph/HaloPlan.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace inSitu
{

//- Cells that meet through a boundary patch that couples the mesh to itself. Both directions
//  are given: each half of a coupling contributes its own CoupledPatch.
//  A cyclic is one-to-one: face i of one half meets face i of the other. Across a sliding
//  interface (AMI) a face meets any number of faces of the other half, also none.
struct CoupledPatch
{
    std::int32_t firstFace;                 //!< mesh face of face 0
    Span<const std::int32_t> cells;         //!< receivers: the cell of each face
    Span<const std::int32_t> neighbourCells;    //!< senders: those of the other half's faces
    std::int32_t neighbourFirstFace;        //!< firstFace of the other half

    //- Face i meets the faces neighbourFaces[start[i]] .. [start[i+1]-1] of the other half,
    //  counted from its first one, no face twice, in the order of their cells, those of one
    //  cell ascending. Both empty: one-to-one.
    Span<const std::int32_t> start = {};
    Span<const std::int32_t> neighbourFaces = {};
};


//- Faces of a patch that get a row each and an edge to their cell
struct BoundaryPatch
{
    std::int32_t firstFace;
    Span<const std::int32_t> cells;
};


//- Who sends to whom. Nodes: owned cells 0..nCells-1, then boundary faces. Senders can also be
//  halo rows, nNodes..nNodes+nHalo-1: cells of other ranks. Directed edges sorted by receiver,
//  within a receiver by sender, ties in face order (CSR). Built without a sort. Immutable;
//  shared by everything that was made on the same topology.
class MeshGraph
{
public:

    //- From upper-triangular faces, as OpenFOAM's owner/neighbour: owner ascending, within
    //  an owner neighbour ascending, owner < neighbour; size of both = internal faces. Two
    //  faces may join the same cells. Patches in the order of their faces, which follow the
    //  internal ones. O(cells + faces). Throws Error if the order is another one, an index is
    //  outside, or the halves of a coupled patch do not match.
    static MeshGraph fromFaces
    (
        std::int32_t nCells,
        Span<const std::int32_t> owner,
        Span<const std::int32_t> neighbour,
        const std::vector<BoundaryPatch>& boundary = {},
        const std::vector<CoupledPatch>& coupled = {}
    );

    //- The same with the edges through further coupled patches, for interfaces that change
    //  while the rest stays: each goes to its place in its row, one edge for each meeting of
    //  two faces. The patches follow the internal faces and are in the order of their faces;
    //  none is in the graph yet. O(nodes + edges), by copying. Throws Error if an index is
    //  outside or the halves of a patch do not match.
    MeshGraph withCoupled(const std::vector<CoupledPatch>& coupled) const;

    //- The same with the edges from cells of other ranks, one halo row for each link in the order
    //  given. Collective; the plan of who sends what is halo(). Throws Error as makeHaloPlan(), if a
    //  cell or a face is outside, or if there is a halo already.
    MeshGraph withHalo(const std::vector<HaloLink>& links, const Comm& comm) const;

    //- From any list of directed edges in any order (tools and tests): edges are put into
    //  order by stable counting passes, all nodes count as cells. The k-th edge from a to b is
    //  the reverse of the k-th from b to a. Throws Error if an index is outside.
    static MeshGraph fromEdges
    (
        std::int32_t nNodes,
        Span<const std::int32_t> senders,
        Span<const std::int32_t> receivers
    );

    std::int32_t nNodes() const { return nNodes_; }
    std::int32_t nCells() const { return nCells_; }
    std::int32_t nBoundary() const { return nBoundary_; }
    std::int32_t nEdges() const { return static_cast<std::int32_t>(senders_.size()); }

    //- Cells of other ranks, each with one edge to a cell here
    std::int32_t nHalo() const { return halo_ ? halo_->nRows : 0; }

    //- Null: the graph knows of no other ranks
    const std::shared_ptr<const HaloPlan>& halo() const { return halo_; }

    //- Edges of receiver r are receiverStart()[r] .. receiverStart()[r+1]-1
    Span<const std::int32_t> receiverStart() const { return receiverStart_; }
    Span<const std::int32_t> senders() const { return senders_; }

    //- The row of each edge. This one and the next three follow from the rows and are
    //  made, in O(edges), by the first call that wants one of them.
    Span<const std::int32_t> receivers() const { return derived().receivers; }

    //- Edges that leave node s are senderEdge()[senderStart()[s] ..], ascending: the
    //  backward pass of a gather by sender is a segment sum over them. Edges into cells of other
    //  ranks are numbered nEdges(), nEdges()+1, … in the order of HaloPlan::cells.
    Span<const std::int32_t> senderStart() const { return derived().senderStart; }
    Span<const std::int32_t> senderEdge() const { return derived().senderEdge; }

    //- The edge between the same nodes through the same faces the other way: for face i of a
    //  coupled patch that meets face j of the other half, the edge through j from i; -1: none
    Span<const std::int32_t> reverseEdge() const { return reverseEdge_; }

    //- Mesh face of an edge; with fromEdges, its position in the list
    Span<const std::int32_t> faceOf() const { return faceOf_; }

    //- Edges between cells with faceOf() below it are inside the mesh, the others coupled
    std::int32_t nInternalFaces() const { return nInternalFaces_; }

    //- The edge that leaves each halo row; made as those above
    Span<const std::int32_t> haloEdge() const { return derived().haloEdge; }

    //- Between two cells, but not through an internal face: through a patch that couples the mesh
    //  to itself, or from another rank
    bool isCoupled(std::int32_t edge) const
    {
        return faceOf_[edge] >= nInternalFaces_
            && (senders_[edge] < nCells_ || senders_[edge] >= nNodes_);
    }

    //- Memory of all arrays; copies share it
    std::size_t bytes() const;

    StateTree save() const;

    //- Throws Error if the arrays do not make a graph: rows that divide the edges, senders
    //  ascending in a row, reverse edges that are each other's
    static MeshGraph load(const StateTree& state);

    //- The same edges in the same order, through the same faces
    bool operator==(const MeshGraph& other) const;

private:

    void allocate(std::int64_t nEdges);
    void placeInternal(Span<const std::int32_t> owner, Span<const std::int32_t> neighbour);
    void placeBoundary(const std::vector<BoundaryPatch>& boundary);

    [[noreturn]] void contradiction(const std::string& what) const;
    void requireConsistent() const;

    struct Derived
    {
        std::once_flag made;
        std::unique_ptr<std::int32_t, void (*)(void*)> memory{nullptr, nullptr};
        Span<std::int32_t> receivers;
        Span<std::int32_t> senderStart;
        Span<std::int32_t> senderEdge;
        Span<std::int32_t> haloEdge;
    };

    const Derived& derived() const;
    void make(Derived& derived) const;

    std::int32_t nNodes_ = 0;
    std::int32_t nCells_ = 0;
    std::int32_t nBoundary_ = 0;
    std::int32_t nInternalFaces_ = 0;
    std::shared_ptr<const HaloPlan> halo_;

    // One piece of memory for the arrays, shared by copies
    std::shared_ptr<std::int32_t> memory_;
    Span<std::int32_t> receiverStart_;
    Span<std::int32_t> senders_;
    Span<std::int32_t> reverseEdge_;
    Span<std::int32_t> faceOf_;
    std::shared_ptr<Derived> derived_ = std::make_shared<Derived>();
};


//- The first entry in which two graphs differ, as "sender of edge 45 is 12, a fresh build gives
//  13"; empty if they are equal
std::string firstDifference(const MeshGraph& held, const MeshGraph& fresh);

}
