// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"
#include "base/Precision.hpp"
#include "base/ThreadPool.hpp"
#include "config/Schema.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace at { class Tensor; }

namespace inSitu
{

struct GraphBatch;
struct DeviceChoice;
class DeviceLibrary;

//- Widths that the case dictates
struct ModelShape
{
    int nNodeFeatures = 0;
    int nEdgeFeatures = 0;
    int nOutputs = 0;
};


//- A network on normalised features. Not thread-safe.
class Model
{
public:

    virtual ~Model() = default;

    //- Normalised prediction [B, nNodes, nOutputs] (rows beyond the cells have no meaning);
    //  part of the autograd graph if gradients are enabled. Same input and parameters, same
    //  bits, for any number of threads (TorchScript models: as their operators do). Without
    //  gradients a network of ours allocates nothing, once its memory fits the graph: a result that
    //  nobody holds any more is overwritten.
    virtual at::Tensor forward(const GraphBatch& batch) = 0;

    //- The autograd leaves that the optimiser changes, in a fixed order
    virtual std::vector<at::Tensor> parameters() const = 0;

    //- Detached views under the names of PyTorch's state_dict, buffers included
    virtual std::vector<std::pair<std::string, at::Tensor>> namedTensors() const = 0;

    //- Training or evaluation mode (dropout)
    virtual void train(bool on) = 0;

    //- The parameters will not change before the next call: predictions may keep what does not
    //  depend on the nodes. Not called for a model that is trained.
    virtual void freeze() {}

    //- Work with these ranks from now on, before the first pass: all call forward() alike, and so
    //  the backward pass. Graphs may have a halo if handlesHalo().
    virtual void joinRanks(std::shared_ptr<Comm>) {}

    //- moveTo() works
    virtual bool runsOnGpus() const { return false; }

    //- Compute on a GPU from now on: parameters() and what forward() takes and gives are there.
    //  Before anything else is asked for. Throws Error if the model runs on the CPU only.
    virtual void moveTo(DeviceLibrary& library, const DeviceChoice& choice);

    //- Cells of other ranks send to cells here; otherwise the model takes graphs without a halo
    virtual bool handlesHalo() const { return false; }

    //- The backward pass gives gradients of the parameters that are summed over the ranks
    virtual bool sumsGradients() const { return false; }

    //- Change the last linear layer so that output c becomes factor[c]*output c + shift[c]
    //  (PopArt, van Hasselt et al. 2016). False if the model cannot: nothing was changed.
    virtual bool rescaleOutput(const std::vector<double>& factor,
        const std::vector<double>& shift) = 0;

    //- TorchScript source of the network alone for the artifact: the text of
    //      def network(self, nodes: Tensor, edge_index: Tensor, edges: Tensor) -> Tensor
    //  with nodes [N, nNodeFeatures], edge_index [2, E] (senders, receivers), edges
    //  [E, nEdgeFeatures], result [N, nOutputs], all normalised; parameters are reached as
    //  self.<attributeOf(name)>, see NetworkScript.hpp. Empty for models that already are
    //  TorchScript.
    virtual std::string torchScript() const = 0;

    //- State beyond the parameters (dropout generator), as bytes; may be empty
    virtual std::vector<std::uint8_t> generatorState() const { return {}; }
    virtual void setGeneratorState(const std::vector<std::uint8_t>&) {}

    //- Number of trainable parameters
    std::int64_t nParameters() const;
};


//- `model { type …; }`
class ModelOptions : public Options
{
public:

    //- Parameters as tensors and as numbers in them. Floating, since what a file asks for may be
    //  beyond any integer.
    struct Size
    {
        double tensors = 0;
        double numbers = 0;
    };

    //- Those of the model that build() would make. Costs no memory. TorchScript: zeros.
    virtual Size size(const ModelShape&) const { return {}; }

    //- That it is read from; empty: none
    virtual std::string file() const { return {}; }

    //- A new model with initial weights drawn from seed. pool outlives the model.
    virtual std::unique_ptr<Model> build(const ModelShape& shape, Precision precision,
        std::uint64_t seed, ThreadPool& pool) const = 0;
};

//- meshGraphNet mlp torchscript
const Registry<ModelOptions>& modelRegistry();

}
