// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/StateTree.hpp"
#include "graph/MeshGraph.hpp"

#include <string>
#include <vector>

namespace inSitu
{

//- Where the nodes of a graph are: what is needed to make its edge features at any later time.
//  Lengths in the mesh's unit (m).
struct MeshGeometry
{
    std::vector<double> centres;        //!< [nNodes, 3]: cell centres, then face centres
    std::vector<double> cellVolumes;    //!< [nCells], m3
    std::vector<int> directions;        //!< active ones of 0 1 2 (OpenFOAM's geometricD > 0)

    //- Sender less receiver of the edges through coupled faces, in the order of the edges
    //  [number of them, 3]
    std::vector<double> displacements;

    //- Whether edges carry a weight: on meshes with sliding interfaces, also while none of
    //  their faces meet
    bool weighted = false;

    //- If weighted, that of the edges through coupled faces; others have 1 [number of them]
    std::vector<double> weights;

    int nEdgeFeatures() const { return static_cast<int>(directions.size()) + 1 + weighted; }

    //- "dx" "dy" "length", and "weight" if weighted
    std::vector<std::string> edgeFeatureNames() const;

    std::size_t bytes() const;

    //- Throws Error if the sizes are not those of the graph
    void requireFits(const MeshGraph& graph) const;

    StateTree save() const;

    //- Throws Error if the arrays do not fit each other
    static MeshGeometry load(const StateTree& state);

    bool operator==(const MeshGeometry& other) const;
};


//- Where the neighbour cells of a coupled patch appear from this side: for each meeting of
//  CoupledPatch, in that order, the way from the cell of this side to the cell of the other as
//  it lies when the halves touch (m; a periodic distance or rotation taken out), and the part
//  that it has in what the face sees.
struct CoupledDisplacement
{
    std::int32_t firstFace;
    Span<const double> delta;                       //!< [meetings, 3]
    Span<const std::int32_t> start = {};            //!< as in CoupledPatch; empty: one-to-one
    Span<const double> weights = {};                //!< [meetings]; empty: 1 each
};


//- The geometry of a graph. Throws Error if sizes do not fit or the displacements are not those
//  of its coupled faces.
MeshGeometry makeGeometry
(
    const MeshGraph& graph,
    std::vector<double> centres,
    std::vector<double> cellVolumes,
    std::vector<int> directions,
    const std::vector<CoupledDisplacement>& displacements = {},
    bool weighted = false
);


//- [nEdges, nEdgeFeatures()]: sender − receiver in the active directions and its norm in them;
//  edges through a coupled face take the displacement given for it. Not divided by a length.
//  If weighted, the weight comes last.
std::vector<double> edgeFeatures(const MeshGraph& graph, const MeshGeometry& geometry);

//- Mean of the norm over all edges; 0 without any
double meanEdgeLength(const MeshGraph& graph, const MeshGeometry& geometry);

//- What divides each edge feature: the given length, 1 for the weight
std::vector<double> edgeScales(const MeshGeometry& geometry, double length);


//- The first entry in which two geometries differ, as "centre of node 4 is (1 2 3), a fresh
//  build gives (1 2 4)"; empty if they are equal
std::string firstDifference(const MeshGeometry& held, const MeshGeometry& fresh);

}
