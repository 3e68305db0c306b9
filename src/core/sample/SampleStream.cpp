// SPDX-License-Identifier: GPL-3.0-or-later
#include "sample/SampleStream.hpp"

#include "base/Error.hpp"
#include "base/agree.hpp"

#include <algorithm>

namespace inSitu
{
namespace
{

std::size_t bytesOfRows(std::int64_t nRows, int nColumns, int bytesPerValue)
{
    return static_cast<std::size_t>(nRows)*nColumns*bytesPerValue;
}


template<class T>
Span<T> spanOf(const SlotPool::Handle& slot, std::int64_t nRows, int nColumns)
{
    return {static_cast<T*>(slot.get()), static_cast<std::size_t>(nRows)*nColumns};
}

}


SampleStream::SampleStream(Layout layout, const MeshState& mesh)
:
    layout_(std::move(layout)),
    mesh_(mesh),
    edgeGather_(layout_.edges, layout_.precision),
    pending_(layout_.horizon, layout_.increment, layout_.target.nColumns, layout_.precision),
    noReference_(layout_.target.nColumns, 0.0)
{
    makeSlots();
}


// The pools of a mesh of the same size stay
void SampleStream::makeSlots()
{
    const auto fit = [](std::optional<SlotPool>& pool, std::size_t bytes)
    {
        if (!pool || pool->bytes() != bytes)
        {
            pool.emplace(bytes);
        }
    };
    const int size = bytesOf(layout_.precision);
    fit(inputs_, bytesOfRows(nRows(), layout_.input.nColumns, size));
    fit(targets_, bytesOfRows(nCells(), layout_.target.nColumns, size));
    fit(rawTargets_, bytesOfRows(nCells(), layout_.target.nColumns, sizeof(double)));
    if (edgeGather_.nColumns() > 0)
    {
        fit(edges_, edgeGather_.bytes(*mesh_.graph));
    }
}


std::size_t SampleStream::bytesPerSample() const
{
    return inputs_->bytes() + targets_->bytes() + (edges_ ? edges_->bytes() : 0);
}


std::size_t SampleStream::bytesPerPending() const
{
    return inputs_->bytes() + rawTargets_->bytes() + (edges_ ? edges_->bytes() : 0);
}


template<class Scalar>
void SampleStream::fixReferences(const std::vector<FieldView<Scalar>>& views, const Comm& comm)
{
    double nCellsGlobal = static_cast<double>(nCells());
    comm.sum(Span<double>(&nCellsGlobal, 1));

    const auto means = [&](const RowLayout& layout)
    {
        std::vector<double> sums = columnSums(layout, views);
        comm.sum(Span<double>(sums));
        for (double& sum : sums)
        {
            sum /= nCellsGlobal;
        }
        return sums;
    };
    inputReference_ = means(layout_.input);
    targetReference_ = layout_.increment ? noReference_ : means(layout_.target);
}


void SampleStream::setReferences(std::vector<double> input, std::vector<double> target)
{
    if (input.size() != static_cast<std::size_t>(layout_.input.nColumns)
     || target.size() != static_cast<std::size_t>(layout_.target.nColumns))
    {
        throw Error(std::to_string(input.size()) + " and " + std::to_string(target.size())
            + " references for " + std::to_string(layout_.input.nColumns) + " input and "
            + std::to_string(layout_.target.nColumns) + " target columns");
    }
    inputReference_ = std::move(input);
    targetReference_ = std::move(target);
}


//- Inputs and targets are mostly of the same fields
template<class Value, class Scalar>
NonFinite SampleStream::gatherInto
(
    Snapshot& snapshot,
    const std::vector<FieldView<Scalar>>& views,
    ThreadPool* team
) const
{
    constexpr std::int64_t bandRows = RowGather<Scalar, Value>::rowsOfTurn;
    RowGather<Scalar, Value> input(layout_.input, views, Span<const double>(inputReference_),
        spanOf<Value>(snapshot.input, nRows(), layout_.input.nColumns), bandRows);
    RowGather<Scalar, double> target(layout_.target, views, Span<const double>(noReference_),
        spanOf<double>(snapshot.target, nCells(), layout_.target.nColumns), bandRows);
    const auto take = [&](int band)
    {
        if (band < input.nBands())
        {
            input.take(band);
        }
        if (band < target.nBands())
        {
            target.take(band);
        }
    };

    constexpr int leastForTeam = 128;       // fewer bands are done before others are awake
    constexpr int bandsPerTurn = 8;
    const int nBands = std::max(input.nBands(), target.nBands());
    const auto takeUpTo = [&](int end, int n)
    {
        for (int band = std::max(end - n, 0); band < end; ++band)
        {
            take(band);
        }
    };
    if (team && nBands >= leastForTeam)
    {
        // The patches first: they are the longest
        team->run((nBands + bandsPerTurn - 1)/bandsPerTurn, [&](int turn, int)
            { takeUpTo(nBands - turn*bandsPerTurn, bandsPerTurn); });
    }
    else
    {
        takeUpTo(nBands, nBands);
    }
    const NonFinite fault = input.fault();
    return fault.field < 0 ? target.fault() : fault;
}


template<class Scalar>
SampleStream::Taken SampleStream::take
(
    const Instant& now,
    const std::vector<FieldView<Scalar>>& views,
    const Comm& comm,
    ThreadPool* team
)
{
    const bool first = inputReference_.empty();
    if (first)
    {
        fixReferences(views, comm);
    }

    Taken taken;
    pending_.releasePresent();
    Snapshot snapshot
        {now.time, now.timeIndex, now.deltaT, mesh_, inputs_->acquire(), rawTargets_->acquire()};

    taken.fault = layout_.precision == Precision::float32
      ? gatherInto<float>(snapshot, views, team)
      : gatherInto<double>(snapshot, views, team);
    if (taken.fault.field < 0 && edges_)
    {
        snapshot.edges = edges_->acquire();
        taken.fault = edgeGather_.take(mesh_.graph, views, snapshot.edges.get());
    }
    taken.good = !anyRank(comm, taken.fault.field >= 0);
    if (!taken.good)
    {
        if (first)
        {
            // A reference made of NaN would spoil every later snapshot
            inputReference_.clear();
        }
        return taken;
    }

    taken.kept = pending_.push(std::move(snapshot), maxWaiting_);
    return taken;
}


std::optional<PendingInputs::Completed> SampleStream::next()
{
    std::optional<PendingInputs::Completed> completed = pending_.next(*targets_);
    if (completed)
    {
        Sample& sample = completed->sample;
        sample.id = nSamples_++;
        sample.features = std::move(spareFeatures_);
        sample.features.assign(layout_.features.size(), completed->deltaT);
    }
    return completed;
}


void SampleStream::getPending(std::size_t i, PendingAccess::Pending& pending) const
{
    const Snapshot& snapshot = pending_.snapshots()[i];
    const auto copy = [](const auto* values, std::int64_t nRows, int nColumns,
        std::vector<double>& result)
    {
        result.assign(values, values + nRows*nColumns);
    };

    pending.timeIndex = snapshot.timeIndex;
    copy(static_cast<const double*>(snapshot.target.get()), nCells(), layout_.target.nColumns,
        pending.target);
    if (layout_.precision == Precision::float64)
    {
        copy(static_cast<const double*>(snapshot.input.get()), nRows(), layout_.input.nColumns,
            pending.input);
    }
    else
    {
        copy(static_cast<const float*>(snapshot.input.get()), nRows(), layout_.input.nColumns,
            pending.input);
    }
}


int SampleStream::setTopology
(
    const MeshState& mesh,
    const std::vector<PendingInputs::Values>& pending
)
{
    mesh_ = mesh;
    makeSlots();
    if (pending.empty() || edges_)
    {
        return drop();
    }
    pending_.carryOver(mesh_, pending, *inputs_, *rawTargets_);
    return 0;
}


StateTree SampleStream::save() const
{
    StateTree state;
    state.put("inputReference", inputReference_);
    state.put("targetReference", targetReference_);
    state.putInt("samples", nSamples_);
    state.putTree("pending", pending_.save());
    return state;
}


StateTree SampleStream::saveWaiting() const
{
    return pending_.saveValues(layout_.input.nColumns, layout_.edges.nColumns(), mesh_);
}


int SampleStream::load(const StateTree& state, const StateTree* waiting)
{
    inputReference_ = state.get<double>("inputReference");
    targetReference_ = state.get<double>("targetReference");
    nSamples_ = state.getInt("samples");
    const StateTree pending = state.subTree("pending");
    if (!waiting)
    {
        return static_cast<int>(pending.getArray("time").count());
    }
    pending_.load(pending, *waiting, mesh_, *inputs_, *rawTargets_, edges_ ? &*edges_ : nullptr);
    return 0;
}


template SampleStream::Taken SampleStream::take(const Instant&,
    const std::vector<FieldView<float>>&, const Comm&, ThreadPool*);
template SampleStream::Taken SampleStream::take(const Instant&,
    const std::vector<FieldView<double>>&, const Comm&, ThreadPool*);

}
