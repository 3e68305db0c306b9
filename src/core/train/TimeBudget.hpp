// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <optional>

namespace inSitu
{

//- Keeps training within a share of the wall time since the start. Without a limit it
//  always allows, and the course of a run does not depend on the clock.
class TimeBudget
{
public:

    explicit TimeBudget(std::optional<double> maxFraction)
    :
        maxFraction_(maxFraction)
    {}

    void setFraction(std::optional<double> maxFraction) { maxFraction_ = maxFraction; }

    //- Wall time since construction, s
    double elapsed() const
    {
        return std::chrono::duration<double>(Clock::now() - start_).count();
    }

    bool limited() const { return maxFraction_.has_value(); }

    //- May another step be made when spent seconds went into training so far?
    bool allows(double spent) const { return !maxFraction_ || spent <= *maxFraction_*elapsed(); }

private:

    using Clock = std::chrono::steady_clock;

    std::optional<double> maxFraction_;
    Clock::time_point start_ = Clock::now();
};

}
