// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/StateTree.hpp"
#include "config/Schema.hpp"

#include <memory>

namespace inSitu
{

//- Learning rate over optimiser steps; formulas and periodicity are PyTorch's
class Schedule
{
public:

    virtual ~Schedule() = default;

    //- Factor on the base rate for optimiser step k = 0, 1, …
    virtual double factor(std::int64_t k) const = 0;

    //- Whether the factor depends on what observe() is told
    virtual bool observes() const { return false; }

    //- Tell the metric of the step just made (plateau); ignored by others
    virtual void observe(double metric) { static_cast<void>(metric); }

    virtual StateTree save() const { return {}; }
    virtual void load(const StateTree&) {}
};


//- `lrScheduler { type …; warmupSteps …; }`
class ScheduleOptions : public Options
{
public:

    std::int64_t warmupSteps = 0;       //!< linear rise in front of any schedule; 0: none
    double warmupFactor = 0.1;          //!< of the base rate at the first step

    //- The schedule with its warm-up. baseRate turns absolute minima (etaMin) into factors.
    std::unique_ptr<Schedule> build(double baseRate) const;

protected:

    virtual std::unique_ptr<Schedule> buildMain(double baseRate) const = 0;
    void describeWarmup(Schema& schema);
};

//- constant step multistep polynomial cosineAnnealing linear exponential plateau
const Registry<ScheduleOptions>& scheduleRegistry();

}
