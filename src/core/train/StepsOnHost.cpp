// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/StepsOnHost.hpp"

#include "train/TrainingConfig.hpp"
#include "train/predictPhysical.hpp"
#include "train/sumGradients.hpp"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <utility>

namespace inSitu
{

StepsOnHost::StepsOnHost(const StepTools& tools)
:
    tools_(tools),
    parameters_(tools.model.parameters())
{}


void StepsOnHost::setOptimizer(const OptimizerOptions& options)
{
    std::unique_ptr<Optimizer> next = options.build(parameters_);
    if (optimizer_)
    {
        next->load(optimizer_->save());
    }
    optimizer_ = std::move(next);
    nPasses_ = options.gradAccumulationSteps;
    maxGradNorm_ = options.maxGradNorm;
}


void StepsOnHost::setLoss(const TrainingConfig& config)
{
    loss_ = config.loss->build(tools_.pool);
}


void StepsOnHost::start(const TrainingStep& started, const std::vector<Sample>& batch,
    const Normaliser& normaliser)
{
    TrainingStep step = started;
    const Pass pass = this->pass(batch, normaliser);
    step.loss = pass.loss;

    const ScopedTimer timer(tools_.profiler, "update");
    step.gradientNorm = euclideanNorm(pass.gradients, tools_.pool);
    step.finite = std::isfinite(step.loss) && std::isfinite(step.gradientNorm);
    if (step.finite)
    {
        accumulated_.add(pass.gradients);
        lossSum_ += step.loss;
        if (accumulated_.count() >= nPasses_)
        {
            update(step);
        }
    }
    ended_.push_back(step);
}


StepsOnHost::Pass StepsOnHost::pass(const std::vector<Sample>& batch,
    const Normaliser& normaliser)
{
    const std::vector<TrainingBatches::Group> groups = TrainingBatches::byMesh(batch);
    if (groups.size() == 1)
    {
        return passOnOneMesh(groups.front(), normaliser);
    }

    Pass total;
    GradientBuffer gradients;
    for (const TrainingBatches::Group& group : groups)
    {
        const Pass part = passOnOneMesh(group, normaliser);
        total.loss += part.loss;
        if (!std::isfinite(total.loss))
        {
            return {total.loss, {}};
        }
        gradients.add(part.gradients);
    }
    total.gradients = gradients.takeSum();
    return total;
}


StepsOnHost::Pass StepsOnHost::passOnOneMesh(const TrainingBatches::Group& group,
    const Normaliser& normaliser)
{
    const auto [inputs, targets] = tools_.batches.tensors(group.samples, normaliser);

    at::Tensor value;
    {
        const ScopedTimer timer(tools_.profiler, "forward");
        const CellWeights::Values& cells = tools_.batches.weights(group.samples.front().mesh);
        tools_.model.train(true);
        value = (*loss_)(tools_.model.forward(inputs), targets, cells.cells, cells.sum);
        if (group.share != 1)
        {
            value = value*group.share;
        }
    }
    Pass result;
    result.loss = value.item<double>();
    tools_.comm.sum(Span<double>(&result.loss, 1));

    if (std::isfinite(result.loss))
    {
        const ScopedTimer timer(tools_.profiler, "backward");
        result.gradients = torch::autograd::grad({value}, parameters_, {}, false, false, true);
        if (!tools_.model.sumsGradients())
        {
            sumGradients(result.gradients, parameters_, tools_.comm);
        }
    }
    return result;
}


//- With the mean of the accumulated gradients
void StepsOnHost::update(TrainingStep& step)
{
    step.meanLoss = lossSum_/static_cast<double>(accumulated_.count());
    const std::vector<at::Tensor> gradients = accumulated_.takeMean();
    lossSum_ = 0;

    step.gradientNorm = euclideanNorm(gradients, tools_.pool);
    const double shortening =
        maxGradNorm_/(step.gradientNorm + 1e-6);    // as torch's clip_grad_norm_
    for (std::size_t i = 0; i < parameters_.size(); ++i)
    {
        if (maxGradNorm_ > 0 && shortening < 1 && gradients[i].defined())
        {
            gradients[i].mul_(shortening);
        }
        parameters_[i].mutable_grad() = gradients[i];
    }

    previous_.keep(parameters_);
    optimizer_->setLearningRate(step.learningRate);
    optimizer_->step();
    for (at::Tensor& parameter : parameters_)
    {
        parameter.mutable_grad().reset();
    }
    step.updated = std::isfinite(euclideanNorm(parameters_, tools_.pool));
    if (!step.updated)
    {
        // Better the weights before than none at all, for ever
        previous_.restore(parameters_);
        step.gradientNorm = std::nan("");
        step.finite = false;
    }
}


std::vector<TrainingStep> StepsOnHost::take(std::size_t)
{
    return std::exchange(ended_, {});
}


void StepsOnHost::predict(const Sample& sample, const Normaliser& normaliser,
    Span<double> prediction)
{
    predictPhysical(tools_.model, tools_.batches.inputs(sample, normaliser), normaliser.target(),
        tools_.pool, prediction);
}


void StepsOnHost::save(StateTree& state) const
{
    state.putTree("optimizer", optimizer_->save());
    state.putTree("accumulated", accumulated_.save());
    state.putDouble("lossSum", lossSum_);
}


void StepsOnHost::load(const StateTree& state, bool withOptimizer)
{
    GradientBuffer accumulated =
        GradientBuffer::from(state.subTree("accumulated"), parameters_);
    const double lossSum = state.getDouble("lossSum");
    if (withOptimizer)
    {
        optimizer_->load(state.subTree("optimizer"));
    }
    accumulated_ = std::move(accumulated);
    lossSum_ = lossSum;
}

}
