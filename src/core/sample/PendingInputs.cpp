// SPDX-License-Identifier: GPL-3.0-or-later
#include "sample/PendingInputs.hpp"

#include "base/Error.hpp"
#include "sample/slotState.hpp"

#include <algorithm>
#include <string>

namespace inSitu
{
namespace
{

template<class Value>
void subtract(const double* values, const double* previous, std::size_t n, void* out)
{
    Value* result = static_cast<Value*>(out);
    for (std::size_t i = 0; i < n; ++i)
    {
        result[i] = static_cast<Value>(values[i] - previous[i]);
    }
}


template<class Value>
void subtractReference
(
    const double* values,
    Span<const double> reference,
    std::size_t nRows,
    void* out
)
{
    Value* result = static_cast<Value*>(out);
    for (std::size_t row = 0; row < nRows; ++row)
    {
        for (const double shift : reference)
        {
            *result++ = static_cast<Value>(*values++ - shift);
        }
    }
}


//- A slot with these values, cast to Value
template<class Value>
SlotPool::Handle slotWith(Span<const double> values, SlotPool& pool)
{
    if (values.size()*sizeof(Value) != pool.bytes())
    {
        throw Error(std::to_string(values.size()) + " values were carried over to the new mesh, "
            "but a snapshot there has " + std::to_string(pool.bytes()/sizeof(Value)));
    }
    SlotPool::Handle slot = pool.acquire();
    std::transform(values.begin(), values.end(), static_cast<Value*>(slot.get()),
        [](double value) { return static_cast<Value>(value); });
    return slot;
}


MeshState onRowsOf(const MeshState& present, MeshState mesh)
{
    mesh.inner = present.inner;
    return mesh;
}

}


PendingInputs::PendingInputs
(
    Horizon horizon,
    bool increment,
    int nTargetColumns,
    Precision precision
)
:
    horizon_(horizon),
    increment_(increment),
    nTargetColumns_(nTargetColumns),
    precision_(precision)
{
    const bool inSteps = !(horizon.seconds > 0);
    if (inSteps && (horizon.steps < 0 || (horizon.steps == 0 && increment)))
    {
        throw Error("horizon " + std::to_string(horizon.steps) + " with target "
            + (increment ? "increment" : "value") + " leaves nothing to learn; increments need"
            " a horizon of at least 1, values of at least 0");
    }
    if (inSteps)
    {
        waiting_.reserve(static_cast<std::size_t>(horizon.steps) + 1);
    }
}


bool PendingInputs::push(Snapshot snapshot, std::size_t maxWaiting)
{
    if (!waiting_.empty() && waiting_.back().mesh.rows() != snapshot.mesh.rows())
    {
        throw Error("a snapshot on new cells cannot complete those on the old ones;"
            " drop them or carry them over first");
    }

    now_ = snapshot;
    now_.input = nullptr;
    now_.edges = nullptr;
    if (waiting_.size() >= maxWaiting)
    {
        return false;
    }
    waiting_.push_back(std::move(snapshot));
    return true;
}


bool PendingInputs::isDue(const Snapshot& snapshot) const
{
    return horizon_.seconds > 0
      ? now_.time - snapshot.time >= horizon_.seconds*(1 - 1e-6)
      : waiting_.size() > static_cast<std::size_t>(horizon_.steps);
}


std::optional<PendingInputs::Completed> PendingInputs::next(SlotPool& targets)
{
    if (waiting_.empty() || !isDue(waiting_.front()))
    {
        return std::nullopt;
    }

    Snapshot& then = waiting_.front();
    const auto nCells = static_cast<std::size_t>(then.mesh.graph->nCells());
    if (targets.bytes() != nCells*nTargetColumns_*bytesOf(precision_))
    {
        throw Error("target slots of " + std::to_string(targets.bytes()) + " bytes do not fit "
            + std::to_string(nCells) + " cells with " + std::to_string(nTargetColumns_)
            + " target columns");
    }

    Completed completed;
    Sample& sample = completed.sample;
    sample.target = targets.acquire();

    const bool isNow = then.timeIndex == now_.timeIndex;
    completed.deltaT = isNow ? now_.deltaT : now_.time - then.time;
    completed.valueNow = now_.target;
    completed.valueThen = std::move(then.target);
    sample.time = then.time;
    sample.mesh = std::move(then.mesh);
    sample.mesh.inner = nullptr;
    sample.input = std::move(then.input);
    sample.edges = std::move(then.edges);
    waiting_.erase(waiting_.begin());
    return completed;
}


void PendingInputs::formTarget
(
    const Completed& completed,
    Span<const double> targetReference
) const
{
    const auto nCells = static_cast<std::size_t>(completed.sample.mesh.graph->nCells());
    const auto* now = static_cast<const double*>(completed.valueNow.get());
    void* target = completed.sample.target.get();
    const bool wide = precision_ == Precision::float64;
    if (increment_)
    {
        const auto* then = static_cast<const double*>(completed.valueThen.get());
        (wide ? subtract<double> : subtract<float>)(now, then, nCells*nTargetColumns_, target);
        return;
    }
    if (targetReference.size() != static_cast<std::size_t>(nTargetColumns_))
    {
        throw Error(std::to_string(targetReference.size()) + " references do not fit "
            + std::to_string(nTargetColumns_) + " target columns");
    }
    (wide ? subtractReference<double> : subtractReference<float>)
        (now, targetReference, nCells, target);
}


int PendingInputs::drop()
{
    const int lost = static_cast<int>(waiting_.size());
    waiting_.clear();
    return lost;
}


void PendingInputs::carryOver
(
    const MeshState& mesh,
    const std::vector<Values>& values,
    SlotPool& inputs,
    SlotPool& rawTargets
)
{
    if (values.size() != waiting_.size())
    {
        throw Error(std::to_string(values.size()) + " inputs were carried over to the new mesh, "
            + std::to_string(waiting_.size()) + " wait");
    }

    const auto inputSlot = precision_ == Precision::float64 ? slotWith<double> : slotWith<float>;
    std::vector<Snapshot> carried = waiting_;
    for (std::size_t i = 0; i < carried.size(); ++i)
    {
        carried[i].mesh = mesh;
        carried[i].input = inputSlot(values[i].input, inputs);
        carried[i].target = slotWith<double>(values[i].target, rawTargets);
    }
    waiting_.swap(carried);
}


StateTree PendingInputs::save() const
{
    std::vector<double> times, deltaTs;
    std::vector<std::int64_t> timeIndices;
    for (const Snapshot& snapshot : waiting_)
    {
        times.push_back(snapshot.time);
        deltaTs.push_back(snapshot.deltaT);
        timeIndices.push_back(snapshot.timeIndex);
    }
    StateTree state;
    state.put("time", times);
    state.put("deltaT", deltaTs);
    state.put("timeIndex", timeIndices);
    return state;
}


StateTree PendingInputs::saveValues
(
    int nInputColumns,
    int nEdgeColumns,
    const MeshState& present
) const
{
    StateTree values;
    MeshArchive meshes(present);
    std::vector<std::int64_t> meshNumbers;
    for (std::size_t i = 0; i < waiting_.size(); ++i)
    {
        const Snapshot& snapshot = waiting_[i];
        const std::string name = std::to_string(i);
        const MeshGraph& graph = *snapshot.mesh.graph;
        values.putArray("input/" + name,
            slotArray(snapshot.input, realType(precision_), graph.nNodes(), nInputColumns));
        values.putArray("target/" + name, slotArray(snapshot.target, StateTree::Type::float64,
            graph.nCells(), nTargetColumns_));
        if (snapshot.edges)
        {
            values.putArray("edges/" + name, slotArray(snapshot.edges, realType(precision_),
                graph.nEdges(), nEdgeColumns));
        }
        meshNumbers.push_back(meshes.add(snapshot.mesh));
    }
    values.put("mesh", meshNumbers);
    values.putTree("meshes", meshes.save({present}));
    return values;
}


void PendingInputs::load
(
    const StateTree& state,
    const StateTree& values,
    const MeshState& present,
    SlotPool& inputs,
    SlotPool& rawTargets,
    SlotPool* edges
)
{
    const std::vector<double> times = state.get<double>("time");
    std::vector<double> deltaTs(times.size());
    std::vector<std::int64_t> timeIndices(times.size()), meshNumbers(times.size());
    state.get("deltaT", Span<double>(deltaTs));
    state.get("timeIndex", Span<std::int64_t>(timeIndices));
    values.get("mesh", Span<std::int64_t>(meshNumbers));
    const MeshArchive meshes = MeshArchive::load(values.subTree("meshes"), present);

    std::vector<Snapshot> loaded;
    loaded.reserve(waiting_.capacity());
    for (std::size_t i = 0; i < times.size(); ++i)
    {
        const std::string name = std::to_string(i);
        loaded.push_back
        ({
            times[i],
            timeIndices[i],
            deltaTs[i],
            onRowsOf(present, meshes.at(meshNumbers[i])),
            slotFrom(values, "input/" + name, realType(precision_), inputs),
            slotFrom(values, "target/" + name, StateTree::Type::float64, rawTargets),
            edges ? slotFrom(values, "edges/" + name, realType(precision_), *edges) : nullptr
        });
    }
    if (!(horizon_.seconds > 0) && loaded.size() > static_cast<std::size_t>(horizon_.steps))
    {
        throw Error(std::to_string(loaded.size()) + " saved inputs wait for a target, more than"
            " the horizon of " + std::to_string(horizon_.steps));
    }
    waiting_ = std::move(loaded);
}

}
