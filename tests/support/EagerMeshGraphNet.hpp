// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "graph/MeshGraph.hpp"
#include "model/MeshGraphNetSizes.hpp"

#include <torch/nn/functional.h>
#include <torch/torch.h>

#include <map>
#include <string>
#include <vector>

namespace inSitu
{
namespace test
{

//- MeshGraphNet operator by operator, with autograd's own gradients: concatenate, index,
//  index_add. Parameters are separate leaves under PhysicsNeMo's names.
class EagerMeshGraphNet
{
public:

    //- Copies values from the flat parameters
    EagerMeshGraphNet(const MeshGraphNetSizes& sizes, const at::Tensor& flat)
    :
        sizes_(sizes),
        layout_(sizes.declare())
    {
        for (const auto& entry : layout_.entries())
        {
            parameters[entry.name] = layout_.viewOf(flat, entry.name).clone().requires_grad_(true);
        }
    }

    //- nodes [B, N, C], edges [E, F] in the graph's order
    at::Tensor forward(const MeshGraph& graph, const at::Tensor& nodes, const at::Tensor& edges)
    {
        const at::Tensor sender = index(graph.senders()).to(nodes.device());
        const at::Tensor receiver = index(graph.receivers()).to(nodes.device());
        std::vector<at::Tensor> outputs;
        for (std::int64_t b = 0; b < nodes.size(0); ++b)
        {
            outputs.push_back(sample(sender, receiver, nodes[b], edges));
        }
        return at::stack(outputs);
    }

    //- Gradients of the parameters in flat order
    at::Tensor flatGradient() const
    {
        std::vector<at::Tensor> parts;
        for (const auto& entry : layout_.entries())
        {
            parts.push_back(parameters.at(entry.name).grad().reshape({-1}));
        }
        return at::cat(parts);
    }

    std::map<std::string, at::Tensor> parameters;

private:

    static at::Tensor index(Span<const std::int32_t> values)
    {
        return at::tensor(std::vector<std::int64_t>(values.begin(), values.end()), at::kLong);
    }

    at::Tensor activate(const at::Tensor& z) const
    {
        switch (sizes_.activation)
        {
            case Activation::relu: return at::relu(z);
            case Activation::silu: return at::silu(z);
            case Activation::gelu: return at::gelu(z);
            case Activation::tanh: return at::tanh(z);
            case Activation::elu: return at::elu(z);
            case Activation::leakyRelu: return at::leaky_relu(z);
            case Activation::sigmoid: return at::sigmoid(z);
            case Activation::identity: break;
        }
        return z;
    }

    at::Tensor mlp(const std::string& prefix, at::Tensor x, int layers, bool normalised) const
    {
        const auto parameter = [&](int layer, const char* what)
        {
            return parameters.at(prefix + std::to_string(layer) + what);
        };
        for (int l = 0; l <= layers; ++l)
        {
            x = at::linear(x, parameter(2*l, ".weight"), parameter(2*l, ".bias"));
            x = l < layers ? activate(x) : x;
        }
        if (normalised)
        {
            x = at::layer_norm(x, {x.size(1)}, parameter(2*layers + 1, ".weight"),
                parameter(2*layers + 1, ".bias"), 1e-5);
        }
        return x;
    }

    at::Tensor sample(const at::Tensor& sender, const at::Tensor& receiver,
        const at::Tensor& nodes, const at::Tensor& edges) const
    {
        at::Tensor e = mlp(sizes_.edgeEncoderPrefix, edges, sizes_.edgeEncoderLayers, true);
        at::Tensor x = mlp(sizes_.nodeEncoderPrefix, nodes, sizes_.nodeEncoderLayers, true);
        const at::Tensor count = at::zeros({nodes.size(0), 1}, nodes.options())
            .index_add(0, receiver, at::ones({sender.size(0), 1}, nodes.options())).clamp_min(1);
        for (int block = 0; block < sizes_.blocks; ++block)
        {
            e = mlp(sizes_.edgePrefix(block),
                at::cat({e, x.index_select(0, sender), x.index_select(0, receiver)}, 1),
                sizes_.edgeProcessorLayers, true) + e;
            at::Tensor a = at::zeros_like(x).index_add(0, receiver, e);
            a = sizes_.mean ? a/count : a;
            x = mlp(sizes_.nodePrefix(block), at::cat({a, x}, 1), sizes_.nodeProcessorLayers,
                true) + x;
        }
        return mlp(sizes_.decoderPrefix, x, sizes_.decoderLayers, false);
    }

    MeshGraphNetSizes sizes_;
    ParameterSet layout_;
};

}
}
