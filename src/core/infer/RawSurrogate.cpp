// SPDX-License-Identifier: GPL-3.0-or-later
#include "infer/RawSurrogate.hpp"

#include "base/Error.hpp"
#include "model/TorchScriptModel.hpp"

#include <ATen/ATen.h>

#include <algorithm>

namespace inSitu
{
namespace
{

ModelCard withArguments(ModelCard card)
{
    if (card.arguments.empty())
    {
        card.arguments = {"nodes", "edge_index", "edges"};
    }
    return card;
}


Precision precisionOf(const ModelCard& card)
{
    return card.precision == "float64" ? Precision::float64 : Precision::float32;
}


std::vector<double> noReference(const ModelCard& card)
{
    return std::vector<double>(card.nInputColumns() - card.features.size(), 0.0);
}

}


RawSurrogate::RawSurrogate(const ModelCard& card, std::string path, const CountBuild& count)
:
    Surrogate(withArguments(card), noReference(card), precisionOf(card)),
    path_(std::move(path)),
    type_(precision() == Precision::float64 ? at::kDouble : at::kFloat),
    fixed_("modelInputs", count)
{
    if (card.hasScales())
    {
        throw Error("model \"" + path_ + "\": its card has scales (inputShift, …), which are for"
            " .mdlus only; build them into the network");
    }
}


std::string RawSurrogate::wanted() const
{
    return "wanted is one tensor [N or nCells, " + std::to_string(card().nTargetColumns()) + ']';
}


RawSurrogate::Fixed RawSurrogate::makeFixed(const Key& key) const
{
    std::vector<double> features = edgeFeatures(*key.graph, *key.geometry);
    const std::int64_t nEdges = key.graph->nEdges();
    const std::int64_t nNodes = key.graph->nNodes();

    Fixed fixed;
    fixed.edgeIndex = edgeIndexOf(*key.graph);
    fixed.edges = at::from_blob(features.data(), {nEdges, key.geometry->nEdgeFeatures()},
        at::kDouble).to(type_, false, true);
    if (key.staticFeatures)
    {
        const auto nColumns = static_cast<std::int64_t>(key.staticFeatures->size())/nNodes;
        fixed.staticColumns = at::from_blob(const_cast<float*>(key.staticFeatures->data()),
            {nNodes, nColumns}, at::kFloat).clone();
    }
    return fixed;
}


std::string RawSurrogate::firstStaleEntry() const
{
    if (!fixed_.value())
    {
        return {};
    }
    const Fixed& held = *fixed_.value();
    const Fixed fresh = makeFixed(*fixed_.key());
    const bool same = at::equal(held.edgeIndex, fresh.edgeIndex)
     && at::equal(held.edges, fresh.edges)
     && (!held.staticColumns.defined() || at::equal(held.staticColumns, fresh.staticColumns));
    return same ? "" : fixed_.name();
}


at::Tensor RawSurrogate::nodesOf(const Sample& sample) const
{
    const std::int64_t nNodes = sample.mesh.graph->nNodes();
    const auto nFeatures = static_cast<std::int64_t>(card().features.size());
    const std::int64_t nFields = card().nInputColumns() - nFeatures;

    at::Tensor nodes = at::empty({nNodes, nFields + nFeatures}, type_);
    nodes.narrow(1, 0, nFields).copy_(
        at::from_blob(sample.input.get(), {nNodes, nFields}, type_));
    for (std::int64_t f = 0; f < nFeatures; ++f)
    {
        nodes.select(1, nFields + f).fill_(sample.features[f]);
    }
    return nodes;
}


at::Tensor RawSurrogate::edgesOf(const Sample& sample, const at::Tensor& fixed) const
{
    const std::int64_t nInputs = card().nEdgeInputs();
    return nInputs == 0 ? fixed
        : at::cat({fixed, at::from_blob(sample.edges.get(), {fixed.size(0), nInputs}, type_)}, 1);
}


void RawSurrogate::predict(const Sample& sample, Span<double> prediction)
{
    const at::NoGradGuard noGradients;
    const Key key{sample.mesh.graph, sample.mesh.geometry, sample.mesh.staticFeatures};
    const Fixed& fixed = fixed_.get(key, [&] { return makeFixed(key); });

    std::vector<at::Tensor> arguments;
    for (const std::string& name : card().arguments)
    {
        arguments.emplace_back(
            name == "nodes" ? nodesOf(sample)
          : name == "static" ? fixed.staticColumns
          : name == "edges" ? edgesOf(sample, fixed.edges)
          : fixed.edgeIndex);
    }

    const at::Tensor output = run(std::move(arguments));
    const std::int64_t nCells = sample.mesh.graph->nCells();
    const std::int64_t nColumns = card().nTargetColumns();
    if (output.dim() != 2 || output.size(1) != nColumns
     || (output.size(0) != nCells && output.size(0) != sample.mesh.graph->nNodes()))
    {
        std::string sizes;
        for (const std::int64_t size : output.sizes())
        {
            sizes += (sizes.empty() ? "" : ", ") + std::to_string(size);
        }
        throw Error("model \"" + path_ + "\" gives a tensor [" + sizes + "]; wanted is ["
            + std::to_string(nCells) + " or " + std::to_string(sample.mesh.graph->nNodes()) + ", "
            + std::to_string(nColumns) + "] for the targets of its card");
    }
    if (output.is_complex())
    {
        throw Error("model \"" + path_ + "\" gives complex numbers");
    }
    const at::Tensor cells = output.narrow(0, 0, nCells).to(at::kDouble).contiguous();
    std::copy_n(cells.const_data_ptr<double>(), prediction.size(), prediction.begin());
}

}
