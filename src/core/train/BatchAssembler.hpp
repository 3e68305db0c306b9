// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Precision.hpp"
#include "base/Stamped.hpp"
#include "base/ThreadPool.hpp"
#include "model/GraphBatch.hpp"
#include "sample/Normaliser.hpp"
#include "sample/Sample.hpp"
#include "train/BatchParts.hpp"

#include <ATen/core/Tensor.h>

namespace inSitu
{

//- Makes the model's tensors from samples, or says what they are made of. Buffers are reused: what
//  a call returns is valid until the next call of the same function. Static parts (edge features,
//  static columns) are built once per graph, geometry and static features, and not again until
//  samples of another mesh are asked for.
class BatchAssembler
{
public:

    struct Layout
    {
        int nInputColumns = 0;      //!< gathered ones
        int nFeatures = 0;          //!< per-sample columns behind them
        std::vector<std::string> staticColumns = {};    //!< behind those
        int nTargetColumns = 0;
        Precision precision = Precision::float32;
        int nEdgeInputs = 0;        //!< columns of edges behind those of the geometry
        bool pinned = false;        //!< in memory from which a GPU copies by itself
    };

    BatchAssembler(Layout layout, ThreadPool& pool, const CountBuild& count);

    //- Node row = [(input − shift)/scale, (features − shift)/scale, static columns/scale]; edge
    //  row = [edge features/length, edge inputs/scale]. Throws Error if the samples do not share
    //  one mesh state, or their columns are not those of the trainer; with edge inputs if there
    //  is more than one, since a batch shares its edges. noise: as BatchNoise's.
    GraphBatch inputs(Span<const Sample> samples, const InputScales& scales,
        const at::Tensor& noise = {});

    //- Of one sample; allocates nothing while that is on the same mesh
    GraphBatch inputs(const Sample& sample, const InputScales& scales)
    {
        return inputs(Span<const Sample>(&sample, 1), scales);
    }

    //- [B, nCells, nTargetColumns] (target − shift)/scale
    at::Tensor targets(Span<const Sample> samples, const Scaling& scaling,
        const at::Tensor& noise = {});

    //- What both are made of, for one who makes them elsewhere. Throws as inputs(). Valid until the
    //  next call of any function, and as long as the samples.
    const BatchParts& parts(Span<const Sample> samples, const InputScales& scales,
        const Scaling& targets, const BatchNoise& noise);

    //- Compare what is held with a fresh build from the mesh it was built from. Empty if they
    //  agree; otherwise the name of the cache and the first entry that differs.
    std::string firstStaleEntry() const;

private:

    //- Holds what it names, so that an address is not met again for another mesh
    struct EdgeKey
    {
        std::shared_ptr<const MeshGraph> graph;
        std::shared_ptr<const MeshGraph> rows;
        std::shared_ptr<const MeshGeometry> geometry;
        double length;

        bool operator==(const EdgeKey& other) const
        {
            return graph == other.graph && geometry == other.geometry && length == other.length;
        }

        std::string changeFrom(const EdgeKey& before) const
        {
            return rows != before.rows ? "topology" : "geometry";
        }
    };

    struct NodeKey
    {
        std::shared_ptr<const MeshGraph> rows;
        std::shared_ptr<const std::vector<float>> staticFeatures;
        MeshScales scales;
        std::int64_t batchSize;

        bool operator==(const NodeKey& other) const
        {
            return rows == other.rows && staticFeatures == other.staticFeatures
                && scales.edgeLength == other.scales.edgeLength
                && scales.cellVolume == other.scales.cellVolume && batchSize == other.batchSize;
        }

        std::string changeFrom(const NodeKey& before) const
        {
            return rows != before.rows ? "topology"
                : staticFeatures != before.staticFeatures ? "fields" : "batch";
        }
    };

    using NodeBuffer = Stamped<NodeKey, at::Tensor>;

    at::Tensor zeros(at::IntArrayRef sizes) const;
    at::Tensor makeEdges(const EdgeKey& key) const;
    at::Tensor makeNodes(const NodeKey& key) const;
    std::int64_t nStaticColumns() const;
    std::int64_t width() const;

    at::Tensor makeStatics(const NodeKey& key) const;
    const at::Tensor& edgesOf(const MeshState& mesh, const InputScales& scales);

    //- Say what the parts are made of
    void setInputs(Span<const Sample> samples, const InputScales& scales, const at::Tensor& noise);
    void setEdgeInputs(Span<const Sample> samples, const std::vector<double>& scales);
    void setTargets(Span<const Sample> samples, const Scaling& scaling, const at::Tensor& noise);

    //- And make them here
    void fill(const BatchRows& rows, const at::Tensor& out);

    Layout layout_;
    ThreadPool& pool_;
    Scaling edgeScaling_;       // without shift
    Stamped<EdgeKey, at::Tensor> edges_;

    // Predictions come one by one between batches: neither evicts the other
    NodeBuffer single_;
    NodeBuffer several_;
    NodeBuffer statics_;        // for batches that are made elsewhere
    at::Tensor targets_;
    BatchParts parts_;
};

}
