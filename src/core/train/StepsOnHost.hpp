// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "train/GradientBuffer.hpp"
#include "train/Loss.hpp"
#include "train/Optimizer.hpp"
#include "train/Steps.hpp"
#include "train/TrainingBatches.hpp"

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

namespace inSitu
{

//- Steps on the CPU. None is ever in flight: it has ended when start() returns.
//
//  Stages of the profiler: assemble, forward, backward, update.
class StepsOnHost final : public Steps
{
public:

    explicit StepsOnHost(const StepTools& tools);

    void setOptimizer(const OptimizerOptions& options) override;
    void setLoss(const TrainingConfig& config) override;

    void start(const TrainingStep& step, const std::vector<Sample>& batch,
        const Normaliser& normaliser) override;
    std::vector<TrainingStep> take(std::size_t maxLeft) override;
    std::int64_t nAhead() const override { return 0; }

    void predict(const Sample& sample, const Normaliser& normaliser,
        Span<double> prediction) override;

    void reach(const std::function<void()>& work) override { work(); }

    void save(StateTree& state) const override;
    void load(const StateTree& state, bool withOptimizer) override;

    bool keepsSamples() const override { return false; }

private:

    struct Pass
    {
        double loss = 0;                        // over all ranks
        std::vector<at::Tensor> gradients;      // none if the loss is not finite
    };

    Pass pass(const std::vector<Sample>& batch, const Normaliser& normaliser);
    Pass passOnOneMesh(const TrainingBatches::Group& group, const Normaliser& normaliser);
    void update(TrainingStep& step);

    StepTools tools_;
    std::vector<at::Tensor> parameters_;
    std::unique_ptr<Loss> loss_;
    std::unique_ptr<Optimizer> optimizer_;
    std::int64_t nPasses_ = 1;                  // behind an update
    double maxGradNorm_ = 0;

    GradientBuffer accumulated_;
    double lossSum_ = 0;                        // over the accumulated passes
    KeptValues previous_;                       // weights before the present update
    std::vector<TrainingStep> ended_;
};

}
