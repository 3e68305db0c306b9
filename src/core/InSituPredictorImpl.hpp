// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "InSituPredictor.hpp"

#include "base/ThreadPool.hpp"
#include "infer/GroupSurrogate.hpp"
#include "infer/Closure.hpp"
#include "infer/Comparison.hpp"
#include "io/Checkpoint.hpp"
#include "io/FileIdentity.hpp"
#include "io/MeasureRecord.hpp"

#include <chrono>
#include <map>

namespace inSitu
{

// What is behind the facade: the parts of a prediction and how they are told of each other

struct InSituPredictor::Impl
{
    Impl(const Node& block, const std::string& name, const std::string& caseFolder,
        const std::vector<std::string>& hostKeys, std::shared_ptr<Comm> comm,
        std::shared_ptr<LogSink> log);

    std::string name;
    std::vector<std::string> hostKeys;
    std::shared_ptr<Comm> comm;
    std::shared_ptr<LogSink> log;
    Node limits;
    PredictorConfig config;
    std::string path;                       // empty: the model is that of a trainer
    std::shared_ptr<RankGroup> group;

    ThreadPool pool;
    Profiler profiler;
    CacheLedger caches;
    std::unique_ptr<Surrogate> surrogate;
    std::string device;                     // where it computes
    FileIdentity file;                      // that it was read from
    std::int64_t followed = -1;             // revision of the trainer that was taken over

    TrainingCase theCase;
    CaseMesh mesh;
    std::unique_ptr<Comparison> comparison;
    std::unique_ptr<Closure> closure;
    std::unique_ptr<Rollout> rollout;
    std::unique_ptr<SampleStream> stream;   // of the closure's inputs
    std::vector<double> closed;             // what the closure gives
    bool hasClosed = false;
    std::unique_ptr<MeasureRecord> record;

    double time = 0;                        // of the last comparison
    std::int64_t executions = 0;
    std::map<std::string, std::int64_t> counts;
    std::chrono::steady_clock::time_point start;
    bool toldOfInterval = false;
    bool finished = false;

    CountBuild counter();
    void info(const std::string& text) { log->info(name + ": " + text); }
    void warn(const std::string& message);
    void load();
    std::unique_ptr<Surrogate> loadForRanks();
    std::unique_ptr<Surrogate> onRanks(std::unique_ptr<Surrogate> network);
    void leaveOut(const NonFinite& fault, const Instant& now);
    void tellOfNonFinite(std::int64_t number);
    void tellOfInterval(double seconds);
    Report reportOfComparison();
    SampleStream::Layout streamLayout() const;
    std::string columns() const;
    StateTree rolloutValues(const Checkpoint& checkpoint) const;
};

}
