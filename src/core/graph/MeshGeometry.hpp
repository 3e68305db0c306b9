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

    int nEdgeFeatures() const { return static_cast<int>(directions.size()) + 1; }

    //- "dx" "dy" "length"
    std::vector<std::string> edgeFeatureNames() const;

    std::size_t bytes() const;

    StateTree save() const;
    static MeshGeometry load(const StateTree& state);

    bool operator==(const MeshGeometry& other) const;
};


//- Where the neighbour cells of a coupled patch (cyclic) appear from this side: mesh face
//  firstFace + i joins its cell with one that lies delta[3*i..] away (m), the periodic
//  distance taken out (OpenFOAM's fvPatch::delta()).
struct CoupledDisplacement
{
    std::int32_t firstFace;
    Span<const double> delta;
};


//- The geometry of a graph. Throws Error if sizes do not fit or the displacement of a coupled
//  face is not given.
MeshGeometry makeGeometry
(
    const MeshGraph& graph,
    std::vector<double> centres,
    std::vector<double> cellVolumes,
    std::vector<int> directions,
    const std::vector<CoupledDisplacement>& displacements = {}
);


//- [nEdges, nEdgeFeatures()]: sender − receiver in the active directions and its norm in them;
//  edges through a coupled face take the displacement given for it. Not divided by a length.
std::vector<double> edgeFeatures(const MeshGraph& graph, const MeshGeometry& geometry);

//- Mean of the norm over all edges; 0 without any
double meanEdgeLength(const MeshGraph& graph, const MeshGeometry& geometry);

}
