// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/DeviceSteps.hpp"

#include "train/GradientBuffer.hpp"

#include <ATen/ATen.h>
#include <c10/core/AutogradState.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/generated/variable_factories.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace inSitu
{
namespace
{

//- Places in the readings of a step
enum Reading
{
    lossReading,
    normReading,
    goodReading,
    dueReading,
    weightsReading,
    countReading,
    metricReading,
    scaleReading,
    nReadings
};


//- While one lives a backward pass runs in the calling thread, which alone may speak with other
//  ranks, and not in one of LibTorch
class BackwardHere
{
public:

    BackwardHere() { c10::AutogradState::get_tls_state().set_multithreading_enabled(false); }
    ~BackwardHere() { c10::AutogradState::get_tls_state().set_multithreading_enabled(before_); }

private:

    bool before_ = c10::AutogradState::get_tls_state().get_multithreading_enabled();
};

}


DeviceSteps::DeviceSteps(std::shared_ptr<DeviceQueue> queue, Model& model,
    const at::Device& device, DeviceBatches batches, CaptureRunner runner, bool scaled,
    std::shared_ptr<DeviceRanks> ranks)
:
    queue_(queue),
    model_(model),
    ranks_(std::move(ranks)),
    batches_(std::move(batches)),
    runner_(std::move(runner)),
    parameters_(model.parameters())
{
    queue_->carryOut([this, device, scaled]
    {
        const auto number = at::dtype(at::kDouble).device(device);
        stepLoss_ = at::zeros({}, number);
        count_ = at::zeros({}, number);
        lossSum_ = at::zeros({}, number);
        readings_ = at::zeros({nReadings}, number);
        for (const at::Tensor& parameter : parameters_)
        {
            for (auto* tensors : {&gradients_, &sums_, &previous_})
            {
                tensors->push_back(at::zeros_like(parameter.detach()));
            }
        }
        if (scaled)
        {
            scaler_.emplace(device);
        }
    });
}


void DeviceSteps::setOptimizer(const OptimizerOptions& options)
{
    std::unique_ptr<FusedOptimizer> next;
    queue_->carryOut([&]
    {
        next = options.buildFused(parameters_);
        if (optimizer_)
        {
            next->load(optimizer_->save());
        }
    });
    runner_.forget();
    optimizer_ = std::move(next);
    maxGradNorm_ = options.maxGradNorm;
    nPasses_ = options.gradAccumulationSteps;
    rate_.reset();
}


void DeviceSteps::setLoss(Loss& loss)
{
    runner_.forget();
    loss_ = &loss;
}


void DeviceSteps::begin(const TrainingStep& step)
{
    step_ = step;
    if (rate_ != step.learningRate)
    {
        queue_->put([this, rate = step.learningRate] { optimizer_->setLearningRate(rate); });
        rate_ = step.learningRate;
    }
}


void DeviceSteps::add(const GraphBatch& inputs, const at::Tensor& targets,
    const CellWeights::Values& weights, double share, bool isFirst, bool isLast)
{
    put(batches_.bring(inputs, targets, weights.cells), weights.sum, share, isFirst, isLast);
}


void DeviceSteps::add(const BatchParts& parts, const CellWeights::Values& weights, double share,
    bool isFirst, bool isLast)
{
    put(batches_.bring(parts, weights.cells), weights.sum, share, isFirst, isLast);
}


void DeviceSteps::put(const DeviceBatches::Batch& batch, double weightSum, double share,
    bool isFirst, bool isLast)
{
    std::function<void()> work = [this, batch, weightSum, share, isFirst, isLast]
        { pass(batch, weightSum, share, isFirst, isLast); };
    CaptureKey key;
    key.add(batch.inputs.graph).add(batch.inputs.nodes).add(batch.inputs.edges)
        .add(batch.targets).add(batch.weights).add(weightSum).add(share)
        .add(std::int64_t(isFirst)).add(std::int64_t(isLast));
    if (loss_->canBeRecorded())
    {
        runner_.run(key, std::move(work));
    }
    else
    {
        queue_->put(std::move(work));
    }

    if (isLast)
    {
        if (freeReadings_.empty())
        {
            freeReadings_.push_back(at::empty({nReadings},
                at::dtype(at::kDouble).pinned_memory(!readings_.device().is_cpu())));
        }
        const at::Tensor here = freeReadings_.back();
        freeReadings_.pop_back();
        queue_->put([here, there = readings_] { at::Tensor(here).copy_(there, true); });
        inFlight_.push_back({step_, queue_->mark(), here});
    }
}


void DeviceSteps::pass(const DeviceBatches::Batch& batch, double weightSum, double share,
    bool isFirst, bool isLast)
{
    model_.train(true);
    at::Tensor value =
        (*loss_)(model_.forward(batch.inputs), batch.targets, batch.weights, weightSum);
    if (share != 1)
    {
        value = value*share;
    }
    const std::vector<at::Tensor> slopes = [&]
    {
        const BackwardHere here;
        return torch::autograd::grad(
            {scaler_ ? scaler_->scaled(value) : value}, parameters_, {}, false, false, true);
    }();

    const at::NoGradGuard noGradients;
    isFirst ? stepLoss_.copy_(value.detach()) : stepLoss_.add_(value.detach());
    for (std::size_t i = 0; i < slopes.size(); ++i)
    {
        if (isFirst)
        {
            slopes[i].defined() ? gradients_[i].copy_(slopes[i]) : gradients_[i].zero_();
        }
        else if (slopes[i].defined())
        {
            gradients_[i].add_(slopes[i]);
        }
    }
    if (isLast)
    {
        finishStep();
    }
}


at::Tensor DeviceSteps::norm(const std::vector<at::Tensor>& tensors) const
{
    at::Tensor sum;
    for (const at::Tensor& tensor : tensors)
    {
        const at::Tensor part =
            at::linalg_vector_norm(tensor, 2, std::nullopt, false, at::kDouble).square();
        sum = sum.defined() ? sum + part : part;
    }
    return sum.sqrt();
}


//- As StepsOnHost::start() and update(), with flags in the place of branches
void DeviceSteps::finishStep()
{
    if (ranks_)
    {
        // The model has summed the gradients
        ranks_->sum(Span<double>(stepLoss_.mutable_data_ptr<double>(), 1));
    }
    if (scaler_)
    {
        readings_[scaleReading].copy_(scaler_->scale().squeeze());
        scaler_->unscale(gradients_);
    }
    const at::Tensor zero = at::zeros({}, readings_.options());
    const at::Tensor stepNorm = norm(gradients_);
    const at::Tensor good = stepLoss_.isfinite().logical_and(stepNorm.isfinite());

    count_.add_(good);
    lossSum_.add_(at::where(good, stepLoss_, zero));
    for (std::size_t i = 0; i < sums_.size(); ++i)
    {
        sums_[i].add_(at::where(good, gradients_[i], zero.to(gradients_[i].scalar_type())));
    }

    // The mean is formed in place of the step's gradients, which have been added
    const at::Tensor due = good.logical_and(count_ >= static_cast<double>(nPasses_));
    const at::Tensor divisor = count_.clamp_min(1);
    for (std::size_t i = 0; i < sums_.size(); ++i)
    {
        gradients_[i].copy_(sums_[i]/divisor);
    }
    const at::Tensor meanNorm = norm(gradients_);
    if (maxGradNorm_ > 0)
    {
        const at::Tensor shortening = (maxGradNorm_/(meanNorm + 1e-6)).clamp_max(1);
        for (at::Tensor& gradient : gradients_)
        {
            gradient.mul_(shortening);
        }
    }

    for (std::size_t i = 0; i < parameters_.size(); ++i)
    {
        previous_[i].copy_(parameters_[i].detach());
        parameters_[i].mutable_grad() = gradients_[i];
    }
    at::Tensor(optimizer_->skip()).copy_(due.logical_not());
    optimizer_->step();
    std::vector<at::Tensor> weights;
    for (at::Tensor& parameter : parameters_)
    {
        parameter.mutable_grad().reset();
        weights.push_back(parameter.detach());
    }
    const at::Tensor kept = norm(weights).isfinite();
    for (std::size_t i = 0; i < weights.size(); ++i)
    {
        weights[i].copy_(at::where(kept, weights[i], previous_[i]));
    }

    readings_[lossReading].copy_(stepLoss_);
    readings_[normReading].copy_(at::where(due, meanNorm, stepNorm));
    readings_[goodReading].copy_(good);
    readings_[dueReading].copy_(due);
    readings_[weightsReading].copy_(kept);
    readings_[metricReading].copy_(lossSum_/divisor);

    const at::Tensor waits = due.logical_not();
    count_.mul_(waits);
    lossSum_.mul_(waits);
    for (at::Tensor& sum : sums_)
    {
        sum.mul_(waits);
    }
    readings_[countReading].copy_(count_);
    if (scaler_)
    {
        scaler_->update();
    }
}


std::vector<TrainingStep> DeviceSteps::take(std::size_t maxLeft)
{
    std::vector<TrainingStep> steps;
    while (inFlight_.size() > maxLeft)
    {
        queue_->waitFor(inFlight_.front().mark);
        const auto* values = inFlight_.front().readings.const_data_ptr<double>();
        const bool good = values[goodReading] != 0;
        const bool due = values[dueReading] != 0;
        const bool kept = values[weightsReading] != 0;

        TrainingStep step = inFlight_.front().step;
        step.loss = values[lossReading];
        step.gradientNorm = kept ? values[normReading] : std::nan("");
        // A scale that has become as small as this does not help any more
        step.overflow = !good && scaler_ && values[scaleReading] >= 1;
        step.finite = (good || step.overflow) && kept;
        step.updated = due && kept;
        step.meanLoss = values[metricReading];
        steps.push_back(step);
        nWaiting_ = static_cast<std::int64_t>(values[countReading]);
        freeReadings_.push_back(inFlight_.front().readings);
        inFlight_.pop_front();
    }
    return steps;
}


std::int64_t DeviceSteps::nAhead() const
{
    // More may wait than are needed now, but they make one update
    return (std::min(nWaiting_, nPasses_ - 1) + static_cast<std::int64_t>(inFlight_.size()))
        /nPasses_;
}


void DeviceSteps::save(StateTree& state) const
{
    const auto count = static_cast<std::int64_t>(count_.item<double>());
    state.putTree("optimizer", optimizer_->save());
    state.putTree("accumulated",
        GradientBuffer(count, count > 0 ? sums_ : std::vector<at::Tensor>()).save());
    state.putDouble("lossSum", lossSum_.item<double>());
    if (scaler_)
    {
        state.putTree("gradScaler", scaler_->save());
    }
}


void DeviceSteps::load(const StateTree& state, bool withOptimizer)
{
    const GradientBuffer accumulated =
        GradientBuffer::from(state.subTree("accumulated"), parameters_);
    const double lossSum = state.getDouble("lossSum");
    if (withOptimizer)
    {
        optimizer_->load(state.subTree("optimizer"));
    }
    nWaiting_ = accumulated.count();
    count_.fill_(static_cast<double>(nWaiting_));
    lossSum_.fill_(lossSum);
    for (std::size_t i = 0; i < sums_.size(); ++i)
    {
        const at::Tensor& sum = accumulated.sums()[i];
        sum.defined() ? sums_[i].copy_(sum) : sums_[i].zero_();
    }
    const StateTree scaler = state.subTree("gradScaler");
    if (scaler_ && !scaler.arrays().empty())
    {
        scaler_->load(scaler);
    }
}

}
