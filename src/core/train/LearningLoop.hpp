// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"
#include "base/Outbox.hpp"
#include "buffer/Lane.hpp"
#include "profile/Profiler.hpp"
#include "sample/SampleStream.hpp"
#include "sample/TrainingCase.hpp"
#include "train/Learner.hpp"
#include "train/Parcel.hpp"
#include "train/Settings.hpp"

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace inSitu
{

//- What happens at each execution: fields become snapshots and those samples, which go to the
//  learner. With `mode sync` it learns at once, with async in a thread of its own, in the order in
//  which samples and reports were handed over: then what is of the learner may be looked at behind
//  settle(), and under a hold().
class LearningLoop
{
public:

    using Warn = Learner::Warn;

    //- What is around it
    struct Place
    {
        int nSolvers = 1;       //!< on the cores of this rank, which go on beside its thread

        //- Null: the library beside the core's, if it is needed
        std::shared_ptr<DeviceLibrary> devices = {};
    };

    //- mesh: of the first execution. count is told of each build of a cache, in the thread that
    //  calls the methods, and so is warn. Throws Error if the memory that is allowed holds too few
    //  samples; if a run that had come further may have led to this mesh, warns.
    LearningLoop(const Settings& settings, const TrainingCase& theCase, const CaseMesh& mesh,
        std::shared_ptr<Comm> comm, Profiler& profiler, CountBuild count, Warn warn,
        const Place& place);

    //- Where this rank has left the others, or one of them it, the threads learn of that too
    ~LearningLoop();

    //- The points have moved. Waits for nothing: a sample has its mesh.
    void setGeometry(const CaseMesh& mesh);

    //- Another graph. pending: values on it for each of stream().pending(), or none, to forget
    //  those. Warns if the memory that is allowed holds too few samples there. Waits for nothing.
    void setTopology(const CaseMesh& mesh, const std::vector<PendingInputs::Values>& pending);

    //- One execution (collective). Throws Error for a value that is not finite, if
    //  onNonFinite says so; then nothing was changed.
    template<class Scalar>
    void execute(const Instant& now, const std::vector<FieldView<Scalar>>& views);

    //- Ask for the measures of this time, if a report is due
    void askForReport(double time, std::int64_t timeIndex);

    //- The oldest one that has come; call until there is none
    std::optional<TrainingRecord::Report> nextReport();

    //- Forget the snapshots that wait for a target
    void drop();

    //- New values of the targets at the time of the last execution, predicted before they were
    //  learnt [nCells, columns]; empty if it completed no sample. Waits until they are predicted.
    Span<const double> prediction();

    //- There is one, on all ranks alike, also on those without a cell
    bool hasPrediction();

    //- Take over what isChangeable(), for samples that are handed over from now on
    void reconfigure(const Settings& settings);

    //- Wait until all is learnt that was handed over. Collective.
    void settle();

    //- Wait for the sample in hand; nothing is learnt while it lives. Collective.
    using Hold = std::optional<Lane<Parcel>::Hold>;
    [[nodiscard]] Hold hold();

    bool isAsync() const { return lane_ != nullptr; }

    //- The thread has ended with an exception, which each call throws that needs the thread
    bool hasFailed() const { return lane_ && lane_->hasFailed(); }

    //- Samples, and questions for a report, that wait for the thread
    std::size_t nOnTheirWay() const { return lane_ ? lane_->nWaiting() : 0; }
    const SampleStream& stream() const { return stream_; }
    std::int64_t nExecutions() const { return executions_; }

    //- Inputs that were mapped to another mesh
    std::int64_t nMapped() const { return nMapped_; }

    const ReplayBuffer::Limits& bufferLimits() const { return learner_.bufferLimits(); }
    int nThreads() const { return learner_.nThreads(); }

    // Of the learner

    std::int64_t nSamples() const { return learner_.nSamples(); }
    Trainer& trainer() { return learner_.trainer(); }
    const Normaliser& normaliser() const { return learner_.normaliser(); }
    const TimeBudget& budget() const { return learner_.budget(); }
    const RunningRange& targetRange() const { return learner_.targetRange(); }
    const RunningRange& interval() const { return learner_.interval(); }
    std::int64_t badSteps() const { return learner_.badSteps(); }

    //- Samples or steps left out, by reason
    DropCounts dropped() const;

    //- Stages of the learner's thread; those of profiler are of the other one. Collective.
    std::vector<Profiler::Stage> stagesBeside() const;

    //- What the learner's thread has sent
    Traffic trafficBeside() const { return lane_ ? learner_.comm()->traffic() : Traffic(); }

    //- The same on all ranks
    StateTree save();

    //- Of this rank: what waits for a target or to be learnt, and the generator of the model if it
    //  has one
    StateTree savePart() const;

    //- Of this rank: the values of the samples
    StateTree saveReplay() const;

    //- What part does not have is lost or stays as it is; replay == nullptr: the buffer fills anew.
    //  Returns a sentence for each part that starts afresh since its type has changed.
    //  learnLoaded() follows.
    std::vector<std::string> load(const StateTree& state, const StateTree& part,
        const StateTree* replay);

    //- Go on with what had been handed over, but not learnt, when the state was saved. Collective.
    void learnLoaded();

private:

    std::string limitMemory();
    void warnOfShortage(const std::string& shortage);
    std::vector<MeshState> sharedMeshes() const;
    std::vector<MeshState> knownMeshes() const;
    void leaveOut(const std::string& message);
    void hand(Parcel parcel, bool patient = true);
    void work(std::int64_t number, Parcel& parcel);
    std::vector<const Parcel*> waitingParcels() const;

    const Settings& settings_;
    const TrainingCase& case_;
    const CaseMesh* mesh_;
    std::shared_ptr<Comm> comm_;
    Profiler& profiler_;
    Profiler profilerBeside_;
    Warn warn_;
    Outbox outbox_;

    SampleStream stream_;
    std::unique_ptr<ThreadPool> gatherers_;         // null: the solver's thread is alone
    Learner learner_;

    std::int64_t executions_ = 0;
    std::int64_t nMapped_ = 0;
    DropCounts dropped_;
    std::deque<TrainingRecord::Report> reports_;    // that nobody has asked for yet
    std::vector<Parcel> loaded_;
    std::optional<std::int64_t> lastHanded_;        // of the last execution

    std::int64_t watermark_ = 1;        // of the settings, or as many samples as fit
    bool isShortOfMemory_ = false;

    std::unique_ptr<Lane<Parcel>> lane_;            // ends before all that it works with
};

}
