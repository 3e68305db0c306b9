// SPDX-License-Identifier: GPL-3.0-or-later
#include "infer/Comparison.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace inSitu
{

Comparison::Comparison
(
    Surrogate& surrogate,
    const SampleStream::Layout& layout,
    const CaseMesh& mesh,
    std::vector<int> fieldOfColumn,
    Profiler& profiler
)
:
    surrogate_(&surrogate),
    profiler_(profiler),
    stream_(layout, mesh.state),
    errors_(std::move(fieldOfColumn))
{
    replace(surrogate);
}


void Comparison::replace(Surrogate& surrogate)
{
    surrogate_ = &surrogate;
    stream_.drop();
    stream_.setReferences(surrogate.inputReference(),
        std::vector<double>(stream_.layout().target.nColumns, 0.0));
}


template<class Scalar>
SampleStream::Taken Comparison::execute
(
    const Instant& now,
    const std::vector<FieldView<Scalar>>& views,
    const Comm& comm
)
{
    hasPrediction_ = false;
    const SampleStream::Taken taken = [&]
    {
        const ScopedTimer timer(profiler_, "gather");
        return stream_.take(now, views, comm);
    }();
    if (taken.good)
    {
        while (std::optional<PendingInputs::Completed> completed = stream_.next())
        {
            interval_ = completed->deltaT;
            compare(*completed, comm);
            stream_.recycle(std::move(completed->sample));
        }
    }
    return taken;
}


void Comparison::compare(const PendingInputs::Completed& completed, const Comm& comm)
{
    const MeshState& mesh = completed.sample.mesh;
    const auto n = static_cast<std::size_t>(mesh.graph->nCells())*stream_.layout().target.nColumns;
    const Span<const double> then(static_cast<const double*>(completed.valueThen.get()), n);
    const Span<const double> now(static_cast<const double*>(completed.valueNow.get()), n);

    {
        const ScopedTimer timer(profiler_, "predict");
        predicted_.resize(n);
        surrogate_->predict(completed.sample, Span<double>(predicted_));
        if (surrogate_->card().increment)
        {
            std::transform(predicted_.begin(), predicted_.end(), then.begin(), predicted_.begin(),
                [](double increment, double value) { return value + increment; });
        }
    }
    const ScopedTimer timer(profiler_, "compare");
    double bad = 0;
    for (const double value : predicted_)
    {
        bad = std::isfinite(value) ? bad : 1;
    }
    comm.max(Span<double>(&bad, 1));

    // Not for the eyes of anything that works on the solver's fields
    hasPrediction_ = bad == 0;
    if (hasPrediction_)
    {
        errors_.add(Span<const double>(predicted_), now, then, mesh.ids.get(), comm);
    }
    else
    {
        ++nNonFinite_;
    }
}


Span<const double> Comparison::prediction() const
{
    return hasPrediction_ ? Span<const double>(predicted_) : Span<const double>();
}


template SampleStream::Taken Comparison::execute(const Instant&,
    const std::vector<FieldView<float>>&, const Comm&);
template SampleStream::Taken Comparison::execute(const Instant&,
    const std::vector<FieldView<double>>&, const Comm&);

}
