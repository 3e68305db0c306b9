// SPDX-License-Identifier: GPL-3.0-or-later
#include "infer/Rollout.hpp"

#include "base/Error.hpp"
#include "sample/MeshArchive.hpp"

#include <algorithm>
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
    std::vector<int> fieldOfColumn,
    Profiler& profiler,
    EdgeLayout edges
)
:
    surrogate_(&surrogate),
    inputLayout_(std::move(input)),
    targetLayout_(std::move(target)),
    horizon_(horizon),
    mesh_(mesh),
    fieldOfColumn_(std::move(fieldOfColumn)),
    profiler_(profiler),
    edgeGather_(std::move(edges), Precision::float64),
    noReference_(std::max(inputLayout_.nColumns, targetLayout_.nColumns), 0.0)
{
    if (horizon.steps < 1 && !(horizon.seconds > 0))
    {
        throw Error("a network with horizon 0 maps fields of one time and cannot feed on itself;"
            " use mode compare or closure");
    }
}


template<class Scalar>
void Rollout::getValues
(
    const std::vector<FieldView<Scalar>>& fields,
    std::vector<double>& values
) const
{
    values.resize(static_cast<std::size_t>(mesh_.graph->nCells())*targetLayout_.nColumns);
    gatherRows(targetLayout_, fields,
        Span<const double>(noReference_.data(), targetLayout_.nColumns), Span<double>(values));
}


template<class Scalar>
void Rollout::begin(const std::vector<FieldView<Scalar>>& start)
{
    setStart(start);
    begun_ = true;
    step_ = 0;
}


template<class Scalar>
void Rollout::setStart(const std::vector<FieldView<Scalar>>& start)
{
    getValues(start, start_);
}


template<class Scalar>
void Rollout::feed(const Instant& now, const std::vector<FieldView<Scalar>>& fields)
{
    const ScopedTimer timer(profiler_, "gather");
    const Span<const double> none(noReference_.data(), inputLayout_.nColumns);
    input_.resize(static_cast<std::size_t>(mesh_.graph->nNodes())*inputLayout_.nColumns);
    NonFinite fault = gatherRows(inputLayout_, fields, none, Span<double>(input_));
    if (fault.field < 0 && edgeGather_.nColumns() > 0)
    {
        inputEdges_.resize(static_cast<std::size_t>(mesh_.graph->nEdges())*edgeGather_.nColumns());
        fault = edgeGather_.take(mesh_.graph, fields, inputEdges_.data());
    }
    if (fault.field >= 0)
    {
        throw Error("the fields of the rollout are not finite at its step "
            + std::to_string(step_));
    }
    getValues(fields, state_);
    inputMesh_ = mesh_;
    inputTime_ = now.time;
    fed_ = true;
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


template<class Value>
SlotPool::Handle Rollout::slotOf
(
    const std::vector<double>& values,
    const std::vector<double>& reference,
    std::optional<SlotPool>& pool
) const
{
    const std::size_t bytes = values.size()*sizeof(Value);
    if (!pool || pool->bytes() != bytes)
    {
        pool.emplace(bytes);
    }
    SlotPool::Handle slot = pool->acquire();
    Value* const result = static_cast<Value*>(slot.get());
    for (std::size_t i = 0; i < values.size(); ++i)
    {
        result[i] = static_cast<Value>(values[i] - reference[i % reference.size()]);
        if (!std::isfinite(result[i]))
        {
            throw Error("the rollout has diverged: at its step " + std::to_string(step_)
                + " a value is too large for the network's precision");
        }
    }
    return slot;
}


//- The input as a sample has it
template<class Value>
void Rollout::setInput()
{
    sample_.input = slotOf<Value>(input_, surrogate_->inputReference(), inputs_);
    if (edgeGather_.nColumns() > 0)
    {
        sample_.edges = slotOf<Value>(inputEdges_, noReference_, edges_);
    }
}


Span<const double> Rollout::advance(const Instant& now)
{
    const ScopedTimer timer(profiler_, "predict");
    sample_.time = inputTime_;
    sample_.mesh = inputMesh_;
    if (surrogate_->precision() == Precision::float64)
    {
        setInput<double>();
    }
    else
    {
        setInput<float>();
    }
    fed_ = false;
    interval_ = now.time - inputTime_;
    sample_.features.assign(surrogate_->card().features.size(), interval_);

    predicted_.resize(state_.size());
    surrogate_->predict(sample_, Span<double>(predicted_));
    sample_.input = nullptr;
    sample_.edges = nullptr;
    for (std::size_t i = 0; i < predicted_.size(); ++i)
    {
        state_[i] = predicted_[i] + (surrogate_->card().increment ? state_[i] : 0);
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
const RolloutErrors& Rollout::compare
(
    const std::vector<FieldView<Scalar>>& solver,
    const Comm& comm
)
{
    const ScopedTimer timer(profiler_, "compare");
    getValues(solver, truth_);
    const std::size_t nColumns = fieldOfColumn_.size();
    const std::size_t nFields = static_cast<std::size_t>(fieldOfColumn_.back()) + 1;

    // Squares of error, of that of persistence, of the truth, and the number of entries
    sums_.assign(4*nFields, 0.0);
    for (std::size_t i = 0; i < truth_.size(); ++i)
    {
        double* sum = &sums_[4*static_cast<std::size_t>(fieldOfColumn_[i % nColumns])];
        const double error = state_[i] - truth_[i];
        const double still = start_[i] - truth_[i];
        sum[0] += error*error;
        sum[1] += still*still;
        sum[2] += truth_[i]*truth_[i];
        sum[3] += 1;
    }
    comm.sum(Span<double>(sums_));

    errors_.step = step_;
    for (std::vector<double>* measure : {&errors_.rmse, &errors_.relative, &errors_.persistence})
    {
        measure->resize(nFields);
    }
    for (std::size_t field = 0; field < nFields; ++field)
    {
        const double* sum = &sums_[4*field];
        errors_.rmse[field] = std::sqrt(sum[0]/sum[3]);
        errors_.relative[field] = std::sqrt(sum[0]/sum[2]);
        errors_.persistence[field] = std::sqrt(sum[1]/sum[2]);
    }
    return errors_;
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
    StateTree state;
    state.putInt("step", step_);
    state.putInt("waited", waited_);
    state.putDouble("inputTime", inputTime_);
    return state;
}


StateTree Rollout::saveValues() const
{
    MeshArchive meshes(mesh_);
    meshes.add(inputMesh_);

    StateTree values;
    values.put("start", start_);
    values.put("state", state_);
    values.put("input", input_);
    values.put("edges", inputEdges_);
    values.putTree("meshes", meshes.save({mesh_}));
    return values;
}


void Rollout::load(const StateTree& state, const StateTree& values)
{
    const auto entry = [&](const char* name, std::int64_t nRows, int nColumns)
    {
        std::vector<double> saved = values.get<double>(name);
        const auto size = static_cast<std::size_t>(nRows)*nColumns;
        if (saved.size() != size)
        {
            throw Error("the saved rollout has " + std::to_string(saved.size()) + " values in "
                + name + ", mesh and model here " + std::to_string(size));
        }
        return saved;
    };
    const std::int64_t nCells = mesh_.graph->nCells();
    std::vector<double> start = entry("start", nCells, targetLayout_.nColumns);
    std::vector<double> present = entry("state", nCells, targetLayout_.nColumns);
    std::vector<double> input = entry("input", mesh_.graph->nNodes(), inputLayout_.nColumns);
    MeshState inputMesh = MeshArchive::load(values.subTree("meshes"), mesh_).at(0);
    std::vector<double> edges =
        entry("edges", inputMesh.graph->nEdges(), edgeGather_.nColumns());

    step_ = state.getInt("step");
    waited_ = state.getInt("waited");
    inputTime_ = state.getDouble("inputTime");
    begun_ = true;
    fed_ = true;
    start_ = std::move(start);
    state_ = std::move(present);
    input_ = std::move(input);
    inputEdges_ = std::move(edges);
    inputMesh_ = std::move(inputMesh);
}


void Rollout::reset()
{
    begun_ = false;
    fed_ = false;
    step_ = 0;
    waited_ = 0;
}


#define INSITU_ROLLOUT_OF(Scalar)                                                                  \
    template void Rollout::begin(const std::vector<FieldView<Scalar>>&);                           \
    template void Rollout::setStart(const std::vector<FieldView<Scalar>>&);                        \
    template void Rollout::feed(const Instant&, const std::vector<FieldView<Scalar>>&);            \
    template const RolloutErrors& Rollout::compare(const std::vector<FieldView<Scalar>>&,          \
        const Comm&);

INSITU_ROLLOUT_OF(float)
INSITU_ROLLOUT_OF(double)

#undef INSITU_ROLLOUT_OF

}
