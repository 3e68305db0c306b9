// SPDX-License-Identifier: GPL-3.0-or-later
#include "infer/ErrorMeasure.hpp"

#include "base/agree.hpp"

#include <cmath>
#include <limits>

namespace inSitu
{

ErrorMeasure::ErrorMeasure(std::vector<int> fieldOfColumn)
:
    fieldOfColumn_(std::move(fieldOfColumn)),
    skill_(fieldOfColumn_)
{
    reset();
}


void ErrorMeasure::add
(
    Span<const double> prediction,
    Span<const double> truth,
    Span<const double> baseline,
    const RowIds* ids,
    const Comm& comm
)
{
    skill_.add(prediction, truth, baseline, {}, comm);

    const std::size_t nColumns = fieldOfColumn_.size();
    for (std::size_t i = 0; i < truth.size(); ++i)
    {
        const double error = std::abs(prediction[i] - truth[i]);
        const int field = fieldOfColumn_[i % nColumns];
        if (error > largest_[field])
        {
            const std::size_t cell = i/nColumns;
            largest_[field] = error;
            place_[field] = ids ? ids->cells[cell] : static_cast<std::int64_t>(cell);
        }
    }
}


PredictionErrors ErrorMeasure::errors(const Comm& comm) const
{
    PredictionErrors result;
    for (std::size_t field = 0; field < largest_.size(); ++field)
    {
        const double largest = largestOf(comm, largest_[field]);
        const bool isHere = place_[field] >= 0 && largest_[field] == largest;
        const double place = leastOf(comm, isHere
            ? static_cast<double>(place_[field]) : std::numeric_limits<double>::infinity());
        result.largest.push_back(largest);
        result.place.push_back(std::isfinite(place) ? static_cast<std::int64_t>(place) : -1);
    }
    result.samples = skill_.nSamples();
    result.rmse = skill_.rmse();
    result.skill = skill_.skill();
    return result;
}


void ErrorMeasure::reset()
{
    const std::size_t nFields = skill_.rmse().size();
    skill_.reset();
    largest_.assign(nFields, 0.0);
    place_.assign(nFields, -1);
}

}
