// SPDX-License-Identifier: GPL-3.0-or-later
#include "InSituPredictorImpl.hpp"

#include "base/Error.hpp"
#include "base/agree.hpp"
#include "base/Text.hpp"
#include "infer/columnLimits.hpp"

#include <optional>

// One execution in each of the modes

namespace inSitu
{

void InSituPredictor::Impl::leaveOut(const NonFinite& fault, const Instant& now)
{
    const std::string what = firstText(*comm, fault.field < 0 ? std::string()
        : "field " + theCase.fields[fault.field].name
            + " is not finite, or too large for the network's precision, in "
            + mesh.placeOfRow(fault.row) + " at time " + numberText(now.time));
    if (config.onNonFinite == "abort")
    {
        throw Error(what + "; 'onNonFinite skip' leaves such times out");
    }
    ++counts["nonFinite"];
    if (config.onNonFinite == "warn")
    {
        warn(what + ": nothing is predicted");
    }
}


//- The first time aloud
void InSituPredictor::Impl::tellOfNonFinite(std::int64_t number)
{
    std::int64_t& told = counts["notFinite"];
    if (told == 0 && number > 0)
    {
        warn("the network gives values that are not finite: they are "
            + std::string(closure ? "not written" : "left out") + ", and counted");
    }
    told = number;
}


//- Once, if the network has learnt to go another time ahead
void InSituPredictor::Impl::tellOfInterval(double seconds)
{
    const std::vector<double>& learnt = surrogate->card().interval;
    constexpr double tolerance = 0.01;
    if (toldOfInterval || learnt.empty() || seconds == 0
     || (seconds >= learnt[0]*(1 - tolerance) && seconds <= learnt[1]*(1 + tolerance)))
    {
        return;
    }
    toldOfInterval = true;
    const std::string least = shortText(learnt[0]), most = shortText(learnt[1]);
    warn("input and target are " + shortText(seconds) + " s apart at time " + shortText(time)
        + ", and the network has learnt over " + (most == least ? least : least + " to " + most)
        + " s: what it predicts is for that interval. Executions as far apart as in the training"
          " (deltaT, executeInterval; in post-processing the stored times) suit it");
}


template<class Scalar>
InSituPredictor::Report InSituPredictor::compare
(
    const Instant& now,
    const std::vector<FieldView<Scalar>>& views
)
{
    Impl& my = *impl_;
    const SampleStream::Taken taken = my.comparison->execute(now, views, *my.comm);
    if (!taken.good)
    {
        my.leaveOut(taken.fault, now);
        gap();
    }
    my.tellOfNonFinite(my.comparison->nNonFinite());

    my.time = now.time;
    my.tellOfInterval(my.comparison->interval());
    return ++my.executions % my.config.reportInterval == 0 ? my.reportOfComparison() : Report();
}


//- Over what was compared since the last one
InSituPredictor::Report InSituPredictor::Impl::reportOfComparison()
{
    const PredictionErrors errors = comparison->errors().errors(*comm);
    const std::vector<std::vector<double>> values
    {
        errors.rmse, errors.skill, errors.largest, {errors.place.begin(), errors.place.end()}
    };
    record->row(time, errors.samples, values);
    comparison->errors().reset();
    return {true, record->text(errors.samples, values)};
}


template<class Scalar>
InSituPredictor::Report InSituPredictor::close
(
    const Instant& now,
    const std::vector<FieldView<Scalar>>& views,
    Span<const double> previous
)
{
    Impl& my = *impl_;
    my.hasClosed = false;
    const SampleStream::Taken taken = [&]
    {
        const ScopedTimer timer(my.profiler, "gather");
        return my.stream->take(now, views, *my.comm);
    }();
    if (!taken.good)
    {
        my.leaveOut(taken.fault, now);
        return {};
    }
    const ScopedTimer timer(my.profiler, "predict");
    std::optional<PendingInputs::Completed> completed = my.stream->next();
    my.closed.resize(previous.size());
    my.surrogate->predict(completed->sample, Span<double>(my.closed));
    my.stream->recycle(std::move(completed->sample));
    my.closure->apply(Span<double>(my.closed), previous);
    my.hasClosed = true;
    double numbers[2] = {static_cast<double>(my.closure->nOutliers()),
        static_cast<double>(my.closure->nNonFinite())};
    my.comm->sum(Span<double>(numbers, 2));
    my.counts["outliers"] = static_cast<std::int64_t>(numbers[0]);
    my.tellOfNonFinite(static_cast<std::int64_t>(numbers[1]));

    Report report;
    if (++my.executions % my.config.reportInterval == 0)
    {
        const std::vector<std::vector<double>> range =
            rangeByField(my.closed, my.surrogate->card().targets, *my.comm);
        my.record->row(now.time, my.executions, range);
        report.due = true;
        report.text = my.record->text(my.executions, range) + "\n    outliers = "
            + std::to_string(my.counts["outliers"]) + ", not finite = "
            + std::to_string(my.counts["notFinite"]);
    }
    return report;
}


Profiler& InSituPredictor::profiler()
{
    return impl_->profiler;
}


Rollout& InSituPredictor::rollout()
{
    return *impl_->rollout;
}


template<class Scalar>
InSituPredictor::Report InSituPredictor::note
(
    const Instant& now,
    const std::vector<FieldView<Scalar>>& solver
)
{
    Impl& my = *impl_;
    const RolloutErrors& errors = my.rollout->compare(solver, *my.comm);
    const std::vector<std::vector<double>> values
        {errors.rmse, errors.relative, errors.persistence};
    my.record->row(now.time, errors.step, values);
    my.time = now.time;
    my.tellOfInterval(my.rollout->interval());

    Report report;
    if (++my.executions % my.config.reportInterval == 0)
    {
        report.due = true;
        report.text = my.record->text(errors.step, values);
    }
    return report;
}


Span<const double> InSituPredictor::prediction() const
{
    const Impl& my = *impl_;
    return my.comparison ? my.comparison->prediction()
      : my.hasClosed ? Span<const double>(my.closed) : Span<const double>();
}


bool InSituPredictor::hasPrediction() const
{
    const Impl& my = *impl_;
    return my.comparison ? my.comparison->hasPrediction() : my.hasClosed;
}


#define INSITU_PREDICTOR_OF(Scalar)                                                                \
    template InSituPredictor::Report InSituPredictor::compare(const Instant&,                      \
        const std::vector<FieldView<Scalar>>&);                                                    \
    template InSituPredictor::Report InSituPredictor::close(const Instant&,                        \
        const std::vector<FieldView<Scalar>>&, Span<const double>);                                \
    template InSituPredictor::Report InSituPredictor::note(const Instant&,                         \
        const std::vector<FieldView<Scalar>>&);

INSITU_PREDICTOR_OF(float)
INSITU_PREDICTOR_OF(double)

#undef INSITU_PREDICTOR_OF

}
