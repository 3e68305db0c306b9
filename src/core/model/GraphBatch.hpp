// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "graph/MeshGraph.hpp"

#include <ATen/core/Tensor.h>

#include <memory>

namespace inSitu
{

//- Normalised samples of one graph. All tensors are contiguous, on one device, of the
//  model's precision. Samples share connectivity (one CSR) and edge features.
struct GraphBatch
{
    std::shared_ptr<const MeshGraph> graph;
    at::Tensor nodes;       //!< [B, nNodes, nNodeFeatures]
    at::Tensor edges;       //!< [nEdges, nEdgeFeatures]

    //- Their values change while the tensor is the same: nothing made of them may be kept
    bool edgesVary = false;
};

}
