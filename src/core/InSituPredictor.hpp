// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "InSituEngine.hpp"
#include "base/Comm.hpp"
#include "base/LogSink.hpp"
#include "config/PredictorConfig.hpp"
#include "infer/Rollout.hpp"
#include "io/ModelCard.hpp"

#include <memory>
#include <string>
#include <vector>

namespace inSitu
{

class InSituTrainer;

//- In-situ prediction attached to one mesh: fields in, predicted fields out. LibTorch stays behind
//  it.
class InSituPredictor final : public InSituEngine
{
public:

    //- Read and check the configuration, and load the model unless it is that of a trainer; nothing
    //  of the mesh or the fields is needed. hostKeys are entries of the block that belong to the
    //  host. File names are relative to caseFolder. Throws ConfigError.
    InSituPredictor(const Node& block, const std::string& name, const std::string& caseFolder,
        const std::vector<std::string>& hostKeys, std::shared_ptr<Comm> comm,
        std::shared_ptr<LogSink> log);
    ~InSituPredictor() override;

    const PredictorConfig& config() const;

    bool goesOnAfterError() const override;
    std::int64_t selfCheckInterval() const override;

    //- Once there is a model
    MeshOptions meshOptions() const override;

    //- False: the trainer has not been followed yet
    bool hasModel() const;
    const ModelCard& card() const;

    //- Take the network of a trainer, or its newer weights. The copy is whole whatever the trainer
    //  does next. No effect before its first sample. Throws Error for a network that cannot be
    //  copied (TorchScript).
    void follow(const InSituTrainer& trainer);

    //- Read the file again if another one has taken its place, as onModelChange says. Throws Error
    //  for one that cannot be read or has other columns; the network then stays.
    void followFile();

    //- The first execution: the case is known now. theCase.fields are those of the card, with what
    //  the case knows of them; staticColumns and the mesh are checked against the card. Throws
    //  Error that names every difference.
    void begin(TrainingCase theCase, CaseMesh mesh);
    bool begun() const override;

    void setGeometry(CaseMesh mesh) override;
    void setTopology(CaseMesh mesh, const std::vector<Pending>& pending) override;

    std::size_t nPending() const override;
    std::int64_t pendingTimeIndex(std::size_t i) const override;
    std::size_t nInputColumns() const override;
    std::size_t nTargetColumns() const override;
    void getPending(std::size_t i, Pending& pending) const override;

    //- Mode compare: take the fields (collective)
    template<class Scalar>
    Report compare(const Instant& now, const std::vector<FieldView<Scalar>>& views);

    //- Mode closure: what is to be written into the target fields, given their present values
    //  [nCells, columns]. Views of the inputs, in the order of theCase.fields (collective).
    template<class Scalar>
    Report close(const Instant& now, const std::vector<FieldView<Scalar>>& views,
        Span<const double> previous);

    //- Where its time goes: gather, predict, compare. The host adds what it does with a prediction.
    Profiler& profiler();

    //- Mode rollout: its steps; valid from begin() on
    Rollout& rollout();

    //- Mode rollout, begun: leave in a folder what a restart needs, or go on from there. A failure
    //  to write is a warning. Throws Error for a damaged folder, or one of another mesh or model.
    //  Collective.
    void write(const std::string& folder);
    void resume(const std::string& folder);

    //- Mode rollout: note how far it is from the solver after a step (collective)
    template<class Scalar>
    Report note(const Instant& now, const std::vector<FieldView<Scalar>>& solver);

    //- Whole values of the targets made by the last call [nCells, columns]; may be empty
    Span<const double> prediction() const;

    //- There are some, on all ranks alike, also on those without a cell
    bool hasPrediction() const;

    //- Applies all but model, mode, nThreads, onTopologyChange and writePrediction
    void reconfigure(const Node& block) override;

    void gap() override;
    void check() override;
    void countBuild(const std::string& cache, const std::string& reason, double seconds) override;
    void finish() override;

private:

    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}
