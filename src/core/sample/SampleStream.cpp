// SPDX-License-Identifier: GPL-3.0-or-later
#include "sample/SampleStream.hpp"

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


SampleStream::SampleStream(Layout layout, int horizon, bool increment, Precision precision)
:
    layout_(std::move(layout)),
    increment_(increment),
    precision_(precision),
    inputs_(bytesOfRows(layout_.nRows, layout_.input.nColumns, bytesOf(precision))),
    targets_(bytesOfRows(layout_.nCells, layout_.target.nColumns, bytesOf(precision))),
    rawTargets_(bytesOfRows(layout_.nCells, layout_.target.nColumns, sizeof(double))),
    pending_(horizon, increment, layout_.target.nColumns, precision),
    noReference_(layout_.target.nColumns, 0.0)
{}


std::size_t SampleStream::bytesPerSample() const
{
    return inputs_.bytes() + targets_.bytes();
}


template<class Scalar>
void SampleStream::fixReferences(const std::vector<FieldView<Scalar>>& views, const Comm& comm)
{
    const auto means = [&](const RowLayout& layout)
    {
        std::vector<double> sums = columnSums(layout, views);
        comm.sum(Span<double>(sums));
        for (double& sum : sums)
        {
            sum /= static_cast<double>(layout_.nCellsGlobal);
        }
        return sums;
    };
    inputReference_ = means(layout_.input);
    targetReference_ = increment_ ? noReference_ : means(layout_.target);
}


template<class Scalar>
SampleStream::Taken SampleStream::take
(
    double time,
    std::int64_t timeIndex,
    const MeshState& mesh,
    const std::vector<FieldView<Scalar>>& views,
    const Comm& comm
)
{
    const bool first = inputReference_.empty();
    if (first)
    {
        fixReferences(views, comm);
    }

    Taken taken;
    Snapshot snapshot{time, timeIndex, mesh, inputs_.acquire(), rawTargets_.acquire()};

    taken.fault = precision_ == Precision::float32
      ? gatherRows(layout_.input, views, Span<const double>(inputReference_),
            spanOf<float>(snapshot.input, layout_.nRows, layout_.input.nColumns))
      : gatherRows(layout_.input, views, Span<const double>(inputReference_),
            spanOf<double>(snapshot.input, layout_.nRows, layout_.input.nColumns));
    if (taken.fault.field < 0)
    {
        taken.fault = gatherRows(layout_.target, views, Span<const double>(noReference_),
            spanOf<double>(snapshot.target, layout_.nCells, layout_.target.nColumns));
    }
    if (taken.fault.field >= 0)
    {
        if (first)
        {
            // A reference made of NaN would spoil every later snapshot
            inputReference_.clear();
        }
        return taken;
    }

    const SlotPool::Handle valueNow = snapshot.target;
    const SlotPool::Handle valueThen =
        pending_.snapshots().empty() ? valueNow : pending_.snapshots().front().target;

    std::optional<Sample> sample =
        pending_.push(std::move(snapshot), Span<const double>(targetReference_), targets_);
    if (sample)
    {
        sample->id = nSamples_++;
        taken.completed = Completed{std::move(*sample), valueThen, valueNow};
    }
    return taken;
}


StateTree SampleStream::save() const
{
    StateTree state;
    state.put("inputReference", inputReference_);
    state.put("targetReference", targetReference_);
    state.putInt("samples", nSamples_);
    state.putTree("pending",
        pending_.save(layout_.nRows, layout_.input.nColumns, layout_.nCells));
    return state;
}


void SampleStream::load(const StateTree& state, const MeshState& mesh)
{
    inputReference_ = state.get<double>("inputReference");
    targetReference_ = state.get<double>("targetReference");
    nSamples_ = state.getInt("samples");
    pending_.load(state.subTree("pending"), mesh, inputs_, rawTargets_);
}


template SampleStream::Taken SampleStream::take(double, std::int64_t, const MeshState&,
    const std::vector<FieldView<float>>&, const Comm&);
template SampleStream::Taken SampleStream::take(double, std::int64_t, const MeshState&,
    const std::vector<FieldView<double>>&, const Comm&);

}
