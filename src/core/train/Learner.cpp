// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/Learner.hpp"

#include "base/Error.hpp"
#include "base/agree.hpp"
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
    for (const char* stage : {"assemble", "forward", "backward", "update", "launch", "wait",
        "predict"})
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


Learner::Learner
(
    const Settings& settings,
    const TrainingCase& theCase,
    const SampleStream& stream,
    int nThreads,
    std::shared_ptr<Comm> comm,
    Profiler& profiler,
    CountBuild count,
    Warn warn,
    std::shared_ptr<DeviceLibrary> devices
)
:
    settings_(settings),
    case_(theCase),
    stream_(stream),
    comm_(std::move(comm)),
    profiler_(profiler),
    warn_(std::move(warn)),
    budget_(settings.object.maxFraction),
    pool_(nThreads),
    normaliser_
    (
        scalesLayout(stream_.layout(), theCase),
        settings.object.normaliser.memory,
        settings.object.normaliser.freezeAfter
    ),
    replay_
    (
        {
            static_cast<std::size_t>(settings.object.buffer.capacity),
            allowedMemory(settings, *comm_)
        },
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
            trainerLayout(settings, theCase, stream_, replay_.limits(), std::move(count),
                warn_, std::move(devices)),
            comm_,
            pool_,
            profiler_
        )
    ),
    skill_(fieldOfColumn(theCase.fields, theCase.targets)),
    targetRange_(stream_.layout().target.nColumns)
{}


void Learner::learn
(
    const Completed& completed,
    std::int64_t watermark,
    const std::function<void()>& tested
)
{
    ++nSamples_;
    stream_.formTarget(completed);
    test(completed);
    tested();
    countInScales(completed);
    replay_.add(completed.sample);
    train(completed.sample, watermark);
}


void Learner::test(const Completed& completed)
{
    hasPrediction_ = false;
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


void Learner::countInScales(const Completed& completed)
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


void Learner::train(const Sample& sample, std::int64_t watermark)
{
    if (static_cast<std::int64_t>(replay_.size()) < watermark)
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
void Learner::account(bool wait)
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


void Learner::checkReplicas()
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


void Learner::leaveOutStep(std::int64_t number)
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


TrainingRecord::Report Learner::report(const ReportTime& now)
{
    account(true);
    TrainingRecord::Report report;
    report.time = now.time;
    report.timeIndex = now.timeIndex;
    report.step = trainer_->nSteps();
    report.samples = nSamples_;
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

    warnOfIdleness(now);
    skill_.reset();
    lossSum_ = 0;
    lossCount_ = 0;
    return report;
}


//- Once for each stretch of reports without a new sample, as soon as one was due
void Learner::warnOfIdleness(const ReportTime& now)
{
    const ObjectConfig& object = settings_.object;
    const bool idle = nSamples_ == reportedSamples_;
    DropCounts dropped = now.dropped;
    for (const auto& [reason, count] : dropped_)
    {
        dropped[reason] += count;
    }
    const bool waits = object.horizonTime
      ? dropped.empty() && now.nPending > 0 && now.time - now.oldestPending < *object.horizonTime
      : now.executions <= std::max(object.horizon, object.reportInterval);
    if (idle && !isIdle_ && !waits)
    {
        std::string reasons;
        for (const auto& [reason, count] : dropped)
        {
            if (count > 0)
            {
                reasons += (reasons.empty() ? "; left out so far: " : ", ")
                    + std::to_string(count) + " (" + reason + ')';
            }
        }
        warn_("nothing was learnt between the last two reports, up to time "
            + numberText(now.time) + ": "
            + std::to_string(now.nPending) + " inputs wait for their target" + reasons);
    }
    isIdle_ = idle;
    reportedSamples_ = nSamples_;
}


Span<const double> Learner::prediction() const
{
    return hasPrediction_ ? Span<const double>(predicted_) : Span<const double>();
}


void Learner::reconfigure(const Settings& settings)
{
    budget_.setFraction(settings.object.maxFraction);
    trainer_->reconfigure(settings.training);
}


void Learner::save(StateTree& state)
{
    account(true);
    state.putInt("samples", nSamples_);
    state.putDouble("lossSum", lossSum_);
    state.putInt("lossCount", lossCount_);
    state.putDouble("learningRate", learningRate_);
    state.putDouble("gradientNorm", gradientNorm_);
    state.putTree("normaliser", normaliser_.save());
    state.putTree("replay", replay_.saveState());
    state.putTree("trainer", trainer_->save());
    state.putTree("skill", skill_.save());
    state.putTree("targetRange", targetRange_.save());
    state.putTree("interval", interval_.save());
}


void Learner::savePart(StateTree& part) const
{
    const std::vector<std::uint8_t> generator = trainer_->model().generatorState();
    if (!generator.empty())
    {
        part.put("modelGenerator", generator);
    }
}


StateTree Learner::saveReplay(const std::vector<MeshState>& known) const
{
    return replay_.saveValues(known);
}


std::vector<std::string> Learner::loadTrainer(const StateTree& state)
{
    return trainer_->load(state.subTree("trainer"));
}


void Learner::load
(
    const StateTree& state,
    const StateTree& part,
    const StateTree* replay,
    const std::vector<MeshState>& known
)
{
    nSamples_ = state.getInt("samples");
    lossSum_ = state.getDouble("lossSum");
    lossCount_ = state.getInt("lossCount");
    learningRate_ = state.getDouble("learningRate");
    gradientNorm_ = state.getDouble("gradientNorm");
    if (part.has("modelGenerator"))
    {
        trainer_->model().setGeneratorState(part.get<std::uint8_t>("modelGenerator"));
    }
    normaliser_.load(state.subTree("normaliser"));
    replay_.load(state.subTree("replay"), replay, known);
    skill_.load(state.subTree("skill"));
    targetRange_.load(state.subTree("targetRange"));
    interval_.load(state.subTree("interval"));
}

}
