// SPDX-License-Identifier: GPL-3.0-or-later
#include "sample/RunningRange.hpp"

#include <algorithm>
#include <limits>

namespace inSitu
{

RunningRange::RunningRange(int nColumns)
:
    nColumns_(nColumns),
    extremes_(2*static_cast<std::size_t>(nColumns), -std::numeric_limits<double>::infinity())
{}


void RunningRange::add(Span<const double> rows, const Comm& comm)
{
    const auto n = static_cast<std::size_t>(nColumns_);
    for (std::size_t i = 0; i + n <= rows.size(); i += n)
    {
        for (std::size_t c = 0; c < n; ++c)
        {
            extremes_[c] = std::max(extremes_[c], -rows[i + c]);
            extremes_[n + c] = std::max(extremes_[n + c], rows[i + c]);
        }
    }
    comm.max(Span<double>(extremes_));
}


std::vector<double> RunningRange::minimum() const
{
    std::vector<double> result(extremes_.begin(), extremes_.begin() + nColumns_);
    for (double& value : result)
    {
        value = -value;
    }
    return maximum().empty() ? std::vector<double>() : result;
}


std::vector<double> RunningRange::maximum() const
{
    std::vector<double> result(extremes_.begin() + nColumns_, extremes_.end());
    const bool any = nColumns_ > 0 && result[0] > -std::numeric_limits<double>::infinity();
    return any ? result : std::vector<double>();
}


StateTree RunningRange::save() const
{
    StateTree state;
    state.put("extremes", extremes_);
    return state;
}


void RunningRange::load(const StateTree& state)
{
    state.get("extremes", Span<double>(extremes_));
}

}
