// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "InSituTrainer.hpp"

#include "base/Error.hpp"
#include "graph/sizeOverRanks.hpp"
#include "infer/Surrogate.hpp"
#include "io/TrainingRecord.hpp"
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
    std::shared_ptr<Comm> comm;
    std::shared_ptr<LogSink> log;

    Settings settings;
    TrainingCase theCase;
    CaseMesh mesh;
    Profiler profiler;
    CacheLedger caches;

    //- What a fresh start begins with, or why it cannot; gone once the training has begun
    std::optional<WeightsFile> initialWeights;
    std::optional<ConfigError> initialFault;

    // Made by begin()
    std::unique_ptr<LearningLoop> loop;
    std::unique_ptr<TrainingRecord> record;
    std::unique_ptr<CheckpointShelf> shelf;

    std::vector<CacheRecord> recorded;      // of caches, in metrics.jsonl
    double time = 0;                        // of the last execution
    std::int64_t nChecks = 0;               // of the caches
    bool finished = false;

    void info(const std::string& text) { log->info(name + ": " + text); }
    void warn(const std::string& message);
    std::string ranksText(const GraphSize& size) const;
    std::string announcement(const GraphSize& size) const;
    bool isOfStartTime(const CheckpointPlace& place) const;
    bool resumeFrom(const CheckpointPlace& place);
    void load(const Checkpoint& checkpoint, const CheckpointPlace& place);
    std::size_t writeCheckpoint(const CheckpointPlace& place, const std::string& timeName);
    void readInitialWeights(const Node& block, const std::string& entry);
    void takeInitialWeights();
    void writeModel();
    ModelCard card() const;
    SurrogateScales scales() const;
    void recordBuilds();
};

}
