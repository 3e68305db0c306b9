// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Span.hpp"
#include "base/StateTree.hpp"
#include "sample/Normaliser.hpp"
#include "sample/Sample.hpp"
#include "train/TrainingStep.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace inSitu
{

class Comm;
class Model;
class OptimizerOptions;
class Profiler;
class ThreadPool;
class TrainingBatches;
struct ChosenDevice;
struct TrainerLayout;
struct TrainingConfig;

//- Makes training steps and predictions of a model where that computes, and owns what they need
//  there: loss, optimiser, sums over passes.
//
//  A step is started, may be in flight for a while, and is taken when it has ended. setOptimizer(),
//  setLoss(), reach(), save() and load() want all steps taken.
class Steps
{
public:

    //- As many may be in flight: one is done while the next is made ready
    static constexpr std::size_t maxInFlight = 2;

    //- Waits for what is in flight
    virtual ~Steps() = default;

    //- From the next step on. An optimiser that was there hands over its state: it was of the same
    //  type.
    virtual void setOptimizer(const OptimizerOptions& options) = 0;

    //- The loss of the configuration, from the next step on. Throws Error, with the one before
    //  still there, if steps with it cannot be made as the configuration wants.
    virtual void setLoss(const TrainingConfig& config) = 0;

    //- A step with its number and learning rate. setOptimizer() and setLoss() came before.
    virtual void start(const TrainingStep& step, const std::vector<Sample>& batch,
        const Normaliser& normaliser) = 0;

    //- The oldest steps, in order, with what came out, so that at most maxLeft stay in flight
    virtual std::vector<TrainingStep> take(std::size_t maxLeft) = 0;

    //- Updates that will come of the steps in flight if all of them are finite
    virtual std::int64_t nAhead() const = 0;

    //- As Trainer::predict()
    virtual void predict(const Sample& sample, const Normaliser& normaliser,
        Span<double> prediction) = 0;

    //- Work on the model or on what is saved, where that is. Returns when it is done.
    virtual void reach(const std::function<void()>& work) = 0;

    //- Entries "optimizer", "accumulated", "lossSum" and, for float16, "gradScaler": the same of
    //  all kinds of steps, one goes on from another's. Within reach(). load() throws Error, with
    //  nothing changed, if optimiser or sums do not fit the model; withOptimizer false: the
    //  optimiser stays as it is.
    virtual void save(StateTree& state) const = 0;
    virtual void load(const StateTree& state, bool withOptimizer) = 0;

    //- Rows of samples are kept for the steps to come
    virtual bool keepsSamples() const = 0;
};


//- What steps are made with; outlives them
struct StepTools
{
    const TrainerLayout& layout;
    Model& model;
    TrainingBatches& batches;
    Comm& comm;
    ThreadPool& pool;
    Profiler& profiler;
};


//- Those of the chosen device, to which the model is moved. where outlives them. Throws Error with
//  the remedy if the configuration wants what is not for that device, or its memory does not do.
std::unique_ptr<Steps> makeSteps(const TrainingConfig& config, const ChosenDevice& where,
    const StepTools& tools);

}
