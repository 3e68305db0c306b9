// SPDX-License-Identifier: GPL-3.0-or-later
#include "infer/ErrorMeasure.hpp"

#include <cmath>

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
    const Comm& comm
)
{
    skill_.add(prediction, truth, baseline, {}, comm);

    const std::size_t nColumns = fieldOfColumn_.size();
    for (std::size_t i = 0; i < truth.size(); ++i)
    {
        const double error = std::abs(prediction[i] - truth[i]);
        const int field = fieldOfColumn_[i % nColumns];
        if (error > errors_.largest[field])
        {
            errors_.largest[field] = error;
            errors_.place[field] = static_cast<std::int64_t>(i/nColumns);
        }
    }
}


PredictionErrors ErrorMeasure::errors() const
{
    PredictionErrors result = errors_;
    result.samples = skill_.nSamples();
    result.rmse = skill_.rmse();
    result.skill = skill_.skill();
    return result;
}


void ErrorMeasure::reset()
{
    const std::size_t nFields = skill_.rmse().size();
    skill_.reset();
    errors_.largest.assign(nFields, 0.0);
    errors_.place.assign(nFields, -1);
}

}
