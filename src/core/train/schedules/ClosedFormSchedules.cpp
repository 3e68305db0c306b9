// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/schedules/Schedules.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace inSitu
{
namespace
{

const double pi = std::acos(-1.0);


//- A schedule without memory
class ClosedForm final : public Schedule
{
public:

    explicit ClosedForm(std::function<double(std::int64_t)> formula)
    :
        formula_(std::move(formula))
    {}

    double factor(std::int64_t k) const override { return formula_(k); }

private:

    std::function<double(std::int64_t)> formula_;
};


template<class Formula>
std::unique_ptr<Schedule> closedForm(Formula formula)
{
    return std::make_unique<ClosedForm>(std::move(formula));
}


// 0 at the first step, 1 from step total on
double progress(std::int64_t k, std::int64_t total)
{
    return static_cast<double>(std::min(k, total))/static_cast<double>(total);
}


class ConstantOptions final : public ScheduleOptions
{
public:

    void describe(Schema& schema) override { describeWarmup(schema); }

protected:

    std::unique_ptr<Schedule> buildMain(double) const override
    {
        return closedForm([](std::int64_t) { return 1.0; });
    }
};


class StepOptions final : public ScheduleOptions
{
public:

    void describe(Schema& schema) override
    {
        schema.key("stepSize", stepSize_, "optimiser steps between two reductions",
            Range::atLeast(1));
        schema.required("stepSize");
        schema.key("gamma", gamma_, "factor of a reduction", Range::positive());
        describeWarmup(schema);
    }

protected:

    std::unique_ptr<Schedule> buildMain(double) const override
    {
        return closedForm([stepSize = stepSize_, gamma = gamma_](std::int64_t k)
        {
            return std::pow(gamma, static_cast<double>(k/stepSize));
        });
    }

private:

    std::int64_t stepSize_ = 1;
    double gamma_ = 0.1;
};


class MultistepOptions final : public ScheduleOptions
{
public:

    void describe(Schema& schema) override
    {
        schema.key("milestones", milestones_,
            "optimiser steps at which the rate is reduced; one named twice counts twice",
            Range::atLeast(0));
        schema.required("milestones");
        schema.key("gamma", gamma_, "factor of a reduction", Range::positive());
        describeWarmup(schema);
    }

protected:

    std::unique_ptr<Schedule> buildMain(double) const override
    {
        return closedForm([milestones = milestones_, gamma = gamma_](std::int64_t k)
        {
            const auto passed = std::count_if(milestones.begin(), milestones.end(),
                [k](std::int64_t milestone) { return milestone <= k; });
            return std::pow(gamma, static_cast<double>(passed));
        });
    }

private:

    std::vector<std::int64_t> milestones_;
    double gamma_ = 0.1;
};


class PolynomialOptions final : public ScheduleOptions
{
public:

    void describe(Schema& schema) override
    {
        schema.key("totalIters", totalIters_, "optimiser steps until the rate is zero",
            Range::atLeast(1));
        schema.required("totalIters");
        schema.key("power", power_, "exponent of the remaining share of steps",
            Range::positive());
        describeWarmup(schema);
    }

protected:

    std::unique_ptr<Schedule> buildMain(double) const override
    {
        return closedForm([total = totalIters_, power = power_](std::int64_t k)
        {
            return std::pow(1 - progress(k, total), power);
        });
    }

private:

    std::int64_t totalIters_ = 1;
    double power_ = 1;
};


class CosineAnnealingOptions final : public ScheduleOptions
{
public:

    void describe(Schema& schema) override
    {
        schema.key("TMax", tMax_,
            "optimiser steps from the full to the lowest rate; after them the rate rises again",
            Range::atLeast(1));
        schema.required("TMax");
        schema.key("etaMin", etaMin_, "lowest learning rate", Range::atLeast(0));
        describeWarmup(schema);
    }

protected:

    std::unique_ptr<Schedule> buildMain(double baseRate) const override
    {
        return closedForm([tMax = tMax_, lowest = etaMin_/baseRate](std::int64_t k)
        {
            const double phase = pi*static_cast<double>(k)/static_cast<double>(tMax);
            return lowest + (1 - lowest)*(1 + std::cos(phase))/2;
        });
    }

private:

    std::int64_t tMax_ = 1;
    double etaMin_ = 0;
};


class LinearOptions final : public ScheduleOptions
{
public:

    void describe(Schema& schema) override
    {
        schema.key("totalIters", totalIters_, "optimiser steps from the first to the last factor",
            Range::atLeast(1));
        schema.required("totalIters");
        schema.key("startFactor", startFactor_, "factor on the learning rate at the first step",
            Range{0, 1, true, false});
        schema.key("endFactor", endFactor_, "factor from step totalIters on",
            Range::within(0, 1));
        describeWarmup(schema);
    }

protected:

    std::unique_ptr<Schedule> buildMain(double) const override
    {
        return closedForm(
            [total = totalIters_, start = startFactor_, end = endFactor_](std::int64_t k)
            {
                return start + (end - start)*progress(k, total);
            });
    }

private:

    std::int64_t totalIters_ = 1;
    double startFactor_ = 1.0/3.0;
    double endFactor_ = 1;
};


class ExponentialOptions final : public ScheduleOptions
{
public:

    void describe(Schema& schema) override
    {
        schema.key("gamma", gamma_, "factor per optimiser step", Range::positive());
        schema.required("gamma");
        describeWarmup(schema);
    }

protected:

    std::unique_ptr<Schedule> buildMain(double) const override
    {
        return closedForm([gamma = gamma_](std::int64_t k)
        {
            return std::pow(gamma, static_cast<double>(k));
        });
    }

private:

    double gamma_ = 1;
};


template<class T>
std::unique_ptr<ScheduleOptions> make()
{
    return std::make_unique<T>();
}

}


std::unique_ptr<ScheduleOptions> makeConstantOptions() { return make<ConstantOptions>(); }
std::unique_ptr<ScheduleOptions> makeStepOptions() { return make<StepOptions>(); }
std::unique_ptr<ScheduleOptions> makeMultistepOptions() { return make<MultistepOptions>(); }
std::unique_ptr<ScheduleOptions> makePolynomialOptions() { return make<PolynomialOptions>(); }
std::unique_ptr<ScheduleOptions> makeLinearOptions() { return make<LinearOptions>(); }
std::unique_ptr<ScheduleOptions> makeExponentialOptions() { return make<ExponentialOptions>(); }

std::unique_ptr<ScheduleOptions> makeCosineAnnealingOptions()
{
    return make<CosineAnnealingOptions>();
}

}
