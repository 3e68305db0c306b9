// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/LearningLoop.hpp"

#include "base/Error.hpp"
#include "base/Text.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unistd.h>

namespace inSitu
{
namespace
{

SampleStream::Layout streamLayout(const Settings& settings, const TrainingCase& theCase,
    const Comm& comm)
{
    const MeshGraph& graph = *theCase.mesh.graph;
    double nCellsGlobal = graph.nCells();
    comm.sum(Span<double>(&nCellsGlobal, 1));

    SampleStream::Layout layout;
    layout.input =
        RowLayout::of(theCase.fields, theCase.inputs, settings.object.graph.boundaryNodes);
    layout.target = RowLayout::of(theCase.fields, theCase.targets, false);
    layout.nCells = graph.nCells();
    layout.nRows = graph.nNodes();
    layout.nCellsGlobal = static_cast<std::int64_t>(nCellsGlobal);
    return layout;
}


TrainerLayout trainerLayout(const Settings& settings, const TrainingCase& theCase,
    const SampleStream::Layout& stream)
{
    TrainerLayout layout;
    layout.shape.nNodeFeatures =
        stream.input.nColumns + static_cast<int>(theCase.staticColumns.size());
    layout.shape.nEdgeFeatures = theCase.mesh.geometry->nEdgeFeatures();
    layout.shape.nOutputs = stream.target.nColumns;
    layout.nInputColumns = stream.input.nColumns;
    layout.increment = settings.increment();
    layout.edgeScale = meanEdgeLength(*theCase.mesh.graph, *theCase.mesh.geometry);
    layout.noise = settings.object.noise;
    layout.cellMask = theCase.cellMask;
    return layout;
}


// Samples that the memory allows, at most those asked for
std::size_t affordable(const Settings& settings, std::size_t bytesPerSample)
{
    const std::size_t tenthOfNode =
        static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES))*sysconf(_SC_PAGESIZE)/10;
    const std::size_t memory = settings.object.buffer.maxMemory > 0
      ? static_cast<std::size_t>(settings.object.buffer.maxMemory*1048576)
      : tenthOfNode;

    const auto fitting = static_cast<std::int64_t>(memory/bytesPerSample);
    const std::int64_t needed =
        std::max(settings.training.batchSize, settings.object.buffer.watermark);
    if (fitting < needed)
    {
        throw Error("buffer.maxMemory " + bytesText(memory) + " holds "
            + std::to_string(fitting) + " samples of " + bytesText(bytesPerSample)
            + ", but batchSize and watermark need " + std::to_string(needed)
            + "; raise maxMemory or lower them");
    }
    return static_cast<std::size_t>(std::min(settings.object.buffer.capacity, fitting));
}


bool allFinite(const std::vector<double>& values)
{
    return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
}


// Time that went into learning so far, s: all stages of Trainer
double secondsInTraining(const Profiler& profiler)
{
    double sum = 0;
    for (const char* stage : {"assemble", "forward", "backward", "update", "predict"})
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
    std::shared_ptr<Comm> comm,
    Profiler& profiler,
    Warn warn
)
:
    settings_(settings),
    case_(theCase),
    comm_(std::move(comm)),
    profiler_(profiler),
    warn_(std::move(warn)),
    budget_(settings.object.maxFraction),
    pool_
    (
        settings.object.nThreads > 0 ? static_cast<int>(settings.object.nThreads) : availableCores()
    ),
    stream_
    (
        streamLayout(settings, theCase, *comm_),
        static_cast<int>(settings.object.horizon),
        settings.increment(),
        settings.training.arithmetic()
    ),
    normaliser_
    (
        Normaliser::Layout
        {
            stream_.layout().input.nColumns,
            stream_.layout().target.nColumns,
            settings.increment(),
            fieldOfColumn(theCase.fields, theCase.targets),
            fieldOfColumn(theCase.fields, theCase.inputs)
        },
        settings.object.normaliser.memory,
        settings.object.normaliser.freezeAfter
    ),
    replay_
    (
        affordable(settings, stream_.bytesPerSample()),
        settings.object.buffer.policy == "fifo"
      ? ReplayBuffer::Policy::fifo
      : ReplayBuffer::Policy::reservoir,
        static_cast<std::uint64_t>(settings.training.seed)
    ),
    trainer_
    (
        std::make_unique<Trainer>
        (
            settings.training,
            trainerLayout(settings, theCase, stream_.layout()),
            comm_,
            pool_,
            profiler_
        )
    ),
    skill_(fieldOfColumn(theCase.fields, theCase.targets), theCase.cellMask),
    predicted_(stream_.layout().nCells*stream_.layout().target.nColumns),
    baseline_(predicted_.size())
{}


template<class Scalar>
void LearningLoop::execute
(
    double time,
    std::int64_t timeIndex,
    const std::vector<FieldView<Scalar>>& views
)
{
    hasPrediction_ = false;
    ++executions_;

    const SampleStream::Taken taken = [&]
    {
        ScopedTimer timer(profiler_, "gather");
        return stream_.take(time, timeIndex, case_.mesh, views, *comm_);
    }();

    if (taken.fault.field >= 0)
    {
        const std::string what = "field " + case_.fields[taken.fault.field].name
            + " is not finite, or too large for " + settings_.training.precision + ", in "
            + case_.placeOfRow(taken.fault.row) + " at time " + numberText(time);
        if (settings_.object.onNonFinite == "abort")
        {
            throw Error(what + ". If the solution has not diverged, 'precision float64' holds"
                " larger values; 'onNonFinite skip' leaves such times out of the training");
        }
        ++dropped_["nonFinite"];
        drop();
        if (settings_.object.onNonFinite == "warn")
        {
            warn_(what + ": this time is left out of the training");
        }
    }
    else if (taken.completed)
    {
        learn(*taken.completed);
    }
}


void LearningLoop::learn(const SampleStream::Completed& completed)
{
    test(completed);
    countInScales(completed);
    replay_.add(completed.sample);
    train(completed.sample);
}


void LearningLoop::test(const SampleStream::Completed& completed)
{
    if (normaliser_.nSamples() == 0)
    {
        return;
    }

    const std::int64_t nCells = stream_.layout().nCells;
    const int nColumns = stream_.layout().target.nColumns;
    const auto then = rowsOf<double>(completed.valueThen, nCells, nColumns);
    const auto now = rowsOf<double>(completed.valueNow, nCells, nColumns);

    trainer_->predict(completed.sample, normaliser_, Span<double>(predicted_));
    if (!allFinite(predicted_))
    {
        // Not for the eyes of anything that works on the solver's fields
        ++dropped_["badPrediction"];
        return;
    }

    const std::vector<double>& reference = stream_.targetReference();
    const std::vector<double> mean = normaliser_.target().shift;
    const bool persistence = settings_.object.horizon > 0;
    for (std::size_t i = 0; i < predicted_.size(); ++i)
    {
        const int column = static_cast<int>(i % nColumns);
        predicted_[i] += settings_.increment() ? then[i] : reference[column];
        baseline_[i] = persistence ? then[i] : mean[column] + reference[column];
    }
    skill_.add(Span<const double>(predicted_), now, Span<const double>(baseline_), *comm_);
    hasPrediction_ = true;
}


void LearningLoop::countInScales(const SampleStream::Completed& completed)
{
    ScopedTimer timer(profiler_, "normalise");

    const bool hadScales = normaliser_.nSamples() > 0;
    const Scaling before = normaliser_.target();

    normaliser_.setInputReference(stream_.inputReference());
    const SampleStream::Layout& layout = stream_.layout();
    const auto add = [&](auto zero)
    {
        using Value = decltype(zero);
        normaliser_.add
        (
            rowsOf<Value>(completed.sample.input, layout.nCells, layout.input.nColumns),
            rowsOf<Value>(completed.sample.target, layout.nCells, layout.target.nColumns),
            rowsOf<double>(completed.valueNow, layout.nCells, layout.target.nColumns),
            layout.nCells,
            *comm_
        );
    };
    stream_.precision() == Precision::float32 ? add(0.0f) : add(0.0);

    if (hadScales)
    {
        trainer_->followScales(before, normaliser_.target());
    }
}


void LearningLoop::train(const Sample& sample)
{
    if (static_cast<std::int64_t>(replay_.size()) < settings_.object.buffer.watermark)
    {
        return;
    }
    for (std::int64_t k = 0; k < settings_.training.stepsPerExecute; ++k)
    {
        if (budget_.limited() && !budget_.allows(secondsInTraining(profiler_)))
        {
            ++dropped_["budget"];
            return;
        }

        std::vector<Sample> batch = {sample};
        for (Sample& drawn : replay_.draw(static_cast<int>(settings_.training.batchSize) - 1))
        {
            batch.push_back(std::move(drawn));
        }

        const Trainer::Step step = trainer_->step(batch, normaliser_);
        learningRate_ = step.learningRate;
        if (!step.finite)
        {
            ++dropped_["badStep"];
            warn_("the loss, its gradient or the new weights are not finite: training step "
                + std::to_string(trainer_->nSteps()) + " is left out; a lower"
                " optimizer.learningRate or optimizer.maxGradNorm helps");
            continue;
        }
        lossSum_ += step.loss;
        ++lossCount_;
        if (step.updated)
        {
            gradientNorm_ = step.gradientNorm;
        }
    }
}


std::optional<TrainingRecord::Report> LearningLoop::report(double time, std::int64_t timeIndex)
{
    if (executions_ % settings_.object.reportInterval != 0)
    {
        return std::nullopt;
    }

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

    skill_.reset();
    lossSum_ = 0;
    lossCount_ = 0;
    return report;
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


StateTree LearningLoop::save() const
{
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
    return state;
}


StateTree LearningLoop::saveReplay() const
{
    const SampleStream::Layout& layout = stream_.layout();
    return replay_.saveValues(layout.nRows, layout.input.nColumns, layout.nCells,
        layout.target.nColumns, stream_.precision());
}


std::vector<std::string> LearningLoop::load
(
    const StateTree& state,
    const StateTree* replay,
    bool continuous
)
{
    // The one part that may refuse comes first
    const std::vector<std::string> notes = trainer_->load(state.subTree("trainer"));

    executions_ = state.getInt("executions");
    lossSum_ = state.getDouble("lossSum");
    lossCount_ = state.getInt("lossCount");
    learningRate_ = state.getDouble("learningRate");
    gradientNorm_ = state.getDouble("gradientNorm");

    stream_.load(state.subTree("stream"), case_.mesh);
    if (!continuous)
    {
        drop();
    }
    normaliser_.load(state.subTree("normaliser"));
    replay_.load(state.subTree("replay"), replay, case_.mesh, stream_.inputSlots(),
        stream_.targetSlots());
    skill_.load(state.subTree("skill"));
    return notes;
}


template void LearningLoop::execute(double, std::int64_t, const std::vector<FieldView<float>>&);
template void LearningLoop::execute(double, std::int64_t, const std::vector<FieldView<double>>&);

}
