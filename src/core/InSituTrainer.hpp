// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "InSituEngine.hpp"
#include "base/Comm.hpp"
#include "base/LogSink.hpp"
#include "base/Stamped.hpp"
#include "config/ObjectConfig.hpp"
#include "io/CheckpointShelf.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace inSitu
{

class Surrogate;
class ThreadPool;

//- In-situ training attached to one mesh: snapshot in, report out. LibTorch and HDF5 stay behind it.
class InSituTrainer final : public InSituEngine
{
public:

    //- Read and check the whole configuration; nothing of the mesh or the fields is needed.
    //  hostKeys are entries of the block that belong to the host. The files of `trainingFile` and
    //  `initialWeights` are read here, relative to caseFolder; without the latter only a start
    //  afresh fails. Throws ConfigError.
    InSituTrainer(const Node& block, const std::string& name, const std::string& caseFolder,
        const std::vector<std::string>& hostKeys, std::shared_ptr<Comm> comm,
        std::shared_ptr<LogSink> log);
    ~InSituTrainer() override;

    //- Throws ConfigError now rather than at the first step if that file could not be read, and
    //  there is nothing to resume from among these places and in the stable folder up to a time
    void requireInitialWeights(const std::vector<CheckpointPlace>& places,
        const std::string& stableFolder, double latest) const;

    const ObjectConfig& config() const;

    bool goesOnAfterError() const override;
    std::int64_t selfCheckInterval() const override;
    MeshOptions meshOptions() const override;

    //- The first step: the case is known now. Builds everything that depends on it.
    void begin(TrainingCase theCase, CaseMesh mesh);
    bool begun() const override;

    void setGeometry(CaseMesh mesh) override;
    void setTopology(CaseMesh mesh, const std::vector<Pending>& pending) override;

    std::size_t nPending() const override;
    std::int64_t pendingTimeIndex(std::size_t i) const override;
    std::size_t nInputColumns() const override;
    std::size_t nTargetColumns() const override;
    void getPending(std::size_t i, Pending& pending) const override;

    void check() override;

    //- Continue from the first good candidate (newest first; those of begin()'s stable folder
    //  are added here, those without a checkpoint are left out) according to `resume`. Damaged
    //  ones are passed over with a warning; one of another mesh or of incompatible configuration
    //  throws IncompatibleState under strict and auto. Called once, between begin() and the
    //  first execute().
    void resume(std::vector<CheckpointPlace> candidates);

    //- Take the fields at this time: completes samples, predicts, trains. Collective.
    //  Scalar: float or double, as the host stores fields.
    template<class Scalar>
    Report execute(const Instant& now, const std::vector<FieldView<Scalar>>& views);

    //- Physical prediction of the targets at the time of the last execute(), made before its
    //  values were learnt [nCells, target columns]; for increments the predicted new value.
    //  Empty if that completed no sample. Waits until it is made, and so does the next. Valid until
    //  the next execute(). Collective.
    Span<const double> prediction() const;

    //- There is one, on all ranks alike, also on those without a cell. Collective.
    bool hasPrediction() const;

    void gap() override;

    //- Checkpoint into folder, kept also under stableFolder/checkpoints (two newest), and
    //  the artifact into stableFolder. A failure to write is a warning and is tried again
    //  at the next call.
    void write(double time, const std::string& timeName, const std::string& folder);

    //- Says what was applied
    void reconfigure(const Node& block) override;

    //- Grows whenever weights or scales change; -1 before the first sample, when there is nothing
    //  to predict with. Waits until all is learnt that was taken. Collective.
    std::int64_t revision() const;

    //- A copy of the network as it is now, with its card and scales: whole, whatever the training
    //  does next. pool outlives it. Throws Error for a TorchScript network.
    std::unique_ptr<Surrogate> surrogate(ThreadPool& pool, const CountBuild& count) const;

    //- Bring such a copy up to date: weights, scales and card. Collective over all ranks of the run.
    void update(Surrogate& surrogate) const;

    void countBuild(const std::string& cache, const std::string& reason, double seconds) override;
    void finish() override;

private:

    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}
