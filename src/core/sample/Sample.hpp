// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "buffer/SlotPool.hpp"
#include "graph/MeshGeometry.hpp"
#include "graph/MeshGraph.hpp"

#include <cstdint>
#include <memory>

namespace inSitu
{

//- The state of the mesh that a snapshot was taken on. Immutable and shared: a sample
//  keeps its own alive after the mesh has changed.
struct MeshState
{
    std::shared_ptr<const MeshGraph> graph;
    std::shared_ptr<const MeshGeometry> geometry;

    //- Static node features [nNodes, nStaticColumns]: kind one-hot {cell, wall, other patch}
    //  and, per input field, 1 on rows whose patch fixes its value
    std::shared_ptr<const std::vector<float>> staticFeatures;
};


//- Gathered values of one execution
struct Snapshot
{
    double time = 0;                //!< s
    std::int64_t timeIndex = 0;
    MeshState mesh;
    SlotPool::Handle input;         //!< [nRows, nInputColumns] of the working precision, less
                                    //!< the references
    SlotPool::Handle target;        //!< [nCells, nTargetColumns] double, as in the field
};


//- An input and what became of it. The target is the value less its reference, or the
//  increment over the horizon, both formed in double.
struct Sample
{
    std::int64_t id = -1;           //!< counts completed samples from 0
    double time = 0;                //!< of the input, s
    MeshState mesh;
    SlotPool::Handle input;         //!< as in Snapshot
    SlotPool::Handle target;        //!< [nCells, nTargetColumns] of the working precision
};

}
