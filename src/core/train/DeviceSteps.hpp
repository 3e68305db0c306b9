// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/StateTree.hpp"
#include "model/Model.hpp"
#include "train/CaptureRunner.hpp"
#include "train/CellWeights.hpp"
#include "train/DeviceBatches.hpp"
#include "train/FusedOptimizer.hpp"
#include "train/GradScaler.hpp"
#include "train/Loss.hpp"
#include "train/Optimizer.hpp"
#include "train/TrainingStep.hpp"

#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace inSitu
{

//- Training steps of a model that is on a device. A step is put into the device's queue and reads
//  nothing on the host: whether loss, gradient and new weights are finite, whether the gradients of
//  enough passes have come together, and how much they are shortened is decided there. What came
//  out is told later.
class DeviceSteps
{
public:

    //- Batches and runner are of the same queue; model and loss outlive it. scaled: for float16.
    //  ranks: that compute the model together, each with its share of the loss; null: one.
    DeviceSteps(std::shared_ptr<DeviceQueue> queue, Model& model, const at::Device& device,
        DeviceBatches batches, CaptureRunner runner, bool scaled,
        std::shared_ptr<DeviceRanks> ranks);

    //- As those of Steps; the loss outlives its steps
    void setOptimizer(const OptimizerOptions& options);
    void setLoss(Loss& loss);

    //- Nothing may be in flight; within the queue
    void save(StateTree& state) const;
    void load(const StateTree& state, bool withOptimizer);

    //- Until the values of the last batch may be overwritten
    void waitForHost() { batches_.waitForHost(); }

    //- Let go of samples that nobody else holds
    void letGo() { batches_.letGo(); }

    //- What is added next is of this step, with its learning rate
    void begin(const TrainingStep& step);

    //- A part of a step, on one mesh, with its share of loss and gradient. The last one ends it.
    void add(const GraphBatch& inputs, const at::Tensor& targets,
        const CellWeights::Values& weights, double share, bool isFirst, bool isLast);

    //- The same of a batch that the device makes, if its batches are such
    void add(const BatchParts& parts, const CellWeights::Values& weights, double share,
        bool isFirst, bool isLast);

    //- As those of Steps
    std::vector<TrainingStep> take(std::size_t maxLeft);
    std::int64_t nAhead() const;

private:

    struct InFlight
    {
        TrainingStep step;
        std::int64_t mark;
        at::Tensor readings;            // on the host
    };

    void put(const DeviceBatches::Batch& batch, double weightSum, double share, bool isFirst,
        bool isLast);
    void pass(const DeviceBatches::Batch& batch, double weightSum, double share, bool isFirst,
        bool isLast);
    void finishStep();
    at::Tensor norm(const std::vector<at::Tensor>& tensors) const;

    std::shared_ptr<DeviceQueue> queue_;
    Model& model_;
    std::shared_ptr<DeviceRanks> ranks_;
    DeviceBatches batches_;
    CaptureRunner runner_;
    std::vector<at::Tensor> parameters_;    // leaves
    std::unique_ptr<FusedOptimizer> optimizer_;
    double maxGradNorm_ = 0;
    std::int64_t nPasses_ = 1;              // behind an update
    std::optional<double> rate_;
    Loss* loss_ = nullptr;
    std::optional<GradScaler> scaler_;

    // On the device
    std::vector<at::Tensor> gradients_;     // of the step
    std::vector<at::Tensor> sums_;          // over passes
    std::vector<at::Tensor> previous_;      // weights before the update
    at::Tensor stepLoss_;                   // double, as all below
    at::Tensor count_;
    at::Tensor lossSum_;
    at::Tensor readings_;

    TrainingStep step_;                     // that parts are added to
    std::deque<InFlight> inFlight_;
    std::int64_t nWaiting_ = 0;             // passes that wait for an update
    std::vector<at::Tensor> freeReadings_;  // pinned
};

}
