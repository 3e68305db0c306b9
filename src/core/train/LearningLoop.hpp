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
#include <optional>
#include <string>
#include <vector>

namespace inSitu
{

//- What happens at each execution: fields become a sample, the sample is predicted, counted
//  in the scales, stored and trained on. Owns everything that learns, and its state.
class LearningLoop
{
public:

    using Warn = std::function<void(const std::string&)>;

    //- mesh: of the first execution. count is told of each build of a cache. Throws Error if the
    //  memory that is allowed holds too few samples; if a run that had come further may have led to
    //  this mesh, warns.
    LearningLoop(const Settings& settings, const TrainingCase& theCase, const CaseMesh& mesh,
        std::shared_ptr<Comm> comm, Profiler& profiler, CountBuild count, Warn warn);

    //- The points have moved
    void setGeometry(const CaseMesh& mesh);

    //- Another graph. pending: values on it for each of stream().pending(), or none, to forget
    //  those. Warns if the memory that is allowed holds too few samples there.
    void setTopology(const CaseMesh& mesh, const std::vector<PendingInputs::Values>& pending);

    //- One execution (collective). Throws Error for a value that is not finite, if
    //  onNonFinite says so; then nothing was changed.
    template<class Scalar>
    void execute(const Instant& now, const std::vector<FieldView<Scalar>>& views);

    //- The measures since the last report, if one is due; begins the next ones
    std::optional<TrainingRecord::Report> report(double time, std::int64_t timeIndex);

    //- Forget the snapshots that wait for a target
    void drop();

    //- New values of the targets at the time of the last execution, predicted before they were
    //  learnt [nCells, columns]; empty if it completed no sample
    Span<const double> prediction() const;
    bool hasPrediction() const { return hasPrediction_; }

    //- Take over what isChangeable()
    void reconfigure(const Settings& settings);

    std::int64_t nExecutions() const { return executions_; }
    std::int64_t nSamples() const { return stream_.nSamples(); }
    const ReplayBuffer::Limits& bufferLimits() const { return replay_.limits(); }
    int nThreads() const { return pool_.nThreads(); }
    Trainer& trainer() { return *trainer_; }
    const SampleStream& stream() const { return stream_; }
    const Normaliser& normaliser() const { return normaliser_; }
    const TimeBudget& budget() const { return budget_; }

    //- Of the values of the target fields
    const RunningRange& targetRange() const { return targetRange_; }

    //- Times from input to target, s; empty with horizon 0
    const RunningRange& interval() const { return interval_; }

    //- Training steps that were not finite, since the last one that was
    std::int64_t badSteps() const { return badSteps_; }

    //- Samples or steps left out, by reason
    const std::map<std::string, std::int64_t>& dropped() const { return dropped_; }

    //- Inputs that were mapped to another mesh
    std::int64_t nMapped() const { return nMapped_; }

    //- Count the training steps that a GPU has in flight, once they have ended. Before badSteps()
    //  and dropped() are asked.
    void settle() { account(true); }

    //- The same on all ranks
    StateTree save();

    //- Of this rank: what waits for a target, and the generator of the model if it has one
    StateTree savePart() const;

    //- Of this rank: the values of the samples
    StateTree saveReplay() const;

    //- What part does not have is lost or stays as it is; replay == nullptr: the buffer fills anew.
    //  Returns a sentence for each part that starts afresh since its type has changed.
    std::vector<std::string> load(const StateTree& state, const StateTree& part,
        const StateTree* replay);

private:

    using Completed = PendingInputs::Completed;

    std::string limitMemory();
    void warnOfShortage(const std::string& shortage);
    std::vector<MeshState> knownMeshes() const;
    void learn(const Completed& completed);
    void test(const Completed& completed);
    void countInScales(const Completed& completed);
    void train(const Sample& sample);
    void leaveOut(const std::string& message);
    void account(bool wait);
    void leaveOutStep(std::int64_t number);
    void checkReplicas();
    void warnOfIdleness(double time);

    const Settings& settings_;
    const TrainingCase& case_;
    const CaseMesh* mesh_;
    std::shared_ptr<Comm> comm_;
    Profiler& profiler_;
    Warn warn_;
    TimeBudget budget_;

    ThreadPool pool_;
    SampleStream stream_;
    Normaliser normaliser_;
    ReplayBuffer replay_;
    std::unique_ptr<Trainer> trainer_;
    OnlineSkill skill_;
    RunningRange targetRange_;
    RunningRange interval_{1};

    std::int64_t executions_ = 0;
    std::int64_t badSteps_ = 0;         // in a row
    std::int64_t reportedSamples_ = 0;  // at the last report
    bool isIdle_ = false;
    std::int64_t nMapped_ = 0;
    double lossSum_ = 0;
    std::int64_t lossCount_ = 0;
    double learningRate_ = 0;
    double gradientNorm_ = 0;
    std::map<std::string, std::int64_t> dropped_;

    std::vector<double> predicted_;
    std::vector<double> baseline_;
    bool hasPrediction_ = false;

    std::int64_t watermark_ = 1;        // of the settings, or as many samples as fit
    bool isShortOfMemory_ = false;
};

}
