// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Precision.hpp"
#include "base/Stamped.hpp"
#include "base/ThreadPool.hpp"
#include "model/GraphBatch.hpp"
#include "sample/Normaliser.hpp"
#include "sample/Sample.hpp"

#include <ATen/core/Generator.h>

namespace inSitu
{

//- Makes the model's tensors from samples. Buffers are reused: what a call returns is valid
//  until the next call of the same function. Static parts (edge features, static columns)
//  are built once per graph, geometry and static features, and not again.
class BatchAssembler
{
public:

    //- nInputColumns dynamic columns, nStaticColumns behind them; edge features are divided
    //  by edgeScale
    BatchAssembler(int nInputColumns, int nStaticColumns, int nTargetColumns, double edgeScale,
        Precision precision, ThreadPool& pool);

    //- Node row = [(input − shift)/scale, static columns]. Throws Error if the samples do
    //  not share one graph, geometry and static features, or their columns are not those
    //  of the trainer.
    GraphBatch inputs(const std::vector<Sample>& samples, const Scaling& scaling);

    //- [B, nCells, nTargetColumns] (target − shift)/scale
    at::Tensor targets(const std::vector<Sample>& samples, const Scaling& scaling);

private:

    //- Holds what it names, so that an address is not met again for another mesh
    struct EdgeKey
    {
        std::shared_ptr<const MeshGraph> graph;
        std::shared_ptr<const MeshGeometry> geometry;

        bool operator==(const EdgeKey& other) const
        {
            return graph == other.graph && geometry == other.geometry;
        }
    };

    struct NodeKey
    {
        std::shared_ptr<const MeshGraph> graph;
        std::shared_ptr<const std::vector<float>> staticFeatures;
        std::int64_t batchSize;

        bool operator==(const NodeKey& other) const
        {
            return graph == other.graph && staticFeatures == other.staticFeatures
                && batchSize == other.batchSize;
        }
    };

    using NodeBuffer = Stamped<NodeKey, at::Tensor>;

    at::Tensor makeEdges(const MeshState& mesh) const;
    at::Tensor makeNodes(const MeshState& mesh, std::int64_t batchSize) const;

    int nInputColumns_;
    int nStaticColumns_;
    int nTargetColumns_;
    double edgeScale_;
    Precision precision_;
    ThreadPool& pool_;
    Stamped<EdgeKey, at::Tensor> edges_{"edgeTensor"};

    // Predictions come one by one between batches: neither evicts the other
    NodeBuffer single_{"nodeTensor"};
    NodeBuffer several_{"nodeTensors"};
    at::Tensor targets_;
};

}
