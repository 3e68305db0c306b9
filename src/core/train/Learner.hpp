// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"
#include "base/ThreadPool.hpp"
#include "io/TrainingRecord.hpp"
#include "profile/Profiler.hpp"
#include "sample/Normaliser.hpp"
#include "sample/OnlineSkill.hpp"
#include "sample/ReplayBuffer.hpp"
#include "sample/RunningRange.hpp"
#include "sample/SampleStream.hpp"
#include "sample/TrainingCase.hpp"
#include "train/Settings.hpp"
#include "train/TimeBudget.hpp"
#include "train/Trainer.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace inSitu
{

//- Samples or steps left out, by reason
using DropCounts = std::map<std::string, std::int64_t>;


//- Everything that learns, and its state: a completed sample is predicted, counted in the scales,
//  stored and trained on. One thread at a time works with it.
class Learner
{
public:

    using Completed = PendingInputs::Completed;
    using Warn = std::function<void(const std::string&)>;

    //- stream: its layout and, from the first sample on, its references are read. All that is
    //  referred to outlives this. count is told of each build of a cache. devices: as
    //  TrainerLayout's.
    Learner(const Settings& settings, const TrainingCase& theCase, const SampleStream& stream,
        int nThreads, std::shared_ptr<Comm> comm, Profiler& profiler, CountBuild count, Warn warn,
        std::shared_ptr<DeviceLibrary> devices);

    //- watermark: samples in the buffer below which nothing is trained. tested is called when
    //  prediction() is the one for this sample. Collective.
    void learn(const Completed& completed, std::int64_t watermark,
        const std::function<void()>& tested = [] {});

    //- What a report has to know of the executions
    struct ReportTime
    {
        double time = 0;
        std::int64_t timeIndex = 0;
        std::int64_t executions = 0;
        std::size_t nPending = 0;       //!< inputs that wait for their target
        double oldestPending = 0;       //!< time of the one that waits longest
        DropCounts dropped;             //!< before a sample came here
    };

    //- The measures since the last report; begins the next ones
    TrainingRecord::Report report(const ReportTime& now);

    //- New values of the targets of the last sample, predicted before they were learnt
    //  [nCells, columns]; empty if there is none
    Span<const double> prediction() const;
    bool hasPrediction() const { return hasPrediction_; }

    //- Count the training steps that a GPU has in flight, once they have ended. Before badSteps()
    //  and dropped() are asked.
    void settle() { account(true); }

    //- Take over what isChangeable()
    void reconfigure(const Settings& settings);

    const std::shared_ptr<Comm>& comm() const { return comm_; }
    std::int64_t nSamples() const { return nSamples_; }
    const ReplayBuffer::Limits& bufferLimits() const { return replay_.limits(); }
    int nThreads() const { return pool_.nThreads(); }
    Trainer& trainer() { return *trainer_; }
    const Trainer& trainer() const { return *trainer_; }
    Normaliser& normaliser() { return normaliser_; }
    const Normaliser& normaliser() const { return normaliser_; }
    const TimeBudget& budget() const { return budget_; }

    //- Of the values of the target fields
    const RunningRange& targetRange() const { return targetRange_; }

    //- Times from input to target, s; empty with horizon 0
    const RunningRange& interval() const { return interval_; }

    //- Training steps that were not finite, since the last one that was
    std::int64_t badSteps() const { return badSteps_; }

    const DropCounts& dropped() const { return dropped_; }

    //- The same on all ranks
    void save(StateTree& state);

    //- Of this rank: the generator of the model, if it has one
    void savePart(StateTree& part) const;

    //- Of this rank: the values of the samples. known: meshes that they may share.
    StateTree saveReplay(const std::vector<MeshState>& known) const;

    //- What may refuse, before anything is changed elsewhere. Returns a sentence for each part that
    //  starts afresh since its type has changed.
    std::vector<std::string> loadTrainer(const StateTree& state);

    //- The rest. replay == nullptr: the buffer fills anew.
    void load(const StateTree& state, const StateTree& part, const StateTree* replay,
        const std::vector<MeshState>& known);

private:

    void test(const Completed& completed);
    void countInScales(const Completed& completed);
    void train(const Sample& sample, std::int64_t watermark);
    void account(bool wait);
    void leaveOutStep(std::int64_t number);
    void checkReplicas();
    void warnOfIdleness(const ReportTime& now);

    const Settings& settings_;
    const TrainingCase& case_;
    const SampleStream& stream_;
    std::shared_ptr<Comm> comm_;
    Profiler& profiler_;
    Warn warn_;
    TimeBudget budget_;

    ThreadPool pool_;
    Normaliser normaliser_;
    ReplayBuffer replay_;
    std::unique_ptr<Trainer> trainer_;
    OnlineSkill skill_;
    RunningRange targetRange_;
    RunningRange interval_{1};

    std::int64_t nSamples_ = 0;
    std::int64_t badSteps_ = 0;         // in a row
    std::int64_t reportedSamples_ = 0;  // at the last report
    bool isIdle_ = false;
    double lossSum_ = 0;
    std::int64_t lossCount_ = 0;
    double learningRate_ = 0;
    double gradientNorm_ = 0;
    DropCounts dropped_;

    std::vector<double> predicted_;
    std::vector<double> baseline_;
    bool hasPrediction_ = false;
};

}
