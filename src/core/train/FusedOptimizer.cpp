// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/FusedOptimizer.hpp"

#include "base/Error.hpp"
#include "model/TensorState.hpp"

#include <ATen/ATen.h>

#include <string>

namespace inSitu
{
namespace
{

void requireCount(const StateTree& state, std::size_t nParameters)
{
    if (state.getInt("nParameters") != static_cast<std::int64_t>(nParameters))
    {
        throw Error("the saved optimiser has " + std::to_string(state.getInt("nParameters"))
            + " parameter tensors, the model " + std::to_string(nParameters));
    }
}


void copyAll(const std::vector<at::Tensor>& to, const std::vector<at::Tensor>& from)
{
    for (std::size_t i = 0; i < to.size(); ++i)
    {
        at::Tensor(to[i]).copy_(from[i]);
    }
}


class FusedAdam final : public FusedOptimizer
{
public:

    FusedAdam(std::vector<at::Tensor> parameters, const FusedAdamSettings& settings)
    :
        FusedOptimizer(std::move(parameters)),
        settings_(settings)
    {
        for (const at::Tensor& parameter : parameters_)
        {
            mean_.push_back(at::zeros_like(parameter));
            square_.push_back(at::zeros_like(parameter));
            if (settings_.amsgrad)
            {
                largest_.push_back(at::zeros_like(parameter));
            }
            count_.push_back(at::zeros({}, rate_.options()));
        }
    }

    void step() override
    {
        const at::NoGradGuard noGradients;
        const at::Tensor made = 1 - skip_;
        for (at::Tensor& count : count_)
        {
            count.add_(made.squeeze());
        }
        const auto kernel = [&](auto function)
        {
            function(parameters_, gradients(), mean_, square_, largest_, count_, rate_,
                settings_.beta1, settings_.beta2, settings_.weightDecay, settings_.eps,
                settings_.amsgrad, false, std::optional<at::Tensor>(), skip_);
        };
        settings_.decoupled
          ? kernel([](auto&&... a) { at::_fused_adamw_(a...); })
          : kernel([](auto&&... a) { at::_fused_adam_(a...); });
    }

    StateTree save() const override
    {
        StateTree state;
        state.putInt("nParameters", static_cast<std::int64_t>(parameters_.size()));
        for (std::size_t i = 0; i < parameters_.size(); ++i)
        {
            const auto step = static_cast<std::int64_t>(count_[i].item<double>());
            if (step == 0)
            {
                continue;
            }
            StateTree entry;
            entry.putInt("step", step);
            putTensor(entry, "expAvg", mean_[i]);
            putTensor(entry, "expAvgSq", square_[i]);
            if (settings_.amsgrad)
            {
                putTensor(entry, "maxExpAvgSq", largest_[i]);
            }
            state.putTree(std::to_string(i), entry);
        }
        return state;
    }

    void load(const StateTree& state) override
    {
        requireCount(state, parameters_.size());
        std::vector<at::Tensor> mean, square, largest, count;
        for (std::size_t i = 0; i < parameters_.size(); ++i)
        {
            const StateTree entry = state.subTree(std::to_string(i));
            const bool stepped = !entry.arrays().empty();
            const auto read = [&](const char* name)
            {
                return stepped ? getTensor(entry, name, parameters_[i])
                    : at::zeros_like(parameters_[i]);
            };
            mean.push_back(read("expAvg"));
            square.push_back(read("expAvgSq"));
            largest.push_back(read(entry.has("maxExpAvgSq") ? "maxExpAvgSq" : "expAvgSq"));
            count.push_back(at::scalar_tensor(stepped ? entry.getInt("step") : 0, at::kFloat));
        }
        copyAll(mean_, mean);
        copyAll(square_, square);
        copyAll(largest_, largest);
        copyAll(count_, count);
    }

private:

    FusedAdamSettings settings_;
    std::vector<at::Tensor> mean_, square_, largest_, count_;
};


class FusedSgd final : public FusedOptimizer
{
public:

    FusedSgd(std::vector<at::Tensor> parameters, const FusedSgdSettings& settings)
    :
        FusedOptimizer(std::move(parameters)),
        settings_(settings),
        fresh_(at::ones_like(skip_))
    {
        if (settings_.momentum != 0)
        {
            for (const at::Tensor& parameter : parameters_)
            {
                momentum_.push_back(at::zeros_like(parameter));
            }
        }
    }

    void step() override
    {
        const at::NoGradGuard noGradients;
        const std::vector<at::Tensor> slopes = gradients();
        if (!momentum_.empty() && settings_.dampening != 0)
        {
            startMomentum(slopes);
        }
        at::_fused_sgd_(parameters_, slopes, momentum_, settings_.weightDecay, settings_.momentum,
            rate_, settings_.dampening, settings_.nesterov, false, false, {}, skip_);
        fresh_.mul_(skip_);
    }

    StateTree save() const override
    {
        StateTree state;
        state.putInt("nParameters", static_cast<std::int64_t>(parameters_.size()));
        const bool stepped = fresh_.item<double>() == 0;
        for (std::size_t i = 0; stepped && i < momentum_.size(); ++i)
        {
            StateTree entry;
            putTensor(entry, "momentum", momentum_[i]);
            state.putTree(std::to_string(i), entry);
        }
        return state;
    }

    void load(const StateTree& state) override
    {
        requireCount(state, parameters_.size());
        std::vector<at::Tensor> momentum;
        bool stepped = false;
        for (std::size_t i = 0; i < momentum_.size(); ++i)
        {
            const StateTree entry = state.subTree(std::to_string(i));
            const bool here = !entry.arrays().empty();
            stepped = stepped || here;
            momentum.push_back(here ? getTensor(entry, "momentum", parameters_[i])
                : at::zeros_like(parameters_[i]));
        }
        copyAll(momentum_, momentum);
        fresh_.fill_(stepped ? 0 : 1);
    }

private:

    //- The first step takes the gradient whole, but whether a step is the first is known on the
    //  device alone: momentum*buffer gets there what dampening is going to take away
    void startMomentum(const std::vector<at::Tensor>& slopes)
    {
        const at::Tensor isFirst = fresh_*(1 - skip_);
        const double share = settings_.dampening/settings_.momentum;
        for (std::size_t i = 0; i < momentum_.size(); ++i)
        {
            const at::Tensor whole = slopes[i] + parameters_[i]*settings_.weightDecay;
            momentum_[i].add_(
                at::where(isFirst > 0, whole*share, at::zeros({}, whole.options())));
        }
    }

    FusedSgdSettings settings_;
    at::Tensor fresh_;                      // 1 before the first step
    std::vector<at::Tensor> momentum_;
};

}


FusedOptimizer::FusedOptimizer(std::vector<at::Tensor> parameters)
:
    leaves_(std::move(parameters))
{
    for (const at::Tensor& leaf : leaves_)
    {
        parameters_.push_back(leaf.detach());
    }
    const auto options = at::dtype(at::kFloat).device(parameters_.front().device());
    skip_ = at::zeros({1}, options);
    rate_ = at::zeros({}, options);
}


void FusedOptimizer::setLearningRate(double rate)
{
    rate_.fill_(rate);
}


std::vector<at::Tensor> FusedOptimizer::gradients() const
{
    std::vector<at::Tensor> gradients;
    for (const at::Tensor& leaf : leaves_)
    {
        gradients.push_back(leaf.grad());
    }
    return gradients;
}


std::unique_ptr<FusedOptimizer> makeFusedAdam(std::vector<at::Tensor> parameters,
    const FusedAdamSettings& settings)
{
    return std::make_unique<FusedAdam>(std::move(parameters), settings);
}


std::unique_ptr<FusedOptimizer> makeFusedSgd(std::vector<at::Tensor> parameters,
    const FusedSgdSettings& settings)
{
    return std::make_unique<FusedSgd>(std::move(parameters), settings);
}

}
