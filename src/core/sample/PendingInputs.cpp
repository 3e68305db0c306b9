// SPDX-License-Identifier: GPL-3.0-or-later
#include "sample/PendingInputs.hpp"

#include "base/Error.hpp"
#include "sample/slotState.hpp"

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

}


PendingInputs::PendingInputs(int horizon, bool increment, int nTargetColumns, Precision precision)
:
    horizon_(horizon),
    increment_(increment),
    nTargetColumns_(nTargetColumns),
    precision_(precision)
{
    if (horizon < 0 || (horizon == 0 && increment))
    {
        throw Error("horizon " + std::to_string(horizon) + " with target "
            + (increment ? "increment" : "value") + " leaves nothing to learn; increments need"
            " a horizon of at least 1, values of at least 0");
    }
    pending_.reserve(static_cast<std::size_t>(horizon) + 1);
}


std::optional<Sample> PendingInputs::push
(
    Snapshot snapshot,
    Span<const double> targetReference,
    SlotPool& targets
)
{
    if (!pending_.empty() && pending_.back().mesh.graph != snapshot.mesh.graph)
    {
        throw Error("a snapshot on a new graph cannot complete those on the old one;"
            " drop them first");
    }
    pending_.push_back(std::move(snapshot));
    if (pending_.size() <= static_cast<std::size_t>(horizon_))
    {
        return std::nullopt;
    }

    const Snapshot& now = pending_.back();
    const Snapshot& then = pending_.front();
    const auto nCells = static_cast<std::size_t>(now.mesh.graph->nCells());
    const std::size_t n = nCells*nTargetColumns_;
    if
    (
        targets.bytes() != n*bytesOf(precision_)
     || (!increment_ && targetReference.size() != static_cast<std::size_t>(nTargetColumns_))
    )
    {
        throw Error("target slots of " + std::to_string(targets.bytes()) + " bytes or "
            + std::to_string(targetReference.size()) + " references do not fit "
            + std::to_string(nCells) + " cells with " + std::to_string(nTargetColumns_)
            + " target columns");
    }

    const double* values = static_cast<const double*>(now.target.get());
    const double* previous = static_cast<const double*>(then.target.get());
    const bool wide = precision_ == Precision::float64;

    Sample sample;
    sample.target = targets.acquire();
    if (increment_)
    {
        (wide ? subtract<double> : subtract<float>)(values, previous, n, sample.target.get());
    }
    else
    {
        (wide ? subtractReference<double> : subtractReference<float>)
            (values, targetReference, nCells, sample.target.get());
    }

    Snapshot& completed = pending_.front();
    sample.time = completed.time;
    sample.mesh = std::move(completed.mesh);
    sample.input = std::move(completed.input);
    pending_.erase(pending_.begin());
    return sample;
}


int PendingInputs::drop()
{
    const int lost = static_cast<int>(pending_.size());
    pending_.clear();
    return lost;
}


StateTree PendingInputs::save
(
    std::int64_t nRows,
    int nInputColumns,
    std::int64_t nCells
) const
{
    StateTree state;
    std::vector<double> times;
    std::vector<std::int64_t> timeIndices;
    for (const Snapshot& snapshot : pending_)
    {
        const std::string name = std::to_string(times.size());
        state.putArray("input/" + name,
            slotArray(snapshot.input, realType(precision_), nRows, nInputColumns));
        state.putArray("target/" + name,
            slotArray(snapshot.target, StateTree::Type::float64, nCells, nTargetColumns_));
        times.push_back(snapshot.time);
        timeIndices.push_back(snapshot.timeIndex);
    }
    state.put("time", times);
    state.put("timeIndex", timeIndices);
    return state;
}


void PendingInputs::load
(
    const StateTree& state,
    const MeshState& mesh,
    SlotPool& inputs,
    SlotPool& rawTargets
)
{
    const std::vector<double> times = state.get<double>("time");
    std::vector<std::int64_t> timeIndices(times.size());
    state.get("timeIndex", Span<std::int64_t>(timeIndices));

    std::vector<Snapshot> loaded;
    loaded.reserve(static_cast<std::size_t>(horizon_) + 1);
    for (std::size_t i = 0; i < times.size(); ++i)
    {
        const std::string name = std::to_string(i);
        loaded.push_back
        ({
            times[i],
            timeIndices[i],
            mesh,
            slotFrom(state, "input/" + name, realType(precision_), inputs),
            slotFrom(state, "target/" + name, StateTree::Type::float64, rawTargets)
        });
    }
    if (loaded.size() > static_cast<std::size_t>(horizon_))
    {
        throw Error(std::to_string(loaded.size()) + " saved inputs wait for a target, more than"
            " the horizon of " + std::to_string(horizon_));
    }
    pending_ = std::move(loaded);
}

}
