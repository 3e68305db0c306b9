// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/Schedule.hpp"

#include "TrainSupport.hpp"
#include "io/Hdf5File.hpp"
#include "oracles.hpp"

#include <gmock/gmock.h>

#include <cmath>

using namespace inSitu;

namespace
{

using Entries = std::vector<std::pair<std::string, std::string>>;

std::unique_ptr<Schedule> schedule(const std::string& type, const Entries& entries,
    double baseRate = 0.1)
{
    return optionsOf(scheduleRegistry(), type, entries)->build(baseRate);
}


std::string text(double value)
{
    std::ostringstream stream;
    stream.precision(17);
    stream << value;
    return stream.str();
}


std::string camelCase(const std::string& key)
{
    std::string name;
    for (std::size_t i = 0; i < key.size(); ++i)
    {
        const bool joint = key[i] == '_';
        i += joint;
        name += joint ? static_cast<char>(std::toupper(key[i])) : key[i];
    }
    return name;
}


//- Entries of a schedule from the attributes of its dataset
Entries entriesOf(const StateTree& attributes, bool isWarmup)
{
    Entries entries;
    for (const auto& [name, array] : attributes.arrays())
    {
        std::string key = camelCase(name);
        if (isWarmup)
        {
            const bool counts = name == "warmup_iters" || name == "total_iters";
            key = counts ? "warmupSteps" : name == "start_factor" ? "warmupFactor" : key;
        }
        if (isWarmup && name == "end_factor")
        {
            continue;
        }

        std::string value;
        if (array.type == StateTree::Type::float64)
        {
            value = text(attributes.getDouble(name));
        }
        else
        {
            for (const std::int64_t i : attributes.get<std::int64_t>(name))
            {
                value += (value.empty() ? "" : " ") + std::to_string(i);
            }
            value = array.shape.empty() ? value : '(' + value + ')';
        }
        entries.emplace_back(key, value);
    }
    for (const auto& [name, word] : attributes.texts())
    {
        entries.emplace_back(camelCase(name), word);
    }
    return entries;
}


std::string typeOf(const std::string& dataset)
{
    return dataset == "warmup" ? "constant"
        : dataset == "warmup_cosine" || dataset == "cosine_annealing" ? "cosineAnnealing"
        : dataset == "polynomial_default" ? "polynomial" : dataset;
}

}


TEST(Schedule, FollowsPyTorchForEveryScheduleOfTheOracle)
{
    INSITU_NEEDS_ORACLE("lr_schedules.h5");
    const StateTree file = readHdf5(oracle("lr_schedules.h5"));
    const double baseRate = file.getDouble("base_lr");
    const std::vector<double> metric = file.get<double>("plateau_metric");

    int nSchedules = 0;
    for (const auto& [name, array] : file.arrays())
    {
        if (array.shape.size() != 1 || array.count() != metric.size() || name == "plateau_metric")
        {
            continue;
        }
        const bool isWarmup = name.rfind("warmup", 0) == 0;
        const auto tested =
            schedule(typeOf(name), entriesOf(file.subTree(name), isWarmup), baseRate);
        const std::vector<double> expected = file.get<double>(name);
        for (std::size_t i = 0; i < expected.size(); ++i)
        {
            const double rate = baseRate*tested->factor(static_cast<std::int64_t>(i));
            EXPECT_NEAR(rate, expected[i], 1e-12*std::abs(expected[i])) << name << " step " << i;
            tested->observe(metric[i]);
        }
        ++nSchedules;
    }
    EXPECT_GE(nSchedules, 10);
}


TEST(Schedule, RepeatedMilestoneCountsTwice)
{
    const auto tested = schedule("multistep", {{"milestones", "(3 3 5)"}, {"gamma", "0.3"}});

    EXPECT_DOUBLE_EQ(tested->factor(2), 1);
    EXPECT_DOUBLE_EQ(tested->factor(3), 0.09);
    EXPECT_DOUBLE_EQ(tested->factor(5), 0.027);
}


TEST(Schedule, CosineRisesAgainAndItsLowestRateIsAbsolute)
{
    const auto tested = schedule("cosineAnnealing", {{"TMax", "20"}, {"etaMin", "0.05"}}, 0.2);

    EXPECT_DOUBLE_EQ(tested->factor(20), 0.25);
    EXPECT_DOUBLE_EQ(tested->factor(27), tested->factor(13));
    EXPECT_DOUBLE_EQ(tested->factor(40), 1);
}


TEST(Schedule, WarmupDelaysWhatFollows)
{
    const auto tested = schedule("step",
        {{"stepSize", "2"}, {"gamma", "0.5"}, {"warmupSteps", "4"}, {"warmupFactor", "0.2"}});

    EXPECT_DOUBLE_EQ(tested->factor(0), 0.2);
    EXPECT_DOUBLE_EQ(tested->factor(3), 0.8);
    EXPECT_DOUBLE_EQ(tested->factor(5), 1);
    EXPECT_DOUBLE_EQ(tested->factor(6), 0.5);
}


TEST(Schedule, PlateauLooksAwayDuringWarmup)
{
    const auto tested = schedule("plateau",
        {{"patience", "1"}, {"factor", "0.5"}, {"warmupSteps", "3"}});

    for (int k = 0; k < 5; ++k)
    {
        tested->observe(7);
    }
    EXPECT_DOUBLE_EQ(tested->factor(5), 1);     // 7 seen as the best once, then one bad step
    tested->observe(7);
    EXPECT_DOUBLE_EQ(tested->factor(6), 0.5);
}


TEST(Schedule, PlateauOfARisingMeasureWithAbsoluteThreshold)
{
    const auto tested = schedule("plateau", {{"mode", "max"}, {"thresholdMode", "abs"},
        {"threshold", "0.5"}, {"patience", "0"}, {"factor", "0.4"}, {"minLr", "0.03"}});

    tested->observe(-2);
    tested->observe(-1.4);                      // better by 0.6
    EXPECT_DOUBLE_EQ(tested->factor(2), 1);
    tested->observe(-1);                        // better by 0.4: too little
    EXPECT_DOUBLE_EQ(tested->factor(3), 0.4);
    tested->observe(-1);
    EXPECT_DOUBLE_EQ(tested->factor(4), 0.3);   // 0.16 is below minLr
}


TEST(Schedule, PlateauResumesAtEveryStep)
{
    const Entries entries{{"patience", "1"}, {"cooldown", "2"}, {"factor", "0.5"},
        {"warmupSteps", "2"}};
    const std::vector<double> metric{3, 2, 2.5, 2, 2.2, 1.9, 1.95, 1.92, 1.93, 1.94, 1.91, 2};

    const auto unbroken = schedule("plateau", entries);
    std::vector<double> expected;
    for (const double value : metric)
    {
        unbroken->observe(value);
        expected.push_back(unbroken->factor(99));
    }
    ASSERT_LT(expected.back(), 0.5);

    for (std::size_t stop = 0; stop < metric.size(); ++stop)
    {
        auto tested = schedule("plateau", entries);
        for (std::size_t i = 0; i < metric.size(); ++i)
        {
            if (i == stop)
            {
                const StateTree state = tested->save();
                tested = schedule("plateau", entries);
                tested->load(state);
            }
            tested->observe(metric[i]);
            EXPECT_EQ(tested->factor(99), expected[i]) << "stop " << stop << " step " << i;
        }
    }
}


TEST(Schedule, MandatoryKeysAreDemanded)
{
    const std::vector<std::pair<std::string, std::string>> demanded{{"step", "stepSize"},
        {"multistep", "milestones"}, {"polynomial", "totalIters"}, {"cosineAnnealing", "TMax"},
        {"linear", "totalIters"}, {"exponential", "gamma"}};
    for (const auto& [type, key] : demanded)
    {
        try
        {
            schedule(type, {});
            ADD_FAILURE() << type << " accepted";
        }
        catch (const ConfigError& error)
        {
            EXPECT_THAT(error.what(), testing::HasSubstr(key));
        }
    }
}
