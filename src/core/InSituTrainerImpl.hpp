// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "InSituTrainer.hpp"

#include "base/Error.hpp"
#include "graph/sizeOverRanks.hpp"
#include "group/RankGroup.hpp"
#include "infer/Surrogate.hpp"
#include "io/TrainingRecord.hpp"
#include "model/Model.hpp"
#include "model/WeightsFile.hpp"
#include "train/LearningLoop.hpp"

namespace inSitu
{

// What is behind the facade: the parts of a run and how they are told of each other

struct InSituTrainer::Impl
{
    std::string name;
    std::string caseFolder;
    std::vector<std::string> hostKeys;
    std::shared_ptr<Comm> all;              // every rank of the run
    std::shared_ptr<Comm> comm;             // those that train: null on others
    std::shared_ptr<LogSink> log;

    Settings settings;
    TrainingCase theCase;
    CaseMesh mesh;
    Profiler profiler;
    CacheLedger caches;

    //- What a fresh start begins with, or why it cannot; gone once the training has begun
    std::optional<WeightsFile> initialWeights;
    std::optional<ConfigError> initialFault;

    // Made by begin(); the others on ranks that train
    std::unique_ptr<RankGroup> group;
    std::unique_ptr<LearningLoop> loop;
    std::unique_ptr<TrainingRecord> record;
    std::unique_ptr<CheckpointShelf> shelf;

    std::vector<CacheRecord> recorded;      // of caches, in metrics.jsonl
    double time = 0;                        // of the last execution
    std::int64_t nChecks = 0;               // of the caches
    std::int64_t settledRevision = -1;      // the last one that others have seen
    std::int64_t nSamplesInModel = -1;      // that was written; -1: none was in this run
    bool finished = false;

    std::vector<std::int64_t> pendingThere; // where another rank trains: time indices
    bool begun = false;
    TrafficSummary traffic;                 // of all ranks, at the end

    //- Where another rank trains: its network, for what follows it here
    struct Replica
    {
        ThreadPool pool{1};
        std::unique_ptr<Model> model;
    };

    std::unique_ptr<Replica> replica;

    void info(const std::string& text) { log->info(name + ": " + text); }
    void requireDevice(const Node& block, const Comm& trainers) const;
    void warn(const std::string& message);
    std::string ranksText(const GraphSize& size) const;

    //- Done on ranks that train; the others wait and hear what waits there
    template<class Body>
    void lead(const Body& body)
    {
        if (!group->isShared())
        {
            body();
            return;
        }
        leadGroup(body);
    }

    void leadGroup(const std::function<void()>& body);

    //- Asked of a rank that trains, for all that it works for. Collective in the group.
    std::int64_t numberThere(const std::function<std::int64_t()>& number);

    StateTree network();
    void update(Surrogate& surrogate, const StateTree& network);
    std::string announcement(const GraphSize& size) const;
    bool isOfStartTime(const CheckpointPlace& place) const;
    bool resumeFrom(const CheckpointPlace& place);
    void load(const Checkpoint& checkpoint, const CheckpointPlace& place);
    std::size_t writeCheckpoint(const CheckpointPlace& place, const std::string& timeName);
    void readInitialWeights(const Node& block, const std::string& entry);
    void takeInitialWeights();
    void writeModel();
    void writeLateModel();
    std::int64_t revision() const;
    ModelCard card() const;
    SurrogateScales scales() const;
    void recordBuilds();
    std::string reportText();
    void tellLateReports();
    void begin();
    void resume(std::vector<CheckpointPlace> places);
    void write(double time, const std::string& timeName, const std::string& folder);
    void finish();
};

}
