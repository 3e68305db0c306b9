// SPDX-License-Identifier: GPL-3.0-or-later
#include "infer/Closure.hpp"

#include "base/Error.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace inSitu
{
namespace
{

using Values = std::vector<double>;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

//- Columns a and b, seen in training from 2 to 4 and from -10 to 30
ModelCard card(bool withRange = true)
{
    ModelCard card;
    card.targets = {{"a", "", 1, {}, {"a"}, {}}, {"b", "", 1, {}, {"b"}, {}}};
    if (withRange)
    {
        card.targetMinimum = {2, -10};
        card.targetMaximum = {4, 30};
    }
    return card;
}


const ColumnLimits free{{-infinity, -infinity}, {infinity, infinity}};


ClosureConfig config(const std::string& onOutlier, double margin = 0.25, double relax = 1)
{
    ClosureConfig config;
    config.onOutlier = onOutlier;
    config.margin = margin;
    config.relax = relax;
    return config;
}


Values applied(Closure& closure, Values prediction, const Values& previous)
{
    closure.apply(Span<double>(prediction), Span<const double>(previous));
    return prediction;
}


std::string faultOf(Closure& closure, const Values& prediction, const Values& previous)
{
    try
    {
        applied(closure, prediction, previous);
        return "nothing";
    }
    catch (const Error& fault)
    {
        return fault.what();
    }
}

// In cell 0 both inside with the margin (1.5 to 4.5, -20 to 40), in cell 1 both outside
const Values prediction{1.75, 39, 4.625, -23};
const Values previous{3, 5, 7, 11};

}


TEST(Closure, DealsWithOutliersAsAsked)
{
    Closure keep(card(), config("keep"), free);
    EXPECT_EQ(applied(keep, prediction, previous), prediction);
    EXPECT_EQ(keep.nOutliers(), 2);

    Closure clip(card(), config("clip"), free);
    EXPECT_EQ(applied(clip, prediction, previous), (Values{1.75, 39, 4.5, -20}));
    EXPECT_EQ(clip.nOutliers(), 2);

    Closure solver(card(), config("solver"), free);
    EXPECT_EQ(applied(solver, prediction, previous), (Values{1.75, 39, 7, 11}));
    EXPECT_EQ(applied(solver, prediction, previous), (Values{1.75, 39, 7, 11}));
    EXPECT_EQ(solver.nOutliers(), 4);
    EXPECT_EQ(solver.nNonFinite(), 0);

    Closure abort(card(), config("abort"), free);
    EXPECT_EQ(faultOf(abort, prediction, previous), "the prediction of a in cell 1 is 4.625, outside"
        " the range of the training, 2 to 4 and a margin of 0.5; 'onOutlier clip' cuts it off");
}


TEST(Closure, WidensTheRangeByTheMargin)
{
    Closure none(card(), config("clip", 0), free);
    EXPECT_EQ(applied(none, prediction, previous), (Values{2, 30, 4, -10}));
    EXPECT_EQ(none.nOutliers(), 4);
}


TEST(Closure, NeverWritesWhatIsNotFinite)
{
    for (const char* policy : {"keep", "clip", "solver"})
    {
        Closure closure(card(), config(policy), free);
        EXPECT_EQ(applied(closure, {nan, 6, 3, -infinity}, previous), (Values{3, 6, 3, 11}))
            << policy;
        EXPECT_EQ(closure.nNonFinite(), 2);
        EXPECT_EQ(closure.nOutliers(), 0);

        EXPECT_THAT(faultOf(closure, {3, 5, infinity, 5}, {3, 5, nan, 5}),
            testing::HasSubstr("a in cell 1 is inf, and so not for the solver"));
    }
    Closure abort(card(), config("abort"), free);
    EXPECT_THAT(faultOf(abort, {3, nan, 3, 5}, previous), testing::HasSubstr("b in cell 0 is nan"));
}


TEST(Closure, ReplacesAFieldThatIsNotFinite)
{
    Closure closure(card(), config("clip", 0.25, 0.5), free);
    EXPECT_EQ(applied(closure, {3, 5}, {nan, 9}), (Values{3, 7}));

    Closure solver(card(), config("solver", 0.25, 0.5), free);
    EXPECT_EQ(applied(solver, {5, 41}, {nan, 9}), (Values{4.5, 9}));
    EXPECT_EQ(solver.nOutliers(), 2);
}


TEST(Closure, RelaxesFromThePresentValueWithinTheLimits)
{
    const ColumnLimits limits{{-infinity, 6}, {3.5, infinity}};
    Closure closure(card(), config("clip", 0.25, 0.25), limits);

    // 3 + (4.5 − 3)/4; 3 + (39 − 3)/4; the present 20 and -40 lie beyond the limits
    EXPECT_EQ(applied(closure, {5, 39, 3, 4}, {3, 3, 20, -40}), (Values{3.375, 12, 3.5, 6}));
    EXPECT_EQ(closure.nOutliers(), 1);
}


TEST(Closure, LimitsAModelOfUnknownRange)
{
    const ColumnLimits limits{{0.5, -infinity}, {infinity, 100}};
    Closure closure(card(false), config("abort"), limits);

    EXPECT_EQ(applied(closure, {-7, 1e9, 1e9, -1e9}, previous), (Values{0.5, 100, 1e9, -1e9}));
    EXPECT_EQ(closure.nOutliers(), 0);
}


TEST(Closure, GoesOnCountingWithAnotherRangeAndOtherEntries)
{
    Closure closure(card(), config("clip", 0), free);
    applied(closure, prediction, previous);

    ModelCard wider = card();
    wider.targetMaximum = {5, 35};
    closure.setRange(wider);
    EXPECT_EQ(applied(closure, prediction, previous), (Values{2, 35, 4.625, -10}));
    EXPECT_EQ(closure.nOutliers(), 7);

    closure.reconfigure(config("keep", 0), {{-infinity, -infinity}, {infinity, 38}});
    EXPECT_EQ(applied(closure, prediction, previous), (Values{1.75, 38, 4.625, -23}));
    EXPECT_EQ(closure.nOutliers(), 10);
}

}
