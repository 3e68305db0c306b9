// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/DeviceLibrary.hpp"
#include "model/chooseDevice.hpp"
#include "train/DeviceForward.hpp"
#include "train/DeviceSteps.hpp"
#include "train/Loss.hpp"
#include "train/Steps.hpp"
#include "train/TrainingBatches.hpp"

#include <memory>
#include <string>
#include <vector>

namespace inSitu
{

//- Steps on a GPU: put into its queue, and told of later.
//
//  Stages of the profiler: assemble, launch, wait.
class StepsOnDevice final : public Steps
{
public:

    //- Moves the model. where outlives it.
    StepsOnDevice(const TrainingConfig& config, const ChosenDevice& where, const StepTools& tools);
    ~StepsOnDevice() override;

    void setOptimizer(const OptimizerOptions& options) override { steps_->setOptimizer(options); }
    void setLoss(const TrainingConfig& config) override;

    void start(const TrainingStep& step, const std::vector<Sample>& batch,
        const Normaliser& normaliser) override;
    std::vector<TrainingStep> take(std::size_t maxLeft) override;
    std::int64_t nAhead() const override { return steps_->nAhead(); }

    void predict(const Sample& sample, const Normaliser& normaliser,
        Span<double> prediction) override;

    void reach(const std::function<void()>& work) override;

    void save(StateTree& state) const override { steps_->save(state); }
    void load(const StateTree& state, bool withOptimizer) override
    {
        steps_->load(state, withOptimizer);
    }

    bool keepsSamples() const override { return keepsSamples_; }

private:

    //- What work gives; where memory does not do, say what would
    template<class Work>
    auto withinMemory(Work work) const;

    [[noreturn]] void reportMemory(const std::string& reason) const;

    void add(const TrainingBatches::Group& group, const Normaliser& normaliser, bool isFirst,
        bool isLast);

    StepTools tools_;
    const ChosenDevice& where_;
    DeviceChoice choice_;
    std::shared_ptr<DeviceQueue> queue_;
    bool keepsSamples_ = false;
    bool castsThere_ = false;               // batches are made on the GPU
    std::unique_ptr<Loss> loss_;
    std::unique_ptr<DeviceSteps> steps_;
    std::unique_ptr<DeviceForward> forward_;
};

}
