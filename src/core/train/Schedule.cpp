// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/Schedule.hpp"

#include "train/schedules/Schedules.hpp"

namespace inSitu
{
namespace
{

//- Linear rise over the first steps, then another schedule from its own step 0
class Warmup final : public Schedule
{
public:

    Warmup(std::int64_t steps, double startFactor, std::unique_ptr<Schedule> main)
    :
        steps_(steps),
        startFactor_(startFactor),
        main_(std::move(main))
    {}

    double factor(std::int64_t k) const override
    {
        return k < steps_
            ? startFactor_ + (1 - startFactor_)*static_cast<double>(k)/static_cast<double>(steps_)
            : main_->factor(k - steps_);
    }

    bool observes() const override { return main_->observes(); }

    void observe(double metric) override
    {
        if (++nObserved_ > steps_)
        {
            main_->observe(metric);
        }
    }

    StateTree save() const override
    {
        StateTree state;
        state.putInt("nObserved", nObserved_);
        state.putTree("main", main_->save());
        return state;
    }

    void load(const StateTree& state) override
    {
        nObserved_ = state.getInt("nObserved");
        main_->load(state.subTree("main"));
    }

private:

    std::int64_t steps_;
    double startFactor_;
    std::unique_ptr<Schedule> main_;
    std::int64_t nObserved_ = 0;
};

}


std::unique_ptr<Schedule> ScheduleOptions::build(double baseRate) const
{
    return std::make_unique<Warmup>(warmupSteps, warmupFactor, buildMain(baseRate));
}


void ScheduleOptions::describeWarmup(Schema& schema)
{
    schema.key("warmupSteps", warmupSteps,
        "optimiser steps of a linear rise in front of the schedule, which then starts from "
        "its own step 0; 0: none", Range::atLeast(0));
    schema.key("warmupFactor", warmupFactor,
        "factor on the learning rate at the first step of the warm-up", Range::within(0, 1));
}


const Registry<ScheduleOptions>& scheduleRegistry()
{
    static const Registry<ScheduleOptions> registry
    {
        {"constant", makeConstantOptions},
        {"step", makeStepOptions},
        {"multistep", makeMultistepOptions},
        {"polynomial", makePolynomialOptions},
        {"cosineAnnealing", makeCosineAnnealingOptions},
        {"linear", makeLinearOptions},
        {"exponential", makeExponentialOptions},
        {"plateau", makePlateauOptions}
    };
    return registry;
}

}
