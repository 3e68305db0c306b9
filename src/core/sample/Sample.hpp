// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "buffer/SlotPool.hpp"
#include "graph/MeshGeometry.hpp"
#include "graph/MeshGraph.hpp"
#include "sample/RowIds.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace inSitu
{

//- The state of the mesh that a snapshot was taken on. Immutable and shared: a sample
//  keeps its own alive after the mesh has changed. What did not change is the same object.
struct MeshState
{
    std::shared_ptr<const MeshGraph> graph;

    //- Null: rows are named as they are numbered, on one rank
    std::shared_ptr<const RowIds> ids;

    //- The part of the graph that follows from the topology alone, the same object as long as that
    //  is the same; null: all of it does
    std::shared_ptr<const MeshGraph> inner;

    std::shared_ptr<const MeshGeometry> geometry;

    //- Static node features [nNodes, nStaticColumns]: kind one-hot {cell, wall, other patch}
    //  and, per input field, 1 on rows whose patch fixes its value
    std::shared_ptr<const std::vector<float>> staticFeatures;

    //- [nCells] 1 inside the zone of the loss, 0 outside; null: all cells
    std::shared_ptr<const std::vector<double>> cellMask;

    //- Names of the rows, whoever gave them
    std::shared_ptr<const RowIds> names() const
    {
        return ids ? ids : std::make_shared<const RowIds>(RowIds::asNumbered(*graph));
    }

    //- Identity of the rows: the same object, the same cells and faces
    const std::shared_ptr<const MeshGraph>& rows() const { return inner ? inner : graph; }

    //- The same objects, not only equal ones
    bool operator==(const MeshState& other) const
    {
        return graph == other.graph && geometry == other.geometry
            && staticFeatures == other.staticFeatures && cellMask == other.cellMask;
    }

    bool operator!=(const MeshState& other) const { return !(*this == other); }
};


//- Gathered values of one execution
struct Snapshot
{
    double time = 0;                //!< s
    std::int64_t timeIndex = 0;
    double deltaT = 0;              //!< the solver's step up to this time, s
    MeshState mesh;
    SlotPool::Handle input;         //!< [nRows, nInputColumns] of the working precision, less
                                    //!< the references
    SlotPool::Handle target;        //!< [nCells, nTargetColumns] double, as in the field

    //- [nEdges, nEdgeColumns] of the working precision, as EdgeGather makes them; null: none
    SlotPool::Handle edges = {};
};


//- An input and what became of it. The target is the value less its reference, or the
//  increment over the horizon, both formed in double.
struct Sample
{
    std::int64_t id = -1;           //!< counts completed samples from 0
    double time = 0;                //!< of the input, s
    MeshState mesh;                 //!< without inner, which only inputs that wait need
    SlotPool::Handle input;         //!< as in Snapshot
    SlotPool::Handle target;        //!< [nCells, nTargetColumns] of the working precision
    std::vector<double> features;   //!< one value per column that is the same in all rows
    SlotPool::Handle edges = {};    //!< as in Snapshot
};

}
