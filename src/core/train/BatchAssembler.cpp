// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/BatchAssembler.hpp"

#include "base/Error.hpp"
#include "model/FlatModel.hpp"
#include "train/FixedChunks.hpp"

#include <ATen/ATen.h>

namespace inSitu
{
namespace
{

//- out[r, c] = (values[r, c] − shift[c])/scale[c] in double; out has rows of width stride
template<class Value>
void normalise(ThreadPool& pool, const Value* values, std::int64_t nRows, int nColumns,
    const Scaling& scaling, Value* out, std::int64_t stride)
{
    forChunks(pool, nRows, [&](std::int64_t first, std::int64_t last, int)
    {
        for (std::int64_t r = first; r < last; ++r)
        {
            for (int c = 0; c < nColumns; ++c)
            {
                const double value = static_cast<double>(values[r*nColumns + c]);
                out[r*stride + c] = static_cast<Value>((value - scaling.shift[c])/scaling.scale[c]);
            }
        }
    });
}

}


BatchAssembler::BatchAssembler(int nInputColumns, int nStaticColumns, int nTargetColumns,
    double edgeScale, Precision precision, ThreadPool& pool)
:
    nInputColumns_(nInputColumns),
    nStaticColumns_(nStaticColumns),
    nTargetColumns_(nTargetColumns),
    edgeScale_(edgeScale),
    precision_(precision),
    pool_(pool)
{}


GraphBatch BatchAssembler::inputs(const std::vector<Sample>& samples, const Scaling& scaling)
{
    const MeshState& mesh = samples.front().mesh;
    for (const Sample& sample : samples)
    {
        if (sample.mesh.graph != mesh.graph || sample.mesh.geometry != mesh.geometry
         || sample.mesh.staticFeatures != mesh.staticFeatures)
        {
            throw Error("samples of different meshes in one batch are not supported yet; "
                "use batchSize 1");
        }
    }

    const auto batchSize = static_cast<std::int64_t>(samples.size());
    const std::int64_t nNodes = mesh.graph->nNodes();
    const std::int64_t width = nInputColumns_ + nStaticColumns_;

    const at::Tensor& nodes = (batchSize == 1 ? single_ : several_).get(
        NodeKey{mesh.graph, mesh.staticFeatures, batchSize},
        [&] { return makeNodes(mesh, batchSize); });
    AT_DISPATCH_FLOATING_TYPES(nodes.scalar_type(), "normaliseInputs", [&]
    {
        auto* out = nodes.mutable_data_ptr<scalar_t>();
        for (const Sample& sample : samples)
        {
            normalise(pool_, static_cast<const scalar_t*>(sample.input.get()), nNodes,
                nInputColumns_, scaling, out, width);
            out += nNodes*width;
        }
    });

    const at::Tensor& edges = edges_.get(EdgeKey{mesh.graph, mesh.geometry},
        [&] { return makeEdges(mesh); });
    return {mesh.graph, nodes, edges};
}


at::Tensor BatchAssembler::targets(const std::vector<Sample>& samples, const Scaling& scaling)
{
    const auto batchSize = static_cast<std::int64_t>(samples.size());
    const std::int64_t nCells = samples.front().mesh.graph->nCells();
    const std::vector<std::int64_t> sizes{batchSize, nCells, nTargetColumns_};
    if (!targets_.defined() || targets_.sizes() != at::IntArrayRef(sizes))
    {
        targets_ = at::empty(sizes, scalarType(precision_));
    }

    AT_DISPATCH_FLOATING_TYPES(targets_.scalar_type(), "normaliseTargets", [&]
    {
        auto* out = targets_.mutable_data_ptr<scalar_t>();
        for (const Sample& sample : samples)
        {
            normalise(pool_, static_cast<const scalar_t*>(sample.target.get()), nCells,
                nTargetColumns_, scaling, out, nTargetColumns_);
            out += nCells*nTargetColumns_;
        }
    });
    return targets_;
}


at::Tensor BatchAssembler::makeEdges(const MeshState& mesh) const
{
    std::vector<double> features = edgeFeatures(*mesh.graph, *mesh.geometry);
    const at::Tensor raw = at::from_blob(features.data(),
        {mesh.graph->nEdges(), mesh.geometry->nEdgeFeatures()}, at::kDouble);
    return at::div(raw, edgeScale_).to(scalarType(precision_));
}


at::Tensor BatchAssembler::makeNodes(const MeshState& mesh, std::int64_t batchSize) const
{
    const std::int64_t nNodes = mesh.graph->nNodes();
    const std::size_t given = mesh.staticFeatures ? mesh.staticFeatures->size() : 0;
    if (given != static_cast<std::size_t>(nNodes*nStaticColumns_))
    {
        throw Error("the graph has " + std::to_string(nNodes) + " nodes and the model "
            + std::to_string(nStaticColumns_) + " static columns, but the mesh state holds "
            + std::to_string(given) + " static values");
    }

    at::Tensor nodes = at::zeros({batchSize, nNodes, nInputColumns_ + nStaticColumns_},
        scalarType(precision_));
    if (nStaticColumns_ > 0)
    {
        nodes.narrow(2, nInputColumns_, nStaticColumns_).copy_(at::from_blob(
            const_cast<float*>(mesh.staticFeatures->data()), {nNodes, nStaticColumns_},
            at::kFloat));
    }
    return nodes;
}

}
