// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/BatchAssembler.hpp"

#include "base/Error.hpp"
#include "base/Text.hpp"
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


//- Describe the first entry by which two tensors differ; empty: none
std::string difference(const std::string& cache, const at::Tensor& held, const at::Tensor& fresh)
{
    if (held.sizes() != fresh.sizes())
    {
        return cache + ": other sizes than a fresh build";
    }
    const at::Tensor places = at::nonzero(held != fresh);
    if (places.size(0) == 0)
    {
        return {};
    }
    std::string text = cache + ": entry";
    at::Tensor here = held, there = fresh;
    for (std::int64_t d = 0; d < places.size(1); ++d)
    {
        const auto i = places[0][d].item<std::int64_t>();
        text += ' ' + std::to_string(i);
        here = here[i];
        there = there[i];
    }
    return text + " is " + numberText(here.item<double>()) + ", a fresh build gives "
        + numberText(there.item<double>());
}

}


BatchAssembler::BatchAssembler(Layout layout, ThreadPool& pool, const CountBuild& count)
:
    layout_(layout),
    pool_(pool),
    edges_("edgeFeatures", count),
    single_("nodeFeatures", count),
    several_("batchNodeFeatures", count)
{}


std::int64_t BatchAssembler::width() const
{
    return layout_.nInputColumns + layout_.nFeatures + nStaticColumns();
}


std::int64_t BatchAssembler::nStaticColumns() const
{
    return static_cast<std::int64_t>(layout_.staticColumns.size());
}


GraphBatch BatchAssembler::inputs(Span<const Sample> samples, const InputScales& scales)
{
    const Scaling& scaling = scales.nodes;
    const MeshState& mesh = samples[0].mesh;
    for (const Sample& sample : samples)
    {
        if (sample.mesh != mesh)
        {
            throw Error("the samples of one batch are on different meshes");
        }
        if (sample.features.size() != static_cast<std::size_t>(layout_.nFeatures))
        {
            throw Error("a sample has " + std::to_string(sample.features.size())
                + " features, the model " + std::to_string(layout_.nFeatures));
        }
    }

    if (layout_.nEdgeInputs > 0 && samples.size() > 1)
    {
        throw Error("samples with edge inputs are passed one by one");
    }

    const auto batchSize = static_cast<std::int64_t>(samples.size());
    const std::int64_t nNodes = mesh.graph->nNodes();

    const NodeKey nodeKey{mesh.rows(), mesh.staticFeatures, scales.mesh, batchSize};
    const at::Tensor& nodes =
        (batchSize == 1 ? single_ : several_).get(nodeKey, [&] { return makeNodes(nodeKey); });
    AT_DISPATCH_FLOATING_TYPES(nodes.scalar_type(), "normaliseInputs", [&]
    {
        auto* out = nodes.mutable_data_ptr<scalar_t>();
        for (const Sample& sample : samples)
        {
            normalise(pool_, static_cast<const scalar_t*>(sample.input.get()), nNodes,
                layout_.nInputColumns, scaling, out, width());
            for (int f = 0; f < layout_.nFeatures; ++f)
            {
                const int c = layout_.nInputColumns + f;
                const auto value = static_cast<scalar_t>(
                    (sample.features[f] - scaling.shift[c])/scaling.scale[c]);
                for (std::int64_t row = 0; row < nNodes; ++row)
                {
                    out[row*width() + c] = value;
                }
            }
            out += nNodes*width();
        }
    });

    const EdgeKey edgeKey{mesh.graph, mesh.rows(), mesh.geometry, scales.mesh.edgeLength};
    const at::Tensor& edges = edges_.get(edgeKey, [&] { return makeEdges(edgeKey); });
    if (layout_.nEdgeInputs > 0)
    {
        fillEdges(edges, samples[0], scales.edges);
    }
    return {mesh.graph, nodes, edges, layout_.nEdgeInputs > 0};
}


void BatchAssembler::fillEdges(const at::Tensor& edges, const Sample& sample,
    const std::vector<double>& scales)
{
    if (!sample.edges || scales.size() != static_cast<std::size_t>(layout_.nEdgeInputs))
    {
        throw Error("a sample " + std::string(sample.edges ? "" : "without values on edges")
            + " and " + std::to_string(scales.size()) + " scales for them, but the model has "
            + std::to_string(layout_.nEdgeInputs) + " edge inputs");
    }
    edgeScaling_.shift.assign(scales.size(), 0.0);
    edgeScaling_.scale = scales;
    AT_DISPATCH_FLOATING_TYPES(edges.scalar_type(), "normaliseEdges", [&]
    {
        auto* out = edges.mutable_data_ptr<scalar_t>() + edges.size(1) - layout_.nEdgeInputs;
        normalise(pool_, static_cast<const scalar_t*>(sample.edges.get()), edges.size(0),
            layout_.nEdgeInputs, edgeScaling_, out, edges.size(1));
    });
}


at::Tensor BatchAssembler::targets(const std::vector<Sample>& samples, const Scaling& scaling)
{
    const auto batchSize = static_cast<std::int64_t>(samples.size());
    const std::int64_t nCells = samples.front().mesh.graph->nCells();
    const int nColumns = layout_.nTargetColumns;
    const std::vector<std::int64_t> sizes{batchSize, nCells, nColumns};
    if (!targets_.defined() || targets_.sizes() != at::IntArrayRef(sizes))
    {
        targets_ = zeros(sizes);
    }

    AT_DISPATCH_FLOATING_TYPES(targets_.scalar_type(), "normaliseTargets", [&]
    {
        auto* out = targets_.mutable_data_ptr<scalar_t>();
        for (const Sample& sample : samples)
        {
            normalise(pool_, static_cast<const scalar_t*>(sample.target.get()), nCells,
                nColumns, scaling, out, nColumns);
            out += nCells*nColumns;
        }
    });
    return targets_;
}


at::Tensor BatchAssembler::zeros(at::IntArrayRef sizes) const
{
    return at::zeros(sizes,
        at::dtype(scalarType(layout_.precision)).pinned_memory(layout_.pinned));
}


at::Tensor BatchAssembler::makeEdges(const EdgeKey& key) const
{
    std::vector<double> features = edgeFeatures(*key.graph, *key.geometry);
    const at::Tensor raw = at::from_blob(features.data(),
        {key.graph->nEdges(), key.geometry->nEdgeFeatures()}, at::kDouble);
    const at::Tensor scales = at::tensor(edgeScales(*key.geometry, key.length), at::kDouble);
    const at::Tensor edges = zeros({raw.size(0), raw.size(1) + layout_.nEdgeInputs});
    edges.narrow(1, 0, raw.size(1)).copy_(raw/scales);
    return edges;
}


at::Tensor BatchAssembler::makeNodes(const NodeKey& key) const
{
    const std::int64_t nNodes = key.rows->nNodes();
    const std::int64_t nStatic = nStaticColumns();
    const std::size_t given = key.staticFeatures ? key.staticFeatures->size() : 0;
    if (given != static_cast<std::size_t>(nNodes*nStatic))
    {
        throw Error("the graph has " + std::to_string(nNodes) + " nodes and the model "
            + std::to_string(nStatic) + " static columns, but the mesh state holds "
            + std::to_string(given) + " static values");
    }

    at::Tensor nodes = zeros({key.batchSize, nNodes, width()});
    if (nStatic > 0)
    {
        const at::Tensor raw = at::from_blob(const_cast<float*>(key.staticFeatures->data()),
            {nNodes, nStatic}, at::kFloat);
        const at::Tensor scales =
            at::tensor(staticScales(layout_.staticColumns, key.scales), at::kDouble);
        nodes.narrow(2, width() - nStatic, nStatic).copy_(raw/scales);
    }
    return nodes;
}


std::string BatchAssembler::firstStaleEntry() const
{
    std::string text;
    if (edges_.key())
    {
        const auto fixed = [&](const at::Tensor& edges)
            { return edges.narrow(1, 0, edges.size(1) - layout_.nEdgeInputs); };
        text = difference(edges_.name(), fixed(*edges_.value()), fixed(makeEdges(*edges_.key())));
    }
    for (const NodeBuffer* buffer : {&single_, &several_})
    {
        if (text.empty() && buffer->key())
        {
            const std::int64_t first = width() - nStaticColumns();
            const auto fixed = [&](const at::Tensor& nodes)
                { return nodes.narrow(2, first, nStaticColumns()); };
            text = difference(buffer->name(), fixed(*buffer->value()),
                fixed(makeNodes(*buffer->key())));
        }
    }
    return text;
}

}
