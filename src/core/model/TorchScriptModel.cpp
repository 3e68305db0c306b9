// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/TorchScriptModel.hpp"

#include "base/Error.hpp"
#include "model/FlatModel.hpp"
#include "model/GraphBatch.hpp"
#include "model/ScriptFile.hpp"
#include "model/TensorState.hpp"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <algorithm>
#include <sstream>

namespace inSitu
{
namespace
{

const char* const signature =
    "forward(nodes), forward(nodes, edge_index) or forward(nodes, edge_index, edges)";


std::string text(at::IntArrayRef sizes)
{
    std::ostringstream stream;
    stream << sizes;
    return stream.str();
}


class TorchScriptOptions final : public ModelOptions
{
public:

    void describe(Schema& schema) override
    {
        schema.key("filename", filename_,
            "TorchScript file with forward(nodes[, edge_index[, edges]]), relative to the case; all "
            "normalised, nodes [rows, columns] with the columns that the log lists as inputs");
        schema.required("filename");
    }

    std::string file() const override { return pathIn(folder_, filename_); }

    void setFolder(const std::string& folder) override { folder_ = folder; }

    std::unique_ptr<Model> build(const ModelShape& shape, Precision precision,
        std::uint64_t seed, ThreadPool&) const override
    {
        return std::make_unique<TorchScriptModel>(file(), shape, precision,
            seed);
    }

private:

    std::string filename_;
    std::string folder_;
};

}


TorchScriptModel::TorchScriptModel(const std::string& filename, const ModelShape& shape,
    Precision precision, std::uint64_t seed)
:
    filename_(filename),
    shape_(shape),
    module_(loadScript(filename, "model.filename")),
    nArguments_(countArguments(module_, filename, 1, 3, signature))
{
    module_.to(scalarType(precision));
    if (parameters().empty())
    {
        throw Error("model.filename \"" + filename_ + "\" has no parameter to train; save it "
            "without torch.jit.freeze and with requires_grad on");
    }
    at::Generator generator = at::detail::getDefaultCPUGenerator();
    const std::lock_guard<std::mutex> lock(generator.mutex());
    generator.set_current_seed(seed);
}


at::Tensor TorchScriptModel::forward(const GraphBatch& batch)
{
    std::vector<at::Tensor> results;
    for (std::int64_t sample = 0; sample < batch.nodes.size(0); ++sample)
    {
        results.push_back(forwardOne(batch, sample));
    }
    return at::stack(results);
}


at::Tensor TorchScriptModel::forwardOne(const GraphBatch& batch, std::int64_t sample)
{
    const at::Tensor nodes = batch.nodes[sample];
    std::vector<c10::IValue> arguments{nodes};
    std::vector<NamedTensor> kept{{"nodes", batch.nodes}};
    if (nArguments_ > 1)
    {
        kept.emplace_back("edge_index", edgeIndex(batch.graph));
    }
    if (nArguments_ > 2)
    {
        kept.emplace_back("edges", batch.edges);
    }
    for (std::size_t i = 1; i < kept.size(); ++i)
    {
        arguments.emplace_back(kept[i].second);
    }

    const c10::IValue result = [&]
    {
        try
        {
            return runScript(module_, filename_, std::move(arguments), kept);
        }
        catch (const Error& fault)
        {
            throw Error(std::string(fault.what()) + "\nIts forward() was given nodes "
                + text(nodes.sizes()) + ": the inputs, features and static columns that the log"
                " lists behind 'inputs:', normalised");
        }
    }();
    const std::int64_t nNodes = batch.graph->nNodes();
    const std::int64_t nCells = batch.graph->nCells();

    if (!result.isTensor())
    {
        throw Error("model.filename \"" + filename_ + "\" returned " + result.tagKind()
            + "; its forward must return one tensor");
    }
    const at::Tensor output = result.toTensor();
    if (output.dim() != 2 || output.size(1) != shape_.nOutputs
     || (output.size(0) != nNodes && output.size(0) != nCells))
    {
        throw Error("model.filename \"" + filename_ + "\" returned " + text(output.sizes())
            + " for nodes " + text(nodes.sizes()) + "; it must return ["
            + std::to_string(nNodes) + ", " + std::to_string(shape_.nOutputs) + "], or ["
            + std::to_string(nCells) + ", " + std::to_string(shape_.nOutputs)
            + "] for the cells alone");
    }
    if (output.scalar_type() != nodes.scalar_type())
    {
        throw Error("model.filename \"" + filename_ + "\" returned "
            + c10::toString(output.scalar_type()) + " for "
            + c10::toString(nodes.scalar_type()) + " nodes; leave the type of its input unchanged");
    }
    return output.size(0) == nNodes
        ? output
        : at::constant_pad_nd(output, {0, 0, 0, nNodes - nCells});
}


std::vector<at::Tensor> TorchScriptModel::parameters() const
{
    std::vector<at::Tensor> leaves;
    for (const at::Tensor& parameter : module_.parameters())
    {
        if (parameter.requires_grad())
        {
            leaves.push_back(parameter);
        }
    }
    return leaves;
}


std::vector<std::pair<std::string, at::Tensor>> TorchScriptModel::namedTensors() const
{
    std::vector<std::pair<std::string, at::Tensor>> tensors;
    for (const auto& parameter : module_.named_parameters())
    {
        tensors.emplace_back(parameter.name, parameter.value.detach());
    }
    for (const auto& buffer : module_.named_buffers())
    {
        tensors.emplace_back(buffer.name, buffer.value.detach());
    }
    return tensors;
}


void TorchScriptModel::train(bool on)
{
    module_.train(on);
}


bool TorchScriptModel::rescaleOutput(const std::vector<double>&, const std::vector<double>&)
{
    return false;
}


std::string TorchScriptModel::torchScript() const
{
    return {};
}


std::vector<std::uint8_t> TorchScriptModel::generatorState() const
{
    return bytesOfGenerator(at::detail::getDefaultCPUGenerator());
}


void TorchScriptModel::setGeneratorState(const std::vector<std::uint8_t>& state)
{
    setGenerator(at::detail::getDefaultCPUGenerator(), state);
}


const at::Tensor& TorchScriptModel::edgeIndex(const std::shared_ptr<const MeshGraph>& graph)
{
    return edgeIndex_.get(graph, [&] { return edgeIndexOf(*graph); });
}


std::unique_ptr<ModelOptions> makeTorchScriptOptions()
{
    return std::make_unique<TorchScriptOptions>();
}


at::Tensor edgeIndexOf(const MeshGraph& graph)
{
    at::Tensor index = at::empty({2, graph.nEdges()}, at::kLong);
    auto* values = index.mutable_data_ptr<std::int64_t>();
    values = std::copy(graph.senders().begin(), graph.senders().end(), values);
    std::copy(graph.receivers().begin(), graph.receivers().end(), values);
    return index;
}

}
