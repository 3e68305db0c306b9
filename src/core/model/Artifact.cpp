// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/Artifact.hpp"

#include "base/Error.hpp"
#include "io/Disk.hpp"
#include "model/NetworkScript.hpp"
#include "model/TorchScriptModel.hpp"

#include <ATen/ATen.h>
#include <torch/csrc/jit/api/module.h>

#include <sstream>

namespace inSitu
{
namespace
{

// Differences and scales in double whatever the nodes are given in, the network in its own
// precision (that of the buffer 'working'): as the trainer computes
const char* const forwardSource = R"(
def forward(self, nodes: Tensor, static: Tensor, edge_index: Tensor, edges: Tensor) -> Tensor:
    x = (nodes.to(self.input_scale) - self.input_reference - self.input_shift)/self.input_scale
    s = (static.to(self.static_scale)/self.static_scale).to(self.working)
    x = torch.cat([x.to(self.working), s], 1)
    e = (edges.to(self.edge_scale)/self.edge_scale).to(self.working)
    y = self.network_output(x, edge_index, e).to(self.target_scale)
    y = y*self.target_scale + self.target_shift + self.target_reference
    return y.to(nodes)
)";


at::Tensor row(const std::vector<double>& values)
{
    return at::tensor(values, at::kDouble);
}


//- Method network_output of a native model: its own source, its parameters at the root
void addNative(torch::jit::Module& root, const Model& model)
{
    for (const auto& [name, tensor] : model.namedTensors())
    {
        root.register_parameter(attributeOf(name), tensor.to(at::kCPU, false, true), false);
    }
    root.define(model.torchScript());
    root.define(R"(
def network_output(self, nodes: Tensor, edge_index: Tensor, edges: Tensor) -> Tensor:
    return self.network(nodes, edge_index, edges)
)");
}


//- Method network_output of a user's module, which becomes the submodule 'network'
void addScripted(torch::jit::Module& root, const TorchScriptModel& model)
{
    const char* const arguments[] = {"nodes", "nodes, edge_index", "nodes, edge_index, edges"};
    root.register_module("network", model.module().deepcopy());
    root.define(
        "def network_output(self, nodes: Tensor, edge_index: Tensor, edges: Tensor) -> Tensor:\n"
        "    return self.network.forward("
        + std::string(arguments[model.nArguments() - 1]) + ")\n");
}


void requireSize(const std::vector<double>& values, std::size_t size, const char* name)
{
    if (values.size() != size)
    {
        throw Error("artifact: " + std::to_string(values.size()) + " entries of " + name
            + " for " + std::to_string(size) + " columns");
    }
}


void check(const ArtifactContent& content)
{
    const auto nInputs = static_cast<std::size_t>(content.nInputColumns);
    requireSize(content.inputReference, nInputs, "the input reference");
    requireSize(content.input.shift, nInputs, "the input shift");
    requireSize(content.input.scale, nInputs, "the input scale");

    const std::size_t nTargets = content.target.scale.size();
    requireSize(content.targetReference, nTargets, "the target reference");
    requireSize(content.target.shift, nTargets, "the target shift");
}


at::ScalarType precisionOf(const Model& model)
{
    return model.parameters().front().scalar_type();
}

}


void writeArtifact(const std::string& path, const Model& model, const ArtifactContent& content)
{
    check(content);

    torch::jit::Module root("inSituSurrogate");
    root.register_attribute("training", c10::BoolType::get(), false);
    root.register_buffer("input_reference", row(content.inputReference));
    root.register_buffer("input_shift", row(content.input.shift));
    root.register_buffer("input_scale", row(content.input.scale));
    root.register_buffer("target_reference", row(content.targetReference));
    root.register_buffer("target_shift", row(content.target.shift));
    root.register_buffer("target_scale", row(content.target.scale));
    root.register_buffer("static_scale", row(content.staticScales));
    root.register_buffer("edge_scale", row(content.edgeScales));
    root.register_buffer("working", at::zeros({1}, precisionOf(model)));

    if (const auto* scripted = dynamic_cast<const TorchScriptModel*>(&model))
    {
        addScripted(root, *scripted);
    }
    else
    {
        addNative(root, model);
    }
    root.define(forwardSource);
    root.eval();

    std::ostringstream stream;
    root.save(stream, {{"card.json", content.card}});
    replaceFile(path, stream.str());
}

}
