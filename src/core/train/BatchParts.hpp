// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "buffer/SlotPool.hpp"
#include "graph/MeshGraph.hpp"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace inSitu
{

//- What is added to scaled columns [samples, cells, columns], of the working precision; undefined:
//  nothing
struct BatchNoise
{
    at::Tensor inputs;
    at::Tensor targets;
};


//- Rows of samples, as they were gathered, and how they become columns of a model's tensor
//  [samples, nRows, stride]. The formula is that of RowScaling.
struct BatchRows
{
    std::vector<const SlotPool::Handle*> rows;  //!< of each sample [nRows, nColumns]
    std::int64_t nRows = 0;
    int nColumns = 0;
    int nFeatures = 0;                          //!< one value per sample, behind the columns
    int first = 0;                              //!< their place in the tensor
    std::vector<double> numbers;                //!< as in RowScaling
    at::Tensor noise;
};


//- All that a batch of samples on one mesh is made of. It may be made on the host or on a device,
//  with the same bits.
struct BatchParts
{
    std::shared_ptr<const MeshGraph> graph;
    std::int64_t width = 0;         //!< columns of the nodes
    at::Tensor statics;             //!< [nNodes, columns] the last ones of nodes, scaled
    at::Tensor edges;               //!< [nEdges, columns] scaled; those of edgeInputs are free

    BatchRows nodes;
    BatchRows targets;              //!< all columns of them
    BatchRows edgeInputs;           //!< without columns: none
};

}
