// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/Error.hpp"
#include "train/FusedOptimizer.hpp"
#include "train/optimizers/Optimizers.hpp"
#include "train/optimizers/TorchOptimizer.hpp"

#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>

namespace inSitu
{
namespace
{

struct PlainDecay
{
    using Type = torch::optim::Adam;
    using Options = torch::optim::AdamOptions;
    using ParamState = torch::optim::AdamParamState;
    static constexpr bool decoupled = false;
    static constexpr const char* decayMeaning = "added to the gradient, times the parameter";
};

struct DecoupledDecay
{
    using Type = torch::optim::AdamW;
    using Options = torch::optim::AdamWOptions;
    using ParamState = torch::optim::AdamWParamState;
    static constexpr bool decoupled = true;
    static constexpr const char* decayMeaning =
        "share of the parameter that a step of learning rate 1 takes away";
};


template<class Kind>
class Adam final : public TorchOptimizer<typename Kind::Type, typename Kind::ParamState>
{
public:

    Adam(std::vector<at::Tensor> parameters, const typename Kind::Options& options)
    :
        TorchOptimizer<typename Kind::Type, typename Kind::ParamState>(
            std::move(parameters), options),
        amsgrad_(options.amsgrad())
    {}

protected:

    StateTree write(const typename Kind::ParamState& state) const override
    {
        StateTree tree;
        tree.putInt("step", state.step());
        putTensor(tree, "expAvg", state.exp_avg());
        putTensor(tree, "expAvgSq", state.exp_avg_sq());
        if (state.max_exp_avg_sq().defined())
        {
            putTensor(tree, "maxExpAvgSq", state.max_exp_avg_sq());
        }
        return tree;
    }

    std::unique_ptr<typename Kind::ParamState> read(const StateTree& tree,
        const at::Tensor& parameter) const override
    {
        auto state = std::make_unique<typename Kind::ParamState>();
        state->step(tree.getInt("step"));
        state->exp_avg(getTensor(tree, "expAvg", parameter));
        state->exp_avg_sq(getTensor(tree, "expAvgSq", parameter));
        if (amsgrad_)
        {
            const bool kept = tree.has("maxExpAvgSq");
            state->max_exp_avg_sq(getTensor(tree, kept ? "maxExpAvgSq" : "expAvgSq", parameter));
        }
        return state;
    }

private:

    bool amsgrad_;
};


template<class Kind>
class AdamOptions final : public OptimizerOptions
{
public:

    void describe(Schema& schema) override
    {
        describeCommon(schema);
        const Range belowOne{0, 1, false, true};
        schema.key("beta1", beta1_, "memory of the mean gradient", belowOne);
        schema.key("beta2", beta2_, "memory of the mean squared gradient", belowOne);
        schema.key("eps", eps_, "added to the root of the mean squared gradient",
            Range::atLeast(0));
        schema.key("weightDecay", weightDecay_, Kind::decayMeaning, Range::atLeast(0));
        schema.key("amsgrad", amsgrad_, "use the largest mean squared gradient so far");
    }

    std::unique_ptr<Optimizer> build(std::vector<at::Tensor> parameters) const override
    {
        return std::make_unique<Adam<Kind>>(std::move(parameters),
            typename Kind::Options(learningRate)
                .betas({beta1_, beta2_})
                .eps(eps_)
                .weight_decay(weightDecay_)
                .amsgrad(amsgrad_));
    }

    std::unique_ptr<FusedOptimizer> buildFused(std::vector<at::Tensor> parameters) const override
    {
        return makeFusedAdam(std::move(parameters),
            {Kind::decoupled, beta1_, beta2_, eps_, weightDecay_, amsgrad_});
    }

private:

    double beta1_ = 0.9;
    double beta2_ = 0.999;
    double eps_ = 1e-8;
    double weightDecay_ = typename Kind::Options().weight_decay();
    bool amsgrad_ = false;
};

}


std::unique_ptr<OptimizerOptions> makeAdamOptions()
{
    return std::make_unique<AdamOptions<PlainDecay>>();
}


std::unique_ptr<OptimizerOptions> makeAdamWOptions()
{
    return std::make_unique<AdamOptions<DecoupledDecay>>();
}

}
