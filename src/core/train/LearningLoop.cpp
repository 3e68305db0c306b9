// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/LearningLoop.hpp"

#include "base/Error.hpp"
#include "base/agree.hpp"
#include "base/threadsOf.hpp"
#include "base/Text.hpp"
#include "train/loopLayout.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace inSitu
{
namespace
{

bool allFinite(const std::vector<double>& values)
{
    return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
}


// Time that went into learning so far, s: all stages of Trainer
double secondsInTraining(const Profiler& profiler)
{
    double sum = 0;
    for (const char* stage : {"assemble", "forward", "backward", "update", "launch", "wait", "predict"})
    {
        sum += profiler.seconds(stage);
    }
    return sum;
}


template<class T>
Span<const T> rowsOf(const SlotPool::Handle& slot, std::int64_t nRows, int nColumns)
{
    return {static_cast<const T*>(slot.get()), static_cast<std::size_t>(nRows)*nColumns};
}

}


LearningLoop::LearningLoop
(
    const Settings& settings,
    const TrainingCase& theCase,
    const CaseMesh& mesh,
    std::shared_ptr<Comm> comm,
    Profiler& profiler,
    CountBuild count,
    Warn warn
)
:
    settings_(settings),
    case_(theCase),
    mesh_(&mesh),
    comm_(std::move(comm)),
    profiler_(profiler),
    warn_(std::move(warn)),
    budget_(settings.object.maxFraction),
    pool_(threadsOf(settings.object.nThreads, *comm_, warn_)),
    stream_(streamLayout(settings, theCase), mesh.state),
    normaliser_
    (
        scalesLayout(stream_.layout(), theCase),
        settings.object.normaliser.memory,
        settings.object.normaliser.freezeAfter
    ),
    replay_
    (
        {static_cast<std::size_t>(settings.object.buffer.capacity), allowedMemory(settings, *comm_)},
        settings.object.buffer.policy == "fifo"
      ? ReplayBuffer::Policy::fifo
      : ReplayBuffer::Policy::reservoir,
        static_cast<std::uint64_t>(settings.training.seed),
        stream_.layout().input.nColumns,
        stream_.layout().target.nColumns,
        stream_.layout().precision,
        comm_,
        stream_.layout().edges.nColumns()
    ),
    trainer_
    (
        std::make_unique<Trainer>
        (
            settings.training,
            trainerLayout(settings, theCase, stream_, std::move(count), warn_),
            comm_,
            pool_,
            profiler_
        )
    ),
    skill_(fieldOfColumn(theCase.fields, theCase.targets)),
    targetRange_(stream_.layout().target.nColumns)
{
    if (comm_->size() > 1 && mesh.state.graph->halo() && !trainer_->model().handlesHalo())
    {
        throw Error("model type " + settings.training.modelType + " sees the cells of its own rank"
            " only; 'graph { halo none; }' trains it so on several ranks");
    }
    normaliser_.setMeshScales(meshScales(mesh.state, *comm_));
    // A restart finds the mesh that the run has come to
    const std::string shortage = limitMemory();
    if (!shortage.empty() && !(case_.meshMayChange && case_.startTime != 0))
    {
        throw Error(shortage);
    }
    warnOfShortage(shortage);
}


// Half of the memory is for what waits for its target, if that is as much
std::string LearningLoop::limitMemory()
{
    const ObjectConfig& object = settings_.object;
    const std::size_t memory = replay_.limits().memory;
    std::string shortage;
    const auto require = [&](std::int64_t number, std::size_t bytes, const std::string& what,
        const std::string& remedy)
    {
        if (shortage.empty() && static_cast<double>(number)*bytes > memory)
        {
            shortage = "buffer.maxMemory " + bytesText(memory) + " holds "
                + std::to_string(memory/bytes) + " samples of " + bytesText(bytes) + ", but " + what
                + " need " + std::to_string(number) + "; raise maxMemory or lower " + remedy;
        }
    };

    const MeshState& mesh = stream_.mesh();
    const auto largest = [this](std::size_t bytes)
        { return static_cast<std::size_t>(largestOf(*comm_, static_cast<double>(bytes))); };
    std::size_t perSample = stream_.bytesPerSample();
    std::size_t perPending = stream_.bytesPerPending();
    if (case_.meshMayChange)
    {
        perSample += mesh.graph->bytes() + mesh.geometry->bytes()
            + mesh.staticFeatures->size()*sizeof(float)
            + (mesh.cellMask ? mesh.cellMask->size()*sizeof(double) : 0)
            + (mesh.ids ? mesh.ids->bytes() : 0);
    }
    if (case_.meshMayChange && object.mapsWaiting())
    {
        // The host keeps the values ready for mapping
        perPending += sizeof(double)*(stream_.nRows()*stream_.layout().input.nColumns
            + stream_.nCells()*stream_.layout().target.nColumns);
    }
    perSample = largest(perSample);
    perPending = largest(perPending);
    require(std::max(settings_.training.batchSize, object.buffer.watermark), perSample,
        "batchSize and watermark", "them");
    watermark_ = std::clamp<std::int64_t>(memory/perSample, 1, object.buffer.watermark);

    if (!object.horizonTime)
    {
        require(object.horizon, perPending, "the inputs within the horizon", "it");
    }
    else
    {
        stream_.setMaxWaiting(std::max<std::size_t>(1, memory/2/perPending));
    }
    return shortage;
}


// A mesh that has grown must not end a run that has come far
void LearningLoop::warnOfShortage(const std::string& shortage)
{
    if (!shortage.empty() && !isShortOfMemory_)
    {
        warn_("the mesh has grown: " + shortage + ". Training goes on with what fits");
    }
    isShortOfMemory_ = !shortage.empty();
}


void LearningLoop::setGeometry(const CaseMesh& mesh)
{
    mesh_ = &mesh;
    stream_.setGeometry(mesh.state);
}


void LearningLoop::setTopology
(
    const CaseMesh& mesh,
    const std::vector<PendingInputs::Values>& pending
)
{
    mesh_ = &mesh;
    const int lost = stream_.setTopology(mesh.state, pending);
    if (lost > 0)
    {
        dropped_["topologyChange"] += lost;
    }
    else
    {
        nMapped_ += static_cast<std::int64_t>(pending.size());
    }

    warnOfShortage(limitMemory());
}


template<class Scalar>
void LearningLoop::execute(const Instant& now, const std::vector<FieldView<Scalar>>& views)
{
    hasPrediction_ = false;
    ++executions_;

    const SampleStream::Taken taken = [&]
    {
        ScopedTimer timer(profiler_, "gather");
        return stream_.take(now, views, *comm_);
    }();

    if (!taken.good)
    {
        leaveOut(firstText(*comm_, taken.fault.field < 0 ? std::string()
            : "field " + case_.fields[taken.fault.field].name
                + " is not finite, or too large for " + settings_.training.precision + ", in "
                + mesh_->placeOfRow(taken.fault.row) + " at time " + numberText(now.time)));
        return;
    }
    if (!taken.kept)
    {
        ++dropped_["memory"];
    }
    while (const std::optional<Completed> completed = stream_.next())
    {
        learn(*completed);
    }
}


void LearningLoop::leaveOut(const std::string& message)
{
    if (settings_.object.onNonFinite == "abort")
    {
        throw Error(message + ". If the solution has not diverged, 'precision float64' holds"
            " larger values; 'onNonFinite skip' leaves such times out of the training");
    }
    ++dropped_["nonFinite"];
    drop();
    if (settings_.object.onNonFinite == "warn")
    {
        warn_(message + ": this time is left out of the training");
    }
}


void LearningLoop::learn(const Completed& completed)
{
    test(completed);
    countInScales(completed);
    replay_.add(completed.sample);
    train(completed.sample);
}


void LearningLoop::test(const Completed& completed)
{
    if (normaliser_.nSamples() == 0)
    {
        return;
    }

    const std::int64_t nCells = completed.sample.mesh.graph->nCells();
    const int nColumns = stream_.layout().target.nColumns;
    predicted_.resize(static_cast<std::size_t>(nCells)*nColumns);
    baseline_.resize(predicted_.size());
    const auto then = rowsOf<double>(completed.valueThen, nCells, nColumns);
    const auto now = rowsOf<double>(completed.valueNow, nCells, nColumns);

    trainer_->predict(completed.sample, normaliser_, Span<double>(predicted_));
    if (anyRank(*comm_, !allFinite(predicted_)))
    {
        // Not for the eyes of anything that works on the solver's fields
        hasPrediction_ = false;
        ++dropped_["badPrediction"];
        return;
    }

    const std::vector<double>& reference = stream_.targetReference();
    const std::vector<double> mean = normaliser_.target().shift;
    const bool persistence = settings_.object.horizon > 0;
    const auto& mask = completed.sample.mesh.cellMask;
    for (std::size_t i = 0; i < predicted_.size(); ++i)
    {
        const int column = static_cast<int>(i % nColumns);
        predicted_[i] += settings_.increment() ? then[i] : reference[column];
        baseline_[i] = persistence ? then[i] : mean[column] + reference[column];
    }
    skill_.add(Span<const double>(predicted_), now, Span<const double>(baseline_),
        mask ? Span<const double>(*mask) : Span<const double>(), *comm_);
    hasPrediction_ = true;
}


void LearningLoop::countInScales(const Completed& completed)
{
    ScopedTimer timer(profiler_, "normalise");

    const bool hadScales = normaliser_.nSamples() > 0;
    const Scaling before = normaliser_.target();

    normaliser_.setInputReference(stream_.inputReference());
    const SampleStream::Layout& layout = stream_.layout();
    const MeshGraph& graph = *completed.sample.mesh.graph;
    const std::int64_t nCells = graph.nCells();
    const auto add = [&](auto zero)
    {
        using Value = decltype(zero);
        normaliser_.add
        (
            rowsOf<Value>(completed.sample.input, nCells, layout.input.nColumns),
            rowsOf<Value>(completed.sample.target, nCells, layout.target.nColumns),
            rowsOf<double>(completed.valueNow, nCells, layout.target.nColumns),
            nCells,
            Span<const double>(completed.sample.features),
            *comm_,
            rowsOf<Value>(completed.sample.edges, graph.nEdges(), layout.edges.nColumns())
        );
    };
    layout.precision == Precision::float32 ? add(0.0f) : add(0.0);

    targetRange_.add(rowsOf<double>(completed.valueNow, nCells, layout.target.nColumns), *comm_);
    if (settings_.object.horizon > 0 || settings_.object.horizonTime)
    {
        interval_.add(Span<const double>(&completed.deltaT, 1), SerialComm());  // alike on all
    }

    if (hadScales)
    {
        trainer_->followScales(before, normaliser_.target());
    }
}


void LearningLoop::train(const Sample& sample)
{
    if (static_cast<std::int64_t>(replay_.size()) < watermark_)
    {
        return;
    }
    for (std::int64_t k = 0; k < settings_.training.stepsPerExecute; ++k)
    {
        if (budget_.limited() && anyRank(*comm_, !budget_.allows(secondsInTraining(profiler_))))
        {
            ++dropped_["budget"];
            return;
        }

        std::vector<Sample> batch = {sample};
        for (Sample& drawn : replay_.draw(static_cast<int>(settings_.training.batchSize) - 1))
        {
            batch.push_back(std::move(drawn));
        }

        trainer_->start(batch, normaliser_);
        account(false);
        checkReplicas();
    }
}


//- Steps that have ended; wait: all
void LearningLoop::account(bool wait)
{
    for (const Trainer::Step& step : trainer_->ended(wait))
    {
        learningRate_ = step.learningRate;
        if (step.overflow)
        {
            ++dropped_["overflow"];
            continue;
        }
        if (!step.finite)
        {
            leaveOutStep(step.number);
            continue;
        }
        badSteps_ = 0;
        lossSum_ += step.loss;
        ++lossCount_;
        if (step.updated)
        {
            gradientNorm_ = step.gradientNorm;
        }
    }
}


void LearningLoop::checkReplicas()
{
    const std::int64_t interval = settings_.object.checkReplicas;
    if
    (
        comm_->size() > 1 && interval > 0 && trainer_->nSteps() % interval == 0
     && !trainer_->sameOnAllRanks()
    )
    {
        throw Error("the ranks no longer have the same weights, found at training step "
            + std::to_string(trainer_->nSteps()) + " (checkReplicas " + std::to_string(interval)
            + "): they run on different processors or libraries, or memory is damaged. No"
              " checkpoint has been written since");
    }
}


void LearningLoop::leaveOutStep(std::int64_t number)
{
    ++dropped_["badStep"];
    ++badSteps_;

    const std::string message = "the loss, its gradient or the new weights are not finite: training"
        " step " + std::to_string(number) + " is left out; a lower"
        " optimizer.learningRate or optimizer.maxGradNorm helps";
    if (badSteps_ > settings_.object.maxBadSteps)
    {
        throw Error(message + ". That makes " + std::to_string(badSteps_)
            + " in a row (maxBadSteps " + std::to_string(settings_.object.maxBadSteps)
            + "). No checkpoint was written since the first of them");
    }
    if (badSteps_ == 1)
    {
        warn_(message);
    }
}


std::optional<TrainingRecord::Report> LearningLoop::report(double time, std::int64_t timeIndex)
{
    if (executions_ % settings_.object.reportInterval != 0)
    {
        return std::nullopt;
    }

    account(true);
    TrainingRecord::Report report;
    report.time = time;
    report.timeIndex = timeIndex;
    report.step = trainer_->nSteps();
    report.samples = stream_.nSamples();
    report.loss = lossCount_ > 0 ? lossSum_/lossCount_ : std::numeric_limits<double>::quiet_NaN();
    report.learningRate = learningRate_;
    report.gradientNorm = gradientNorm_;
    report.rmse = skill_.rmse();
    report.skill = skill_.skill();

    if (settings_.training.keepBest)
    {
        double mean = 0;
        for (const double value : report.skill)
        {
            mean += value/report.skill.size();
        }
        if (std::isfinite(mean) && mean > trainer_->bestSkill())
        {
            trainer_->keepBest(mean);
        }
    }

    warnOfIdleness(time);
    skill_.reset();
    lossSum_ = 0;
    lossCount_ = 0;
    return report;
}


//- Once for each stretch of reports without a new sample, as soon as one was due
void LearningLoop::warnOfIdleness(double time)
{
    const ObjectConfig& object = settings_.object;
    const bool idle = stream_.nSamples() == reportedSamples_;
    const bool waits = object.horizonTime
      ? dropped_.empty() && !stream_.pending().empty()
            && time - stream_.pending().front().time < *object.horizonTime
      : executions_ <= std::max(object.horizon, object.reportInterval);
    if (idle && !isIdle_ && !waits)
    {
        std::string reasons;
        for (const auto& [reason, count] : dropped_)
        {
            if (count > 0)
            {
                reasons += (reasons.empty() ? "; left out so far: " : ", ")
                    + std::to_string(count) + " (" + reason + ')';
            }
        }
        warn_("no sample was completed between the last two reports, up to time "
            + numberText(time) + ", so nothing is learnt: "
            + std::to_string(stream_.pending().size()) + " inputs wait for their target" + reasons);
    }
    isIdle_ = idle;
    reportedSamples_ = stream_.nSamples();
}


void LearningLoop::drop()
{
    dropped_["gap"] += stream_.drop();
}


Span<const double> LearningLoop::prediction() const
{
    return hasPrediction_ ? Span<const double>(predicted_) : Span<const double>();
}


void LearningLoop::reconfigure(const Settings& settings)
{
    budget_.setFraction(settings.object.maxFraction);
    trainer_->reconfigure(settings.training);
}


StateTree LearningLoop::save()
{
    account(true);
    StateTree state;
    state.putInt("executions", executions_);
    state.putDouble("lossSum", lossSum_);
    state.putInt("lossCount", lossCount_);
    state.putDouble("learningRate", learningRate_);
    state.putDouble("gradientNorm", gradientNorm_);
    state.putTree("stream", stream_.save());
    state.putTree("normaliser", normaliser_.save());
    state.putTree("replay", replay_.saveState());
    state.putTree("trainer", trainer_->save());
    state.putTree("skill", skill_.save());
    state.putTree("targetRange", targetRange_.save());
    state.putTree("interval", interval_.save());
    return state;
}


// What samples may share with the run: a batch joins those on the same mesh
std::vector<MeshState> LearningLoop::knownMeshes() const
{
    std::vector<MeshState> meshes{stream_.mesh()};
    for (const Snapshot& snapshot : stream_.pending())
    {
        meshes.push_back(snapshot.mesh);
    }
    return meshes;
}


StateTree LearningLoop::savePart() const
{
    StateTree part;
    part.putTree("waiting", stream_.saveWaiting());
    const std::vector<std::uint8_t> generator = trainer_->model().generatorState();
    if (!generator.empty())
    {
        part.put("modelGenerator", generator);
    }
    return part;
}


StateTree LearningLoop::saveReplay() const
{
    return replay_.saveValues(knownMeshes());
}


std::vector<std::string> LearningLoop::load
(
    const StateTree& state,
    const StateTree& part,
    const StateTree* replay
)
{
    // The one part that may refuse comes first
    const std::vector<std::string> notes = trainer_->load(state.subTree("trainer"));

    executions_ = state.getInt("executions");
    lossSum_ = state.getDouble("lossSum");
    lossCount_ = state.getInt("lossCount");
    learningRate_ = state.getDouble("learningRate");
    gradientNorm_ = state.getDouble("gradientNorm");

    if (part.has("modelGenerator"))
    {
        trainer_->model().setGeneratorState(part.get<std::uint8_t>("modelGenerator"));
    }
    const StateTree waiting = part.subTree("waiting");
    const int lost =
        stream_.load(state.subTree("stream"), waiting.has("mesh") ? &waiting : nullptr);
    if (lost > 0)
    {
        dropped_["gap"] += lost;
    }
    normaliser_.load(state.subTree("normaliser"));
    replay_.load(state.subTree("replay"), replay, knownMeshes());
    skill_.load(state.subTree("skill"));
    targetRange_.load(state.subTree("targetRange"));
    interval_.load(state.subTree("interval"));
    return notes;
}


template void LearningLoop::execute(const Instant&, const std::vector<FieldView<float>>&);
template void LearningLoop::execute(const Instant&, const std::vector<FieldView<double>>&);

}
