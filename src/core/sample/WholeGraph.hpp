// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"
#include "sample/Sample.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace inSitu
{

//- The graph of the whole mesh, put together on the master from the ranks' parts: cells in the
//  order of their names, boundary rows in that of their faces, edges ascending by receiver, then
//  sender, ties as the rank of the receiver has them. Elsewhere the arrays are empty.
struct WholeGraph
{
    std::int64_t nCells = 0;
    std::vector<std::int64_t> senders;
    std::vector<std::int64_t> receivers;
    std::vector<double> edges;              //!< edgeFeatures() [nEdges, …]
    std::vector<std::int64_t> edgeFaces;    //!< of the mesh [nEdges]; empty with several ranks
    std::vector<std::int64_t> edgeSigns;    //!< 1 out of the owner of that face, -1 into it
    std::vector<float> staticFeatures;      //!< [nNodes, …]
    std::vector<double> centres;            //!< [nNodes, 3]
    std::vector<double> cellVolumes;        //!< [nCells]
    std::vector<std::int64_t> faces;        //!< names of the boundary rows [nBoundary]
    bool undecomposed = false;              //!< names are those of the undecomposed mesh
    bool complete = true;                   //!< edges between ranks are there

    std::int64_t nNodes() const { return nCells + static_cast<std::int64_t>(faces.size()); }
    std::int64_t nEdges() const { return static_cast<std::int64_t>(senders.size()); }

    //- One array after the other travels, so that the master needs little more than the graph.
    //  Throws AgreedError if cells have no names that count them. Collective.
    static WholeGraph of(const MeshState& mesh, std::size_t nStaticColumns, const Comm& comm);
};

}
