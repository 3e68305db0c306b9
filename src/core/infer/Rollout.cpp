// SPDX-License-Identifier: GPL-3.0-or-later
#include "infer/Rollout.hpp"

#include "base/Error.hpp"

#include <cmath>

namespace inSitu
{
namespace
{

template<class T>
Span<T> spanOf(const SlotPool::Handle& slot, std::size_t n)
{
    return {static_cast<T*>(slot.get()), n};
}

}


Rollout::Rollout
(
    Surrogate& surrogate,
    RowLayout input,
    RowLayout target,
    Horizon horizon,
    const MeshState& mesh,
    std::vector<int> fieldOfColumn
)
:
    surrogate_(surrogate),
    inputLayout_(std::move(input)),
    targetLayout_(std::move(target)),
    horizon_(horizon),
    mesh_(mesh),
    fieldOfColumn_(std::move(fieldOfColumn))
{
    if (horizon.steps < 1 && !(horizon.seconds > 0))
    {
        throw Error("a network with horizon 0 maps fields of one time and cannot feed on itself;"
            " use mode compare or closure");
    }
}


template<class Scalar>
std::vector<double> Rollout::valuesOf(const std::vector<FieldView<Scalar>>& fields) const
{
    const std::vector<double> none(targetLayout_.nColumns, 0.0);
    std::vector<double> values
        (static_cast<std::size_t>(mesh_.graph->nCells())*targetLayout_.nColumns);
    gatherRows(targetLayout_, fields, Span<const double>(none), Span<double>(values));
    return values;
}


template<class Scalar>
void Rollout::begin(const std::vector<FieldView<Scalar>>& start)
{
    resume(0, start);
}


template<class Scalar>
void Rollout::resume(std::int64_t step, const std::vector<FieldView<Scalar>>& start)
{
    start_ = valuesOf(start);
    step_ = step;
}


template<class Scalar>
void Rollout::feed(const Instant& now, const std::vector<FieldView<Scalar>>& fields)
{
    const auto n = static_cast<std::size_t>(mesh_.graph->nNodes())*inputLayout_.nColumns;
    const Span<const double> reference(surrogate_.inputReference());
    const bool wide = surrogate_.precision() == Precision::float64;

    input_ = SlotPool(n*(wide ? sizeof(double) : sizeof(float))).acquire();
    const NonFinite fault = wide
      ? gatherRows(inputLayout_, fields, reference, spanOf<double>(input_, n))
      : gatherRows(inputLayout_, fields, reference, spanOf<float>(input_, n));
    if (fault.field >= 0)
    {
        input_ = nullptr;
        throw Error("the fields of the rollout are not finite at its step "
            + std::to_string(step_));
    }
    state_ = valuesOf(fields);
    inputMesh_ = mesh_;
    inputTime_ = now.time;
    waited_ = 0;
}


bool Rollout::tick(const Instant& now)
{
    ++waited_;
    return horizon_.seconds > 0
      ? now.time - inputTime_ >= horizon_.seconds*(1 - 1e-6)
      : waited_ >= horizon_.steps;
}


void Rollout::setWaited(std::int64_t executions, double inputTime)
{
    waited_ = executions;
    inputTime_ = inputTime;
}


Span<const double> Rollout::advance(const Instant& now)
{
    Sample sample;
    sample.time = inputTime_;
    sample.mesh = inputMesh_;
    sample.input = std::move(input_);
    sample.features.assign(surrogate_.card().features.size(), now.time - inputTime_);

    std::vector<double> prediction(state_.size());
    surrogate_.predict(sample, Span<double>(prediction));
    for (std::size_t i = 0; i < prediction.size(); ++i)
    {
        state_[i] = prediction[i] + (surrogate_.card().increment ? state_[i] : 0);
        if (!std::isfinite(state_[i]))
        {
            throw Error("the rollout has diverged: it is not finite at its step "
                + std::to_string(step_ + 1));
        }
    }
    ++step_;
    return Span<const double>(state_);
}


template<class Scalar>
RolloutErrors Rollout::compare
(
    const std::vector<FieldView<Scalar>>& solver,
    const Comm& comm
) const
{
    const std::vector<double> truth = valuesOf(solver);
    const std::size_t nColumns = fieldOfColumn_.size();
    const std::size_t nFields = static_cast<std::size_t>(fieldOfColumn_.back()) + 1;

    // Squares of error, of that of persistence, of the truth, and the number of entries
    std::vector<double> sums(4*nFields, 0.0);
    for (std::size_t i = 0; i < truth.size(); ++i)
    {
        double* sum = &sums[4*static_cast<std::size_t>(fieldOfColumn_[i % nColumns])];
        const double error = state_[i] - truth[i];
        const double still = start_[i] - truth[i];
        sum[0] += error*error;
        sum[1] += still*still;
        sum[2] += truth[i]*truth[i];
        sum[3] += 1;
    }
    comm.sum(Span<double>(sums));

    RolloutErrors errors;
    errors.step = step_;
    for (std::size_t field = 0; field < nFields; ++field)
    {
        const double* sum = &sums[4*field];
        errors.rmse.push_back(std::sqrt(sum[0]/sum[3]));
        errors.relative.push_back(std::sqrt(sum[0]/sum[2]));
        errors.persistence.push_back(std::sqrt(sum[1]/sum[2]));
    }
    return errors;
}


void Rollout::setMesh(const MeshState& mesh)
{
    mesh_ = mesh;
}


void Rollout::reset()
{
    start_.clear();
    input_ = nullptr;
    step_ = 0;
    waited_ = 0;
}


#define INSITU_ROLLOUT_OF(Scalar)                                                                  \
    template void Rollout::begin(const std::vector<FieldView<Scalar>>&);                           \
    template void Rollout::resume(std::int64_t, const std::vector<FieldView<Scalar>>&);            \
    template void Rollout::feed(const Instant&, const std::vector<FieldView<Scalar>>&);            \
    template RolloutErrors Rollout::compare(const std::vector<FieldView<Scalar>>&,                 \
        const Comm&) const;

INSITU_ROLLOUT_OF(float)
INSITU_ROLLOUT_OF(double)

#undef INSITU_ROLLOUT_OF

}
