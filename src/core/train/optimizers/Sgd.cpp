// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/Error.hpp"
#include "train/FusedOptimizer.hpp"
#include "train/optimizers/Optimizers.hpp"
#include "train/optimizers/TorchOptimizer.hpp"

#include <torch/optim/sgd.h>

namespace inSitu
{
namespace
{

class Sgd final : public TorchOptimizer<torch::optim::SGD, torch::optim::SGDParamState>
{
public:

    using TorchOptimizer::TorchOptimizer;

protected:

    StateTree write(const torch::optim::SGDParamState& state) const override
    {
        StateTree tree;
        if (state.momentum_buffer().defined())
        {
            putTensor(tree, "momentum", state.momentum_buffer());
        }
        return tree;
    }

    std::unique_ptr<torch::optim::SGDParamState> read(const StateTree& tree,
        const at::Tensor& parameter) const override
    {
        auto state = std::make_unique<torch::optim::SGDParamState>();
        state->momentum_buffer(getTensor(tree, "momentum", parameter));
        return state;
    }
};


class SgdOptions final : public OptimizerOptions
{
public:

    void describe(Schema& schema) override
    {
        describeCommon(schema);
        schema.key("momentum", momentum_, "share of the last step in the next one",
            Range::atLeast(0));
        schema.key("dampening", dampening_, "share of the gradient kept out of the momentum");
        schema.key("weightDecay", weightDecay_, "added to the gradient, times the parameter",
            Range::atLeast(0));
        schema.key("nesterov", nesterov_, "Nesterov's momentum; needs momentum > 0, dampening 0");
        schema.check({"nesterov"}, [this]
        {
            return nesterov_ && !(momentum_ > 0 && dampening_ == 0)
                ? std::string("nesterov needs momentum > 0 and dampening 0: set them, or leave "
                      "nesterov out")
                : std::string();
        });
    }

    std::unique_ptr<Optimizer> build(std::vector<at::Tensor> parameters) const override
    {
        return std::make_unique<Sgd>(std::move(parameters), torch::optim::SGDOptions(learningRate)
            .momentum(momentum_)
            .dampening(dampening_)
            .weight_decay(weightDecay_)
            .nesterov(nesterov_));
    }

    std::unique_ptr<FusedOptimizer> buildFused(std::vector<at::Tensor> parameters) const override
    {
        return makeFusedSgd(std::move(parameters),
            {momentum_, dampening_, weightDecay_, nesterov_});
    }

private:

    double momentum_ = 0;
    double dampening_ = 0;
    double weightDecay_ = 0;
    bool nesterov_ = false;
};

}


std::unique_ptr<OptimizerOptions> makeSgdOptions()
{
    return std::make_unique<SgdOptions>();
}

}
