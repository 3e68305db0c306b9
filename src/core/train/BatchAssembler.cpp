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

//- The formula of RowScaling, without noise; out has rows of width stride
template<class Value>
void scaleRows(ThreadPool& pool, const BatchRows& rows, Value* out, std::int64_t stride)
{
    const int nColumns = rows.nColumns;
    const int n = nColumns + rows.nFeatures;
    const double* const shift = rows.numbers.data();
    const double* const scale = shift + n;
    const double* features = scale + n;
    out += rows.first;
    for (const SlotPool::Handle* handle : rows.rows)
    {
        const auto* values = static_cast<const Value*>(handle->get());
        forChunks(pool, rows.nRows, [&](std::int64_t first, std::int64_t last, int)
        {
            for (std::int64_t r = first; r < last; ++r)
            {
                for (int c = 0; c < nColumns; ++c)
                {
                    const double value = static_cast<double>(values[r*nColumns + c]);
                    out[r*stride + c] = static_cast<Value>((value - shift[c])/scale[c]);
                }
            }
        });
        for (int c = nColumns; c < n; ++c)
        {
            const auto value = static_cast<Value>((*features++ - shift[c])/scale[c]);
            for (std::int64_t r = 0; r < rows.nRows; ++r)
            {
                out[r*stride + c] = value;
            }
        }
        out += rows.nRows*stride;
    }
}


//- The same rows of all samples, without features
void setRows(BatchRows& rows, Span<const Sample> samples, SlotPool::Handle Sample::* part,
    std::int64_t nRows, int nColumns)
{
    rows.rows.clear();
    for (const Sample& sample : samples)
    {
        rows.rows.push_back(&(sample.*part));
    }
    rows.nRows = nRows;
    rows.nColumns = nColumns;
}


void setNumbers(BatchRows& rows, const Scaling& scaling)
{
    const int n = rows.nColumns + rows.nFeatures;
    rows.numbers.assign(scaling.shift.begin(), scaling.shift.begin() + n);
    rows.numbers.insert(rows.numbers.end(), scaling.scale.begin(), scaling.scale.begin() + n);
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
    several_("batchNodeFeatures", count),
    statics_("staticColumns", count)
{
    parts_.width = width();
}


std::int64_t BatchAssembler::width() const
{
    return layout_.nInputColumns + layout_.nFeatures + nStaticColumns();
}


std::int64_t BatchAssembler::nStaticColumns() const
{
    return static_cast<std::int64_t>(layout_.staticColumns.size());
}


void BatchAssembler::setInputs(Span<const Sample> samples, const InputScales& scales,
    const at::Tensor& noise)
{
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
    BatchRows& nodes = parts_.nodes;
    setRows(nodes, samples, &Sample::input, mesh.graph->nNodes(), layout_.nInputColumns);
    nodes.nFeatures = layout_.nFeatures;
    setNumbers(nodes, scales.nodes);
    for (const Sample& sample : samples)
    {
        nodes.numbers.insert(nodes.numbers.end(), sample.features.begin(), sample.features.end());
    }
    nodes.noise = noise;
    if (layout_.nEdgeInputs > 0)
    {
        setEdgeInputs(samples, scales.edges);
    }
}


void BatchAssembler::setEdgeInputs(Span<const Sample> samples, const std::vector<double>& scales)
{
    if (samples.size() > 1)
    {
        throw Error("samples with edge inputs are passed one by one");
    }
    const Sample& sample = samples[0];
    if (!sample.edges || scales.size() != static_cast<std::size_t>(layout_.nEdgeInputs))
    {
        throw Error("a sample " + std::string(sample.edges ? "" : "without values on edges")
            + " and " + std::to_string(scales.size()) + " scales for them, but the model has "
            + std::to_string(layout_.nEdgeInputs) + " edge inputs");
    }
    edgeScaling_.shift.assign(scales.size(), 0.0);
    edgeScaling_.scale = scales;
    BatchRows& edges = parts_.edgeInputs;
    setRows(edges, samples, &Sample::edges, sample.mesh.graph->nEdges(), layout_.nEdgeInputs);
    setNumbers(edges, edgeScaling_);
    edges.first = sample.mesh.geometry->nEdgeFeatures();
}


void BatchAssembler::setTargets(Span<const Sample> samples, const Scaling& scaling,
    const at::Tensor& noise)
{
    BatchRows& targets = parts_.targets;
    setRows(targets, samples, &Sample::target, samples[0].mesh.graph->nCells(),
        layout_.nTargetColumns);
    setNumbers(targets, scaling);
    targets.noise = noise;
}


const at::Tensor& BatchAssembler::edgesOf(const MeshState& mesh, const InputScales& scales)
{
    const EdgeKey key{mesh.graph, mesh.rows(), mesh.geometry, scales.mesh.edgeLength};
    return edges_.get(key, [&] { return makeEdges(key); });
}


void BatchAssembler::fill(const BatchRows& rows, const at::Tensor& out)
{
    AT_DISPATCH_FLOATING_TYPES(out.scalar_type(), "scaleRows",
        [&] { scaleRows(pool_, rows, out.mutable_data_ptr<scalar_t>(), out.size(-1)); });
    if (rows.noise.defined())
    {
        out.narrow(1, 0, rows.noise.size(1)).narrow(2, rows.first, rows.nColumns)
            .add_(rows.noise);
    }
}


GraphBatch BatchAssembler::inputs(Span<const Sample> samples, const InputScales& scales,
    const at::Tensor& noise)
{
    setInputs(samples, scales, noise);
    const MeshState& mesh = samples[0].mesh;
    const auto batchSize = static_cast<std::int64_t>(samples.size());
    const NodeKey key{mesh.rows(), mesh.staticFeatures, scales.mesh, batchSize};
    const at::Tensor& nodes =
        (batchSize == 1 ? single_ : several_).get(key, [&] { return makeNodes(key); });
    fill(parts_.nodes, nodes);

    const at::Tensor& edges = edgesOf(mesh, scales);
    if (layout_.nEdgeInputs > 0)
    {
        fill(parts_.edgeInputs, edges);
    }
    return {mesh.graph, nodes, edges, layout_.nEdgeInputs > 0};
}


at::Tensor BatchAssembler::targets(Span<const Sample> samples, const Scaling& scaling,
    const at::Tensor& noise)
{
    setTargets(samples, scaling, noise);
    const std::vector<std::int64_t> sizes{static_cast<std::int64_t>(samples.size()),
        parts_.targets.nRows, layout_.nTargetColumns};
    if (!targets_.defined() || targets_.sizes() != at::IntArrayRef(sizes))
    {
        targets_ = zeros(sizes);
    }
    fill(parts_.targets, targets_);
    return targets_;
}


const BatchParts& BatchAssembler::parts(Span<const Sample> samples, const InputScales& scales,
    const Scaling& targets, const BatchNoise& noise)
{
    setInputs(samples, scales, noise.inputs);
    setTargets(samples, targets, noise.targets);
    const MeshState& mesh = samples[0].mesh;
    const NodeKey key{mesh.rows(), mesh.staticFeatures, scales.mesh, 1};
    parts_.graph = mesh.graph;
    parts_.statics = statics_.get(key, [&] { return makeStatics(key); });
    parts_.edges = edgesOf(mesh, scales);
    return parts_;
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


at::Tensor BatchAssembler::makeStatics(const NodeKey& key) const
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

    at::Tensor statics = zeros({nNodes, nStatic});
    if (nStatic > 0)
    {
        const at::Tensor raw = at::from_blob(const_cast<float*>(key.staticFeatures->data()),
            {nNodes, nStatic}, at::kFloat);
        const at::Tensor scales =
            at::tensor(staticScales(layout_.staticColumns, key.scales), at::kDouble);
        statics.copy_(raw/scales);
    }
    return statics;
}


at::Tensor BatchAssembler::makeNodes(const NodeKey& key) const
{
    const at::Tensor statics = makeStatics(key);
    at::Tensor nodes = zeros({key.batchSize, key.rows->nNodes(), width()});
    nodes.narrow(2, width() - nStaticColumns(), nStaticColumns()).copy_(statics);
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
    if (text.empty() && statics_.key())
    {
        text = difference(statics_.name(), *statics_.value(), makeStatics(*statics_.key()));
    }
    return text;
}

}
