// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/chooseDevice.hpp"
#include "train/BatchAssembler.hpp"
#include "train/BestWeights.hpp"
#include "train/CellWeights.hpp"
#include "train/DeviceForward.hpp"
#include "train/DeviceSteps.hpp"
#include "train/GradientBuffer.hpp"
#include "train/InputNoise.hpp"
#include "train/Trainer.hpp"

#include <ATen/ATen.h>

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace inSitu
{

//- Only for the sources of Trainer
struct Trainer::Impl
{
    using Values = std::map<std::string, std::string>;

    struct Pass
    {
        double loss = 0;                        // over all ranks
        std::vector<at::Tensor> gradients;      // none if the loss is not finite
    };

    Impl(const TrainingConfig& config, TrainerLayout theLayout, std::shared_ptr<Comm> theComm,
        ThreadPool& thePool, Profiler& theProfiler);
    ~Impl();

    void applyOptimizer(const TrainingConfig& config);
    void applyLoss(const TrainingConfig& config);
    void applySchedule(const TrainingConfig& config);

    double learningRate() const { return baseRate*schedule->factor(nUpdates); }

    //- On a GPU
    void moveTo(const TrainingConfig& config);
    void requireNoGpu(const TrainingConfig& config) const;
    std::size_t memoryForSamples(const TrainingConfig& config, std::size_t free) const;
    void startOnDevice(const std::vector<Sample>& batch, const Normaliser& normaliser);
    void settle(std::size_t maxLeft);
    [[noreturn]] void reportMemory(const std::string& reason) const;

    //- work on the model or the optimiser where they are, with nothing in flight
    template<class Work>
    void whereItIs(Work work);

    void save(StateTree& state) const;
    std::vector<std::string> load(const StateTree& state);

    Step stepHere(const std::vector<Sample>& batch, const Normaliser& normaliser);

    static std::vector<std::vector<Sample>> byMesh(const std::vector<Sample>& batch);
    std::pair<GraphBatch, at::Tensor> assemble(const std::vector<Sample>& samples,
        const Normaliser& normaliser);
    const BatchParts& assembleThere(const std::vector<Sample>& samples,
        const Normaliser& normaliser);
    BatchNoise drawNoise(const std::vector<Sample>& samples, const Normaliser& normaliser);
    Pass pass(const std::vector<Sample>& batch, const Normaliser& normaliser);
    Pass passOnOneMesh(const std::vector<Sample>& samples, double share,
        const Normaliser& normaliser);
    double update();

    TrainerLayout layout;
    std::shared_ptr<Comm> comm;
    ThreadPool& pool;
    Profiler& profiler;
    Values values;                      // configuration in force

    std::unique_ptr<Model> model;
    ChosenDevice where;
    DeviceChoice choice;
    std::shared_ptr<DeviceQueue> queue;         // of the GPU, as the next two; null: CPU
    std::vector<at::Tensor> parameters;
    std::unique_ptr<Loss> loss;
    bool weightedByVolume = false;
    std::string optimizerType;
    std::unique_ptr<Optimizer> optimizer;
    double baseRate = 0;
    std::int64_t accumulationSteps = 1;
    double maxGradNorm = 0;
    std::string scheduleType;
    std::unique_ptr<Schedule> schedule;

    bool hasOptimizer = false;
    std::unique_ptr<FusedOptimizer> fused;      // on its way to the steps
    std::unique_ptr<DeviceSteps> steps;
    std::unique_ptr<DeviceForward> forward;
    std::deque<Step> inFlight;
    std::vector<Step> ended;
    std::int64_t nWaiting = 0;          // passes on the GPU that wait for an update
    bool castsThere = false;            // batches are made on the GPU
    bool keepsSamplesThere = false;     // and the rows that they are made of stay there

    Precision arithmetic;
    bool isPinned;                      // what a GPU copies
    BatchAssembler assembler;
    CellWeights weights;
    InputNoise noise;
    GradientBuffer accumulated;
    double lossSum = 0;                 // over the accumulated passes
    std::int64_t nSteps = 0;
    std::int64_t nUpdates = 0;
    BestWeights best;
    KeptValues previous;                // weights before the present update
};


template<class Work>
void Trainer::Impl::whereItIs(Work work)
{
    if (!queue)
    {
        work();
        return;
    }
    settle(0);
    queue->put(work);
    queue->waitFor(queue->mark());
}

}
