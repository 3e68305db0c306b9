// SPDX-License-Identifier: GPL-3.0-or-later
#include "infer/Rollout.hpp"

#include "base/Error.hpp"
#include "sample/MeshArchive.hpp"

#include <cmath>

namespace inSitu
{

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
    surrogate_(&surrogate),
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
    start_ = valuesOf(start);
    step_ = 0;
}


template<class Scalar>
void Rollout::setStart(const std::vector<FieldView<Scalar>>& start)
{
    start_ = valuesOf(start);
}


template<class Scalar>
void Rollout::feed(const Instant& now, const std::vector<FieldView<Scalar>>& fields)
{
    const std::vector<double> none(inputLayout_.nColumns, 0.0);
    input_.resize(static_cast<std::size_t>(mesh_.graph->nNodes())*inputLayout_.nColumns);
    const NonFinite fault =
        gatherRows(inputLayout_, fields, Span<const double>(none), Span<double>(input_));
    if (fault.field >= 0)
    {
        input_.clear();
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


//- The input less the references, as a sample has it
template<class Value>
SlotPool::Handle Rollout::inputOf(const Surrogate& surrogate) const
{
    const std::vector<double>& reference = surrogate.inputReference();
    SlotPool::Handle slot = SlotPool(input_.size()*sizeof(Value)).acquire();
    Value* const values = static_cast<Value*>(slot.get());
    for (std::size_t i = 0; i < input_.size(); ++i)
    {
        values[i] = static_cast<Value>(input_[i] - reference[i % reference.size()]);
        if (!std::isfinite(values[i]))
        {
            throw Error("the rollout has diverged: at its step " + std::to_string(step_)
                + " a value is too large for the network's precision");
        }
    }
    return slot;
}


Span<const double> Rollout::advance(const Instant& now)
{
    Sample sample;
    sample.time = inputTime_;
    sample.mesh = inputMesh_;
    sample.input = surrogate_->precision() == Precision::float64
      ? inputOf<double>(*surrogate_) : inputOf<float>(*surrogate_);
    input_.clear();
    sample.features.assign(surrogate_->card().features.size(), now.time - inputTime_);

    std::vector<double> prediction(state_.size());
    surrogate_->predict(sample, Span<double>(prediction));
    for (std::size_t i = 0; i < prediction.size(); ++i)
    {
        state_[i] = prediction[i] + (surrogate_->card().increment ? state_[i] : 0);
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


void Rollout::replace(Surrogate& surrogate)
{
    surrogate_ = &surrogate;
}


StateTree Rollout::save() const
{
    MeshArchive meshes(mesh_);
    meshes.add(inputMesh_);

    StateTree state;
    state.putInt("step", step_);
    state.putInt("waited", waited_);
    state.putDouble("inputTime", inputTime_);
    state.put("start", start_);
    state.put("state", state_);
    state.put("input", input_);
    state.putTree("meshes", meshes.save());
    return state;
}


void Rollout::load(const StateTree& state)
{
    const auto entry = [&](const char* name, std::int64_t nRows, int nColumns)
    {
        std::vector<double> values = state.get<double>(name);
        const auto size = static_cast<std::size_t>(nRows)*nColumns;
        if (values.size() != size)
        {
            throw Error("the saved rollout has " + std::to_string(values.size()) + " values in "
                + name + ", mesh and model here " + std::to_string(size));
        }
        return values;
    };
    const std::int64_t nCells = mesh_.graph->nCells();
    std::vector<double> start = entry("start", nCells, targetLayout_.nColumns);
    std::vector<double> present = entry("state", nCells, targetLayout_.nColumns);
    std::vector<double> input = entry("input", mesh_.graph->nNodes(), inputLayout_.nColumns);
    MeshState inputMesh = MeshArchive::load(state.subTree("meshes"), mesh_).at(0);

    step_ = state.getInt("step");
    waited_ = state.getInt("waited");
    inputTime_ = state.getDouble("inputTime");
    start_ = std::move(start);
    state_ = std::move(present);
    input_ = std::move(input);
    inputMesh_ = std::move(inputMesh);
}


void Rollout::reset()
{
    start_.clear();
    input_.clear();
    step_ = 0;
    waited_ = 0;
}


#define INSITU_ROLLOUT_OF(Scalar)                                                                  \
    template void Rollout::begin(const std::vector<FieldView<Scalar>>&);                           \
    template void Rollout::setStart(const std::vector<FieldView<Scalar>>&);                        \
    template void Rollout::feed(const Instant&, const std::vector<FieldView<Scalar>>&);            \
    template RolloutErrors Rollout::compare(const std::vector<FieldView<Scalar>>&,                 \
        const Comm&) const;

INSITU_ROLLOUT_OF(float)
INSITU_ROLLOUT_OF(double)

#undef INSITU_ROLLOUT_OF

}
