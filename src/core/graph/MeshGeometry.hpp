// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "graph/MeshGraph.hpp"

#include <string>
#include <vector>

namespace inSitu
{

//- Where the nodes of a graph are: everything that follows from points.
//  Lengths in the mesh's unit (m).
struct MeshGeometry
{
    std::vector<double> centres;        //!< [nNodes, 3]: cell centres, then face centres
    std::vector<double> cellVolumes;    //!< [nCells], m3
    std::vector<int> directions;        //!< active ones of 0 1 2 (OpenFOAM's geometricD > 0)
    std::vector<double> edgeFeatures;   //!< [nEdges, nEdgeFeatures()], not divided by a length
    double meanEdgeLength = 0;          //!< over all edges, global

    int nEdgeFeatures() const { return static_cast<int>(directions.size()) + 1; }

    //- "dx" "dy" "length"
    std::vector<std::string> edgeFeatureNames() const;
};


//- Where the neighbour cells of a coupled patch (cyclic) appear from this side: mesh face
//  firstFace + i joins its cell with one that lies delta[3*i..] away (m), the periodic
//  distance taken out (OpenFOAM's fvPatch::delta()).
struct CoupledDisplacement
{
    std::int32_t firstFace;
    Span<const double> delta;
};


//- Edge features are sender − receiver in the active directions and its norm in them;
//  edges through a coupled face take the displacement given for it.
MeshGeometry makeGeometry
(
    const MeshGraph& graph,
    std::vector<double> centres,
    std::vector<double> cellVolumes,
    std::vector<int> directions,
    const std::vector<CoupledDisplacement>& displacements = {}
);

}
