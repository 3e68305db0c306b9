// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/TensorState.hpp"
#include "train/Optimizer.hpp"

#include <torch/optim/optimizer.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace inSitu
{

//- An optimiser of torch::optim over one group of parameters. TorchType's state of a
//  parameter is ParamState; a derived class says how it is written.
template<class TorchType, class ParamState>
class TorchOptimizer : public Optimizer
{
public:

    template<class TorchOptions>
    TorchOptimizer(std::vector<at::Tensor> parameters, const TorchOptions& options)
    :
        parameters_(std::move(parameters)),
        optimizer_(parameters_, options)
    {}

    void step() override { optimizer_.step(); }

    void setLearningRate(double rate) override
    {
        optimizer_.param_groups().front().options().set_lr(rate);
    }

    StateTree save() const override
    {
        StateTree state;
        state.putInt("nParameters", static_cast<std::int64_t>(parameters_.size()));
        for (std::size_t i = 0; i < parameters_.size(); ++i)
        {
            const auto found = optimizer_.state().find(parameters_[i].unsafeGetTensorImpl());
            if (found != optimizer_.state().end())
            {
                state.putTree(std::to_string(i),
                    write(static_cast<const ParamState&>(*found->second)));
            }
        }
        return state;
    }

    void load(const StateTree& state) override
    {
        if (state.getInt("nParameters") != static_cast<std::int64_t>(parameters_.size()))
        {
            throw Error("the saved optimiser has " + std::to_string(state.getInt("nParameters"))
                + " parameter tensors, the model " + std::to_string(parameters_.size()));
        }

        std::vector<std::pair<void*, std::unique_ptr<ParamState>>> states;
        for (const at::Tensor& parameter : parameters_)
        {
            const StateTree entry = state.subTree(std::to_string(states.size()));
            const bool stepped = !entry.arrays().empty();
            states.emplace_back(parameter.unsafeGetTensorImpl(),
                stepped ? read(entry, parameter) : nullptr);
        }

        optimizer_.state().clear();
        for (auto& [parameter, paramState] : states)
        {
            if (paramState)
            {
                optimizer_.state()[parameter] = std::move(paramState);
            }
        }
    }

protected:

    //- State of one parameter
    virtual StateTree write(const ParamState& state) const = 0;

    virtual std::unique_ptr<ParamState> read(const StateTree& state,
        const at::Tensor& parameter) const = 0;

private:

    std::vector<at::Tensor> parameters_;
    TorchType optimizer_;
};

}
