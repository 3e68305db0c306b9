// SPDX-License-Identifier: GPL-3.0-or-later
#include "sample/OnlineSkill.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace inSitu
{
namespace
{

std::vector<double> ratio(const std::vector<double>& a, const std::vector<double>& b)
{
    std::vector<double> result(a.size(), std::numeric_limits<double>::quiet_NaN());
    for (std::size_t i = 0; i < a.size(); ++i)
    {
        if (b[i] > 0)
        {
            result[i] = a[i]/b[i];
        }
    }
    return result;
}

}


OnlineSkill::OnlineSkill(std::vector<int> fieldOfColumn)
:
    fieldOfColumn_(std::move(fieldOfColumn)),
    nFields_
    (
        fieldOfColumn_.empty()
      ? 0
      : 1 + *std::max_element(fieldOfColumn_.begin(), fieldOfColumn_.end())
    )
{
    reset();
}


void OnlineSkill::add
(
    Span<const double> prediction,
    Span<const double> truth,
    Span<const double> baseline,
    Span<const double> mask,
    const Comm& comm
)
{
    const std::size_t nColumns = fieldOfColumn_.size();
    const std::size_t nCells = truth.size()/nColumns;

    sums_.assign(3*nFields_, 0.0);
    for (std::size_t cell = 0; cell < nCells; ++cell)
    {
        if (!mask.empty() && mask[cell] == 0)
        {
            continue;
        }
        for (std::size_t column = 0; column < nColumns; ++column)
        {
            const std::size_t i = cell*nColumns + column;
            double* sum = &sums_[3*fieldOfColumn_[column]];
            sum[0] += (prediction[i] - truth[i])*(prediction[i] - truth[i]);
            sum[1] += (baseline[i] - truth[i])*(baseline[i] - truth[i]);
            sum[2] += 1;
        }
    }
    comm.sum(Span<double>(sums_));

    for (int field = 0; field < nFields_; ++field)
    {
        error_[field] += sums_[3*field];
        baseline_[field] += sums_[3*field + 1];
        count_[field] += sums_[3*field + 2];
    }
    ++nSamples_;
}


std::vector<double> OnlineSkill::rmse() const
{
    std::vector<double> result = ratio(error_, count_);
    for (double& value : result)
    {
        value = std::sqrt(value);
    }
    return result;
}


std::vector<double> OnlineSkill::skill() const
{
    std::vector<double> result = ratio(error_, baseline_);
    for (double& value : result)
    {
        value = 1 - value;
    }
    return result;
}


void OnlineSkill::reset()
{
    nSamples_ = 0;
    error_.assign(nFields_, 0.0);
    baseline_.assign(nFields_, 0.0);
    count_.assign(nFields_, 0.0);
}


StateTree OnlineSkill::save() const
{
    StateTree state;
    state.putInt("samples", nSamples_);
    state.put("error", error_);
    state.put("baseline", baseline_);
    state.put("count", count_);
    return state;
}


void OnlineSkill::load(const StateTree& state)
{
    nSamples_ = state.getInt("samples");
    state.get("error", Span<double>(error_));
    state.get("baseline", Span<double>(baseline_));
    state.get("count", Span<double>(count_));
}

}
