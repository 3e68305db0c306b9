// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"
#include "base/LogSink.hpp"
#include "base/Stamped.hpp"
#include "config/Node.hpp"
#include "config/ObjectConfig.hpp"
#include "io/CheckpointShelf.hpp"
#include "sample/PendingAccess.hpp"
#include "sample/TrainingCase.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace inSitu
{

class Surrogate;
class ThreadPool;

//- In-situ training attached to one mesh: the only class that the host program constructs.
//  Snapshot in, report out; LibTorch and HDF5 stay behind it. One thread calls.
//  Every method may throw Error (see base/Error.hpp).
class InSituTrainer final : public PendingAccess
{
public:

    //- Read and check the whole configuration; nothing of the mesh or the fields is needed.
    //  hostKeys are entries of the block that belong to the host. The files of `trainingFile` and
    //  `initialWeights` are read here, relative to caseFolder. Throws ConfigError.
    InSituTrainer(const Node& block, const std::string& name, const std::string& caseFolder,
        const std::vector<std::string>& hostKeys, std::shared_ptr<Comm> comm,
        std::shared_ptr<LogSink> log);
    ~InSituTrainer() override;

    const ObjectConfig& config() const;

    //- The first step: the case is known now. Builds everything that depends on it.
    void begin(TrainingCase theCase, CaseMesh mesh);
    bool begun() const;

    //- The points have moved since the last call; the graph is the same object
    void setGeometry(CaseMesh mesh);

    std::size_t nPending() const override;
    std::int64_t pendingTimeIndex(std::size_t i) const override;
    void getPending(std::size_t i, Pending& pending) const override;

    //- The graph has changed. Those of pending() that are given, with their values on the new
    //  mesh, go on waiting if all of them are; otherwise all are dropped and counted.
    void setTopology(CaseMesh mesh, const std::vector<Pending>& pending);

    //- Compare everything that was made from a mesh with a fresh build. Throws Error naming cache
    //  and first entry that differs.
    void check();

    //- Continue from the first good candidate (newest first; those of begin()'s stable folder
    //  are added here, those without a checkpoint are left out) according to `resume`. Damaged
    //  ones are passed over with a warning; one of another mesh or of incompatible configuration
    //  throws IncompatibleState under strict and auto. Called once, between begin() and the
    //  first execute().
    void resume(std::vector<CheckpointPlace> candidates);

    struct Report
    {
        bool due = false;                   //!< reportInterval reached: text holds the log block
        std::string text;
    };

    //- Take the fields at this time: completes samples, predicts, trains. Collective.
    //  Scalar: float or double, as the host stores fields.
    template<class Scalar>
    Report execute(const Instant& now, const std::vector<FieldView<Scalar>>& views);

    //- Physical prediction of the targets at the time of the last execute(), made before its
    //  values were learnt [nCells, target columns]; for increments the predicted new value.
    //  Empty if that completed no sample.
    Span<const double> prediction() const;

    //- Forget pending inputs: executions were left out
    void gap();

    //- Checkpoint into folder, kept also under stableFolder/checkpoints (two newest), and
    //  the artifact into stableFolder. A failure to write is a warning and is tried again
    //  at the next call.
    void write(double time, const std::string& timeName, const std::string& folder);

    //- Apply a changed block as far as that is possible during a run; says what was applied
    //  and refuses the rest with a warning. An invalid block throws and changes nothing.
    void reconfigure(const Node& block);

    //- Grows whenever weights or scales change; -1 before the first sample, when there is nothing
    //  to predict with
    std::int64_t revision() const;

    //- A copy of the network as it is now, with its card and scales: whole, whatever the training
    //  does next. pool outlives it. Throws Error for a TorchScript network.
    std::unique_ptr<Surrogate> surrogate(ThreadPool& pool, const CountBuild& count) const;

    //- Bring such a copy up to date: weights, scales and card
    void update(Surrogate& surrogate) const;

    //- Final table, metrics end record. Called from end() or the destructor of the host, once;
    //  touches neither mesh nor fields.
    void finish();

    //- Count a (re)build of a cache of the host for the summary
    void countBuild(const std::string& cache, const std::string& reason, double seconds);

private:

    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}
