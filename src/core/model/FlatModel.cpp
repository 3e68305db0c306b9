// SPDX-License-Identifier: GPL-3.0-or-later

#include "model/FlatModel.hpp"

#include "base/Error.hpp"
#include "model/GraphBatch.hpp"

#include <ATen/core/grad_mode.h>

#include <sstream>

namespace inSitu
{

namespace
{

void checkTensor(const at::Tensor& tensor, const char* name, at::IntArrayRef expected,
    const at::Tensor& parameters)
{
    const bool shapeMatches = tensor.defined() && tensor.dim() == std::int64_t(expected.size())
        && tensor.sizes() == expected;
    if (shapeMatches && tensor.scalar_type() == parameters.scalar_type()
        && tensor.device() == parameters.device() && tensor.is_contiguous())
    {
        return;
    }
    std::ostringstream message;
    message << name << " of the model's input are ";
    if (tensor.defined())
    {
        message << tensor.sizes() << ' ' << tensor.scalar_type() << " on " << tensor.device()
            << (tensor.is_contiguous() ? "" : ", not contiguous");
    }
    else
    {
        message << "missing";
    }
    message << "; the model needs " << expected << ' ' << parameters.scalar_type() << " on "
        << parameters.device() << ", contiguous";
    throw Error(message.str());
}

}


at::ScalarType scalarType(Precision precision)
{
    return precision == Precision::float64 ? at::kDouble : at::kFloat;
}


std::vector<std::pair<std::string, at::Tensor>> FlatModel::namedTensors() const
{
    std::vector<std::pair<std::string, at::Tensor>> tensors;
    for (const auto& entry : parameters_.entries())
    {
        tensors.emplace_back(entry.name, parameters_.view(entry.name));
    }
    return tensors;
}


bool FlatModel::rescaleOutput(const std::vector<double>& factor, const std::vector<double>& shift)
{
    const auto n = static_cast<std::size_t>(shape_.nOutputs);
    if (factor.size() != n || shift.size() != n)
    {
        throw Error("rescaling " + std::to_string(n) + " outputs needs as many factors and shifts,"
            " not " + std::to_string(factor.size()) + " and " + std::to_string(shift.size()));
    }
    at::NoGradGuard noGrad;
    const auto column = [&](const std::vector<double>& values)
    {
        return at::tensor(values, at::kDouble).to(parameters_.flat().device(), true);
    };
    const at::Tensor weight = parameters_.view(lastLinear_ + ".weight");
    const at::Tensor bias = parameters_.view(lastLinear_ + ".bias");
    weight.copy_(weight.to(at::kDouble)*column(factor).unsqueeze(1));
    bias.copy_(bias.to(at::kDouble)*column(factor) + column(shift));
    return true;
}


void FlatModel::check(const GraphBatch& batch) const
{
    if (!batch.graph)
    {
        throw Error("the model's input has no graph");
    }
    const std::int64_t samples = batch.nodes.defined() && batch.nodes.dim() == 3
        ? batch.nodes.size(0) : 1;
    checkTensor(batch.nodes, "nodes", {samples, batch.graph->nNodes(), shape_.nNodeFeatures},
        parameters_.flat());
    checkTensor(batch.edges, "edges", {batch.graph->nEdges(), shape_.nEdgeFeatures},
        parameters_.flat());
}


at::Tensor FlatModel::predictionFor(const GraphBatch& batch)
{
    const std::int64_t sizes[] = {batch.nodes.size(0), batch.nodes.size(1), shape_.nOutputs};
    const bool isFree = prediction_.defined() && prediction_.use_count() == 1
        && prediction_.storage().use_count() == 1 && prediction_.sizes() == at::IntArrayRef(sizes);
    if (!isFree)
    {
        prediction_ = at::empty(sizes, batch.nodes.options());
    }
    return prediction_;
}

}
