// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/BestWeights.hpp"

#include "base/Error.hpp"
#include "model/TensorState.hpp"

#include <ATen/ATen.h>

#include <set>

namespace inSitu
{

std::vector<at::Tensor> copyTensors(const Model& model)
{
    std::vector<at::Tensor> copies;
    for (const auto& [name, tensor] : model.namedTensors())
    {
        copies.push_back(tensor.clone());
    }
    return copies;
}


void restoreTensors(const Model& model, const std::vector<at::Tensor>& tensors)
{
    auto source = tensors.begin();
    for (auto& [name, tensor] : model.namedTensors())
    {
        at::Tensor(tensor).copy_(*source++);
    }
}


StateTree saveTensors(const std::vector<std::pair<std::string, at::Tensor>>& tensors)
{
    StateTree state;
    for (const auto& [name, tensor] : tensors)
    {
        putTensor(state, name, tensor);
    }
    return state;
}


std::vector<at::Tensor> readTensors(const StateTree& state,
    const std::vector<std::pair<std::string, at::Tensor>>& tensors)
{
    std::vector<at::Tensor> values;
    std::set<std::string> known;
    for (const auto& [name, tensor] : tensors)
    {
        known.insert(name);
        if (!state.has(name))
        {
            throw IncompatibleState("the saved model has no tensor " + name
                + "; resume with the model that was saved, or start afresh");
        }
        try
        {
            values.push_back(getTensor(state, name, tensor));
        }
        catch (const Error& error)
        {
            throw IncompatibleState(std::string("the saved model is another one: ")
                + error.what() + "; resume with the model that was saved, or start afresh");
        }
    }
    for (const auto& entry : state.arrays())
    {
        if (known.count(entry.first) == 0)
        {
            throw IncompatibleState("the saved model has a tensor " + entry.first
                + ", this one has not; resume with the model that was saved, or start afresh");
        }
    }
    return values;
}


void BestWeights::keep(const Model& model, int nOutputs, double skill)
{
    skill_ = skill;
    tensors_ = copyTensors(model);
    factor_.assign(static_cast<std::size_t>(nOutputs), 1);
    shift_.assign(static_cast<std::size_t>(nOutputs), 0);
}


void BestWeights::rescale(const std::vector<double>& factor, const std::vector<double>& shift)
{
    for (std::size_t c = 0; c < factor_.size(); ++c)
    {
        factor_[c] *= factor[c];
        shift_[c] = factor[c]*shift_[c] + shift[c];
    }
}


void BestWeights::visit(Model& model, const std::function<void(const Model&)>& visit) const
{
    if (tensors_.empty())
    {
        visit(model);
        return;
    }

    struct Restorer
    {
        ~Restorer() { restoreTensors(model, current); }

        const Model& model;
        std::vector<at::Tensor> current;
    };

    const Restorer restorer{model, copyTensors(model)};
    restoreTensors(model, tensors_);
    model.rescaleOutput(factor_, shift_);
    visit(model);
}


StateTree BestWeights::save(const Model& model) const
{
    StateTree state;
    if (tensors_.empty())
    {
        return state;
    }
    state.putDouble("skill", skill_);
    state.put("factor", factor_);
    state.put("shift", shift_);

    auto named = model.namedTensors();
    for (std::size_t i = 0; i < named.size(); ++i)
    {
        named[i].second = tensors_[i];
    }
    state.putTree("tensors", saveTensors(named));
    return state;
}


BestWeights BestWeights::from(const StateTree& state, const Model& model)
{
    BestWeights best;
    if (state.has("skill"))
    {
        best.skill_ = state.getDouble("skill");
        best.factor_ = state.get<double>("factor");
        best.shift_ = state.get<double>("shift");
        best.tensors_ = readTensors(state.subTree("tensors"), model.namedTensors());
    }
    return best;
}

}
