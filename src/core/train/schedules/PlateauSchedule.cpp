// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/schedules/Schedules.hpp"

#include <algorithm>
#include <limits>

namespace inSitu
{
namespace
{

struct PlateauSettings
{
    std::string mode = "min";
    double factor = 0.1;
    std::int64_t patience = 10;
    double threshold = 1e-4;
    std::string thresholdMode = "rel";
    std::int64_t cooldown = 0;
    double minLr = 0;
    double eps = 1e-8;
};


class Plateau final : public Schedule
{
public:

    Plateau(PlateauSettings settings, double baseRate)
    :
        settings_(std::move(settings)),
        baseRate_(baseRate)
    {
        const double worst = std::numeric_limits<double>::infinity();
        best_ = settings_.mode == "min" ? worst : -worst;
    }

    double factor(std::int64_t) const override { return factor_; }

    bool observes() const override { return true; }

    void observe(double metric) override
    {
        if (isBetter(metric))
        {
            best_ = metric;
            nBad_ = 0;
        }
        else
        {
            ++nBad_;
        }

        if (cooldownLeft_ > 0)
        {
            --cooldownLeft_;
            nBad_ = 0;
        }

        if (nBad_ > settings_.patience)
        {
            reduce();
            cooldownLeft_ = settings_.cooldown;
            nBad_ = 0;
        }
    }

    StateTree save() const override
    {
        StateTree state;
        state.putDouble("factor", factor_);
        state.putDouble("best", best_);
        state.putInt("nBad", nBad_);
        state.putInt("cooldownLeft", cooldownLeft_);
        return state;
    }

    void load(const StateTree& state) override
    {
        factor_ = state.getDouble("factor");
        best_ = state.getDouble("best");
        nBad_ = state.getInt("nBad");
        cooldownLeft_ = state.getInt("cooldownLeft");
    }

private:

    bool isBetter(double metric) const
    {
        const double sign = settings_.mode == "min" ? -1 : 1;
        const double bar = settings_.thresholdMode == "rel"
            ? best_*(1 + sign*settings_.threshold)
            : best_ + sign*settings_.threshold;
        return sign > 0 ? metric > bar : metric < bar;
    }

    void reduce()
    {
        const double reduced = std::max(factor_*settings_.factor, settings_.minLr/baseRate_);
        if ((factor_ - reduced)*baseRate_ > settings_.eps)
        {
            factor_ = reduced;
        }
    }

    PlateauSettings settings_;
    double baseRate_;
    double factor_ = 1;
    double best_;
    std::int64_t nBad_ = 0;
    std::int64_t cooldownLeft_ = 0;
};


class PlateauOptions final : public ScheduleOptions
{
public:

    void describe(Schema& schema) override
    {
        schema.choice("mode", settings_.mode, {"min", "max"},
            "whether a smaller or a larger loss is better");
        schema.key("factor", settings_.factor, "factor of a reduction", Range::fraction());
        schema.key("patience", settings_.patience,
            "optimiser steps without improvement that are tolerated", Range::atLeast(0));
        schema.key("threshold", settings_.threshold, "smallest change that is an improvement",
            Range::atLeast(0));
        schema.choice("thresholdMode", settings_.thresholdMode, {"rel", "abs"},
            "threshold relative to the best loss, or absolute");
        schema.key("cooldown", settings_.cooldown,
            "optimiser steps after a reduction in which nothing is counted", Range::atLeast(0));
        schema.key("minLr", settings_.minLr, "lowest learning rate", Range::atLeast(0));
        schema.key("eps", settings_.eps, "smaller reductions are left out", Range::atLeast(0));
        describeWarmup(schema);
    }

protected:

    std::unique_ptr<Schedule> buildMain(double baseRate) const override
    {
        return std::make_unique<Plateau>(settings_, baseRate);
    }

private:

    PlateauSettings settings_;
};

}


std::unique_ptr<ScheduleOptions> makePlateauOptions()
{
    return std::make_unique<PlateauOptions>();
}

}
