// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/chooseDevice.hpp"
#include "train/BestWeights.hpp"
#include "train/Steps.hpp"
#include "train/Trainer.hpp"
#include "train/TrainingBatches.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace inSitu
{

//- Only for the sources of Trainer
struct Trainer::Impl
{
    using Values = std::map<std::string, std::string>;

    Impl(const TrainingConfig& config, TrainerLayout theLayout, std::shared_ptr<Comm> theComm,
        ThreadPool& thePool, Profiler& theProfiler);

    void applyOptimizer(const TrainingConfig& config);
    void applyLoss(const TrainingConfig& config);
    void applySchedule(const TrainingConfig& config);

    void settle(std::size_t maxLeft);

    //- Steps::reach(), with nothing in flight
    void reach(const std::function<void()>& work);

    void save(StateTree& state) const;
    std::vector<std::string> load(const StateTree& state);

    TrainerLayout layout;
    std::shared_ptr<Comm> comm;
    ThreadPool& pool;
    Profiler& profiler;
    Values values;                      // configuration in force

    std::unique_ptr<Model> model;
    ChosenDevice where;
    TrainingBatches batches;
    std::unique_ptr<Steps> steps;       // uses all above
    std::vector<Step> ended;            // and not told yet

    std::string optimizerType;
    double baseRate = 0;
    std::string scheduleType;
    std::unique_ptr<Schedule> schedule;

    std::int64_t nSteps = 0;
    std::int64_t nUpdates = 0;
    BestWeights best;
};

}
