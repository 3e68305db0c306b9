// SPDX-License-Identifier: GPL-3.0-or-later
#include "sample/Normaliser.hpp"

#include "base/Error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace inSitu
{
namespace
{

// Of the deviation of the field's values: below it a column counts as constant
constexpr double deviationFloor = 1e-6;

// Of the size of the field's values: what rounding leaves of a constant
constexpr double roundingFloor = 1e-12;


// sums[c] and sums[n + c]: first and second power of the distance of column c from its pivot
template<class Value>
void sumAbout
(
    Span<const Value> rows,
    std::int64_t nRows,
    const std::vector<double>& pivot,
    double* sums
)
{
    const std::size_t n = pivot.size();
    const Value* value = rows.data();
    for (std::int64_t row = 0; row < nRows; ++row)
    {
        for (std::size_t c = 0; c < n; ++c)
        {
            const double distance = static_cast<double>(*value++) - pivot[c];
            sums[c] += distance;
            sums[n + c] += distance*distance;
        }
    }
}


// Root mean square of the deviations over the columns of each field, per column
std::vector<double> fieldDeviation
(
    const std::vector<double>& variance,
    const std::vector<int>& field
)
{
    std::vector<double> result;
    for (const int own : field)
    {
        double sum = 0;
        int count = 0;
        for (std::size_t c = 0; c < field.size(); ++c)
        {
            sum += field[c] == own ? variance[c] : 0;
            count += field[c] == own;
        }
        result.push_back(std::sqrt(sum/count));
    }
    return result;
}


double scaleOf(double deviation, double fieldDeviation, double size)
{
    const double scale = std::max({deviation, deviationFloor*fieldDeviation,
        roundingFloor*std::abs(size)});
    return scale > 0 ? scale : 1;
}


void requireColumns(std::size_t size, std::size_t expected, const char* what)
{
    if (size != expected)
    {
        throw Error(std::string("the normaliser was given ") + std::to_string(size) + ' ' + what
            + ", expected " + std::to_string(expected));
    }
}

}


RunningMoments::RunningMoments(int nColumns)
:
    mean_(nColumns, 0.0),
    m2_(nColumns, 0.0),
    pivot_(nColumns),
    sums_(2*static_cast<std::size_t>(nColumns) + 1)
{}


template<class Value>
void RunningMoments::add
(
    Span<const Value> rows,
    std::int64_t nRows,
    const Comm& comm,
    std::optional<double> batchWeight
)
{
    const std::size_t n = mean_.size();
    requireColumns(rows.size(), nRows*n, "values");

    for (std::size_t c = 0; c < n; ++c)
    {
        pivot_[c] = nRows > 0
          ? static_cast<double>(rows[c])
          : std::numeric_limits<double>::lowest();
    }
    comm.max(Span<double>(pivot_));

    std::fill(sums_.begin(), sums_.end(), 0.0);
    sumAbout(rows, nRows, pivot_, sums_.data());
    sums_.back() = static_cast<double>(nRows);
    comm.sum(Span<double>(sums_));

    const double allRows = sums_.back();
    if (allRows == 0)
    {
        return;
    }
    const double added = batchWeight.value_or(allRows);
    const double total = weight_ + added;
    for (std::size_t c = 0; c < n; ++c)
    {
        const double distance = sums_[c]/allRows;
        const double mean = pivot_[c] + distance;
        const double m2 = std::max(0.0, sums_[n + c] - sums_[c]*distance)*(added/allRows);
        const double step = mean - mean_[c];
        if (weight_ > 0)
        {
            mean_[c] += step*(added/total);
            m2_[c] += m2 + step*step*(weight_*added/total);
        }
        else
        {
            mean_[c] = mean;
            m2_[c] = m2;
        }
    }
    weight_ = total;
}


void RunningMoments::forget(double maximumWeight)
{
    if (weight_ > maximumWeight)
    {
        for (double& m2 : m2_)
        {
            m2 *= maximumWeight/weight_;
        }
        weight_ = maximumWeight;
    }
}


std::vector<double> RunningMoments::variance() const
{
    std::vector<double> result(m2_);
    for (double& value : result)
    {
        value = weight_ > 0 ? value/weight_ : 0;
    }
    return result;
}


StateTree RunningMoments::save() const
{
    StateTree state;
    state.putDouble("weight", weight_);
    state.put("mean", mean_);
    state.put("m2", m2_);
    return state;
}


void RunningMoments::load(const StateTree& state)
{
    const double weight = state.getDouble("weight");
    std::vector<double> mean(mean_.size());
    std::vector<double> m2(m2_.size());
    state.get("mean", Span<double>(mean));
    state.get("m2", Span<double>(m2));
    weight_ = weight;
    mean_ = std::move(mean);
    m2_ = std::move(m2);
}


std::vector<double> staticScales(const std::vector<std::string>& columns, const MeshScales& scales)
{
    std::vector<double> result;
    for (const std::string& column : columns)
    {
        result.push_back(column == "wallDistance" ? scales.edgeLength
          : column == "cellVolume" ? scales.cellVolume
          : 1);
    }
    return result;
}


Normaliser::Normaliser(Layout layout, double memory, std::optional<std::int64_t> freezeAfter)
:
    layout_(std::move(layout)),
    memory_(memory),
    freezeAfter_(freezeAfter),
    input_(layout_.nInputColumns),
    target_(layout_.nTargetColumns),
    value_(layout_.nTargetColumns),
    feature_(layout_.nFeatures),
    edge_(static_cast<int>(layout_.edgeField.size())),
    inputReference_(layout_.nInputColumns, 0.0)
{
    requireColumns(layout_.inputField.size(), layout_.nInputColumns, "fields of input columns");
    requireColumns(layout_.targetField.size(), layout_.nTargetColumns, "fields of target columns");
    if (!(memory >= 1))
    {
        throw Error("the normaliser's memory is " + std::to_string(memory)
            + " samples; it must be at least 1");
    }
}


void Normaliser::setInputReference(Span<const double> reference)
{
    requireColumns(reference.size(), inputReference_.size(), "references");
    inputReference_.assign(reference.begin(), reference.end());
}


template<class Value>
void Normaliser::add
(
    Span<const Value> input,
    Span<const Value> target,
    Span<const double> targetValue,
    std::int64_t nCells,
    Span<const double> features,
    const Comm& comm,
    Span<const Value> edges
)
{
    requireColumns(features.size(), layout_.nFeatures, "features");
    if (freezeAfter_ && nSamples_ >= *freezeAfter_)
    {
        return;
    }

    for (RunningMoments* moments : {&input_, &target_, &value_, &feature_, &edge_})
    {
        moments->forget(memory_ - 1);
    }
    input_.add(input, nCells, comm, 1.0);
    target_.add(target, nCells, comm, 1.0);
    value_.add(targetValue, nCells, comm, 1.0);
    feature_.add(features, 1, comm, 1.0);
    if (!layout_.edgeField.empty())
    {
        const auto nEdges = static_cast<std::int64_t>(edges.size()/layout_.edgeField.size());
        edge_.add(edges, nEdges, comm, 1.0);
    }
    ++nSamples_;
}


Scaling Normaliser::input() const
{
    const std::vector<double> variance = input_.variance();
    const std::vector<double> field = fieldDeviation(variance, layout_.inputField);

    Scaling scaling;
    scaling.shift = input_.mean();
    for (std::size_t c = 0; c < variance.size(); ++c)
    {
        scaling.scale.push_back(scaleOf(std::sqrt(variance[c]), field[c], inputReference_[c]));
    }

    const std::vector<double> featureVariance = feature_.variance();
    for (std::size_t c = 0; c < featureVariance.size(); ++c)
    {
        const double mean = feature_.mean()[c];
        scaling.shift.push_back(mean);
        scaling.scale.push_back(scaleOf(std::sqrt(featureVariance[c]), std::abs(mean), 0));
    }
    return scaling;
}


Scaling Normaliser::target() const
{
    const std::vector<double> variance = target_.variance();
    const std::vector<double> field = fieldDeviation(value_.variance(), layout_.targetField);

    Scaling scaling;
    for (std::size_t c = 0; c < variance.size(); ++c)
    {
        const double mean = target_.mean()[c];
        const double spread = variance[c] + (layout_.increment ? mean*mean : 0);
        scaling.shift.push_back(layout_.increment ? 0 : mean);
        scaling.scale.push_back(scaleOf(std::sqrt(spread), field[c], value_.mean()[c]));
    }
    return scaling;
}


std::vector<double> Normaliser::edges() const
{
    std::vector<double> square = edge_.variance();
    for (std::size_t c = 0; c < square.size(); ++c)
    {
        square[c] += edge_.mean()[c]*edge_.mean()[c];
    }
    const std::vector<double> field = fieldDeviation(square, layout_.edgeField);

    std::vector<double> scales;
    for (std::size_t c = 0; c < square.size(); ++c)
    {
        scales.push_back(scaleOf(std::sqrt(square[c]), field[c], 0));
    }
    return scales;
}


StateTree Normaliser::save() const
{
    StateTree state;
    state.putInt("samples", nSamples_);
    state.put("inputReference", inputReference_);
    state.putTree("input", input_.save());
    state.putTree("target", target_.save());
    state.putTree("value", value_.save());
    state.putTree("feature", feature_.save());
    state.putTree("edge", edge_.save());
    state.putDouble("edgeLength", mesh_.edgeLength);
    state.putDouble("cellVolume", mesh_.cellVolume);
    return state;
}


void Normaliser::load(const StateTree& state)
{
    Normaliser loaded(layout_, memory_, freezeAfter_);
    loaded.nSamples_ = state.getInt("samples");
    state.get("inputReference", Span<double>(loaded.inputReference_));
    loaded.input_.load(state.subTree("input"));
    loaded.target_.load(state.subTree("target"));
    loaded.value_.load(state.subTree("value"));
    loaded.feature_.load(state.subTree("feature"));
    loaded.edge_.load(state.subTree("edge"));
    loaded.mesh_.edgeLength = state.getDouble("edgeLength");
    loaded.mesh_.cellVolume = state.getDouble("cellVolume");
    *this = std::move(loaded);
}


template void RunningMoments::add(Span<const float>, std::int64_t, const Comm&,
    std::optional<double>);
template void RunningMoments::add(Span<const double>, std::int64_t, const Comm&,
    std::optional<double>);
template void Normaliser::add(Span<const float>, Span<const float>, Span<const double>,
    std::int64_t, Span<const double>, const Comm&, Span<const float>);
template void Normaliser::add(Span<const double>, Span<const double>, Span<const double>,
    std::int64_t, Span<const double>, const Comm&, Span<const double>);

}
