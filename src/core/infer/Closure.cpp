// SPDX-License-Identifier: GPL-3.0-or-later
#include "infer/Closure.hpp"

#include "base/Error.hpp"
#include "base/Text.hpp"

#include <algorithm>
#include <cmath>

namespace inSitu
{

Closure::Closure(const ModelCard& card, const ClosureConfig& config, ColumnLimits limits)
:
    config_(config),
    limits_(std::move(limits))
{
    for (const FieldSpec& field : card.targets)
    {
        columns_.insert(columns_.end(), field.columnNames.begin(), field.columnNames.end());
    }
    setRange(card);
}


void Closure::setRange(const ModelCard& card)
{
    minimum_ = card.targetMinimum;
    maximum_ = card.targetMaximum;
}


void Closure::reconfigure(const ClosureConfig& config, ColumnLimits limits)
{
    config_ = config;
    limits_ = std::move(limits);
}


double Closure::admitted(double value, double previous, std::size_t row, std::size_t column)
{
    const auto complain = [&](const std::string& what)
    {
        throw Error("the prediction of " + columns_[column] + " in cell " + std::to_string(row)
            + " is " + numberText(value) + what);
    };

    if (!std::isfinite(value))
    {
        ++nNonFinite_;
        if (config_.onOutlier == "abort" || !std::isfinite(previous))
        {
            complain(", and so not for the solver");
        }
        return previous;
    }
    if (minimum_.empty())
    {
        return value;
    }

    const double width = config_.margin*(maximum_[column] - minimum_[column]);
    const double inside =
        std::min(std::max(value, minimum_[column] - width), maximum_[column] + width);
    if (inside == value)
    {
        return value;
    }
    ++nOutliers_;
    if (config_.onOutlier == "abort")
    {
        complain(", outside the range of the training, " + numberText(minimum_[column]) + " to "
            + numberText(maximum_[column]) + " and a margin of " + numberText(width)
            + "; 'onOutlier clip' cuts it off");
    }
    return config_.onOutlier == "keep" ? value
        : config_.onOutlier == "clip" || !std::isfinite(previous) ? inside : previous;
}


void Closure::apply(Span<double> prediction, Span<const double> previous)
{
    const std::size_t nColumns = columns_.size();
    for (std::size_t i = 0; i < prediction.size(); ++i)
    {
        const std::size_t column = i % nColumns;
        const double value = admitted(prediction[i], previous[i], i/nColumns, column);
        const double relaxed = std::isfinite(previous[i])
          ? previous[i] + config_.relax*(value - previous[i]) : value;
        prediction[i] =
            std::min(std::max(relaxed, limits_.minimum[column]), limits_.maximum[column]);
    }
}

}
