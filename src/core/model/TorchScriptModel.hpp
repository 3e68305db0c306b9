// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Stamped.hpp"
#include "graph/MeshGraph.hpp"
#include "model/Model.hpp"

#include <ATen/core/Tensor.h>
#include <torch/csrc/jit/api/module.h>

namespace inSitu
{

//- A user's network from a TorchScript file, trained in place. One of
//      forward(nodes)
//      forward(nodes, edge_index)
//      forward(nodes, edge_index, edges)
//  with nodes [N, nNodeFeatures], edge_index [2, E] int64 (senders, receivers) and edges
//  [E, nEdgeFeatures], all normalised; called once per sample of a batch. The result is
//  [N, nOutputs], or [nCells, nOutputs] for the cells alone. Parameters and buffers are
//  cast to the working precision.
//
//  The module's operators decide about its bits: they run on torch's threads. Dropout draws
//  from torch's global generator, which is seeded here and belongs to generatorState(); a
//  restart is exact as long as no other model of the process draws from it.
class TorchScriptModel final : public Model
{
public:

    //- Throws Error naming the file: missing, not TorchScript, another forward, nothing to
    //  train (a frozen module has no parameters)
    TorchScriptModel(const std::string& filename, const ModelShape& shape, Precision precision,
        std::uint64_t seed);

    at::Tensor forward(const GraphBatch& batch) override;

    std::vector<at::Tensor> parameters() const override;
    std::vector<std::pair<std::string, at::Tensor>> namedTensors() const override;
    void train(bool on) override;

    //- False: the last layer is not known
    bool rescaleOutput(const std::vector<double>& factor,
        const std::vector<double>& shift) override;

    //- Empty: the artifact takes module() as it is
    std::string torchScript() const override;

    std::vector<std::uint8_t> generatorState() const override;
    void setGeneratorState(const std::vector<std::uint8_t>& state) override;

    const torch::jit::Module& module() const { return module_; }

    //- 1, 2 or 3, as listed above
    int nArguments() const { return nArguments_; }

private:

    at::Tensor forwardOne(const GraphBatch& batch, std::int64_t sample);
    const at::Tensor& edgeIndex(const std::shared_ptr<const MeshGraph>& graph);

    std::string filename_;
    ModelShape shape_;
    torch::jit::Module module_;
    int nArguments_;
    Stamped<std::shared_ptr<const MeshGraph>, at::Tensor> edgeIndex_{"edgeIndex"};
};


//- `model { type torchscript; filename "…"; }`
std::unique_ptr<ModelOptions> makeTorchScriptOptions();

//- [2, E] int64: senders, receivers
at::Tensor edgeIndexOf(const MeshGraph& graph);

}
