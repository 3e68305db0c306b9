// SPDX-License-Identifier: GPL-3.0-or-later
#include "sample/Normaliser.hpp"

#include "base/Error.hpp"
#include "io/Hdf5File.hpp"
#include "ThreadComm.hpp"
#include "oracles.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

using namespace inSitu;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

namespace
{

const SerialComm serial;


std::vector<double> randomRows(std::mt19937& generator, std::size_t nRows,
    const std::vector<double>& mean, const std::vector<double>& deviation)
{
    std::vector<double> rows;
    for (std::size_t i = 0; i < nRows*mean.size(); ++i)
    {
        const std::size_t c = i % mean.size();
        const double unit = generator()/4294967296.0 - 0.5;
        rows.push_back(mean[c] + deviation[c]*unit*std::sqrt(12.0));
    }
    return rows;
}


// By the definition, in long double
struct Exact
{
    std::vector<double> mean;
    std::vector<double> variance;

    Exact(const std::vector<double>& rows, std::size_t nColumns)
    {
        const std::size_t n = rows.size()/nColumns;
        for (std::size_t c = 0; c < nColumns; ++c)
        {
            long double sum = 0, square = 0;
            for (std::size_t i = 0; i < n; ++i)
            {
                sum += rows[i*nColumns + c];
            }
            const long double m = sum/n;
            for (std::size_t i = 0; i < n; ++i)
            {
                square += (rows[i*nColumns + c] - m)*(rows[i*nColumns + c] - m);
            }
            mean.push_back(static_cast<double>(m));
            variance.push_back(static_cast<double>(square/n));
        }
    }
};

}


TEST(RunningMoments, MatchTheExactMomentsOfTheOracle)
{
    INSITU_NEEDS_ORACLE("running_normaliser.h5");
    const StateTree oracle = readHdf5(inSitu::oracle("running_normaliser.h5"));
    const std::vector<double> data = oracle.get<double>("data");
    const std::vector<std::int64_t> offsets = oracle.get<std::int64_t>("batch_offsets");
    const std::vector<std::int64_t> counts = oracle.get<std::int64_t>("count");
    const std::vector<double> means = oracle.get<double>("exact_mean");
    const std::vector<double> deviations = oracle.get<double>("exact_std_population");
    RunningMoments moments(4);

    for (std::size_t b = 0; b + 1 < offsets.size(); ++b)
    {
        const std::int64_t n = offsets[b + 1] - offsets[b];
        moments.add(Span<const double>(&data[4*offsets[b]], 4*n), n, serial);

        SCOPED_TRACE("batch " + std::to_string(b));
        EXPECT_EQ(moments.weight(), counts[b]);
        const std::vector<double> variance = moments.variance();
        for (std::size_t c = 0; c < 4; ++c)
        {
            const double mean = means[4*b + c];
            const double deviation = deviations[4*b + c];
            EXPECT_NEAR(moments.mean()[c], mean, 4e-16*(std::abs(mean) + deviation));
            EXPECT_NEAR(std::sqrt(variance[c]), deviation, 1e-6*deviation);
        }
        EXPECT_EQ(moments.mean()[2], 42);
        EXPECT_EQ(variance[2], 0);
    }
}


TEST(RunningMoments, AColumnThatNeverVariesHasVarianceZeroWhateverItsValue)
{
    RunningMoments moments(2);
    const std::vector<double> first{0.1, 1e5/3, 0.1, 1e5/3, 0.1, 1e5/3};
    const std::vector<double> second{0.1, 1e5/3};

    for (int i = 0; i < 50; ++i)
    {
        moments.forget(7);
        moments.add(Span<const double>(first), 3, serial);
        moments.add(Span<const double>(second), 1, serial);
    }

    EXPECT_THAT(moments.variance(), ElementsAre(0, 0));
    EXPECT_THAT(moments.mean(), ElementsAre(0.1, 1e5/3));
}


TEST(RunningMoments, ForgettingLimitsTheWeightAndLeavesTheMoments)
{
    RunningMoments moments(1);
    moments.add(Span<const double>(std::vector<double>{2, 4, 4, 10}), 4, serial);

    moments.forget(6);
    EXPECT_EQ(moments.weight(), 4);
    moments.forget(2);
    EXPECT_EQ(moments.weight(), 2);
    EXPECT_THAT(moments.mean(), ElementsAre(5));
    EXPECT_THAT(moments.variance(), ElementsAre(9));

    // mean (2·5 + 1·11)/3, variance (2·9 + 2·(5 − 7)² + (11 − 7)²)/3
    moments.add(Span<const double>(std::vector<double>{11}), 1, serial);
    EXPECT_THAT(moments.mean(), ElementsAre(7));
    EXPECT_THAT(moments.variance(), ElementsAre(DoubleNear(14, 1e-14)));
}


TEST(RunningMoments, TheRowsOfAllRanksAreOneBatch)
{
    std::mt19937 generator(5);
    const std::vector<double> rows = randomRows(generator, 11, {3, -200}, {0.5, 7});
    const Exact exact(rows, 2);
    onRanks(2, [&](Comm& comm)
    {
        RunningMoments moments(2);
        const bool first = comm.isMaster();
        moments.add(Span<const double>(rows.data() + (first ? 0 : 8), first ? 8 : rows.size() - 8),
            first ? 4 : 7, comm);

        EXPECT_EQ(moments.weight(), 11);
        for (int c : {0, 1})
        {
            EXPECT_NEAR(moments.mean()[c], exact.mean[c], 1e-14*std::abs(exact.mean[c]));
            EXPECT_NEAR(moments.variance()[c], exact.variance[c], 1e-12*exact.variance[c]);
        }
    });
}


TEST(RunningMoments, ARankWithoutRowsTakesPart)
{
    const std::vector<double> rows{-6, -4};
    onRanks(2, [&](Comm& comm)
    {
        RunningMoments moments(1);
        const std::size_t n = comm.isMaster() ? 0 : 2;
        moments.add(Span<const double>(rows.data(), n), n, comm);

        EXPECT_EQ(moments.weight(), 2);
        EXPECT_THAT(moments.mean(), ElementsAre(-5));
        EXPECT_THAT(moments.variance(), ElementsAre(1));
    });
}


TEST(RunningMoments, ABatchMayHaveAWeightOfItsOwn)
{
    RunningMoments moments(1);

    // 1 and 3 weigh 1/2 together, 5 and 9 and 7 weigh 1 together
    moments.add(Span<const double>(std::vector<double>{1, 3}), 2, serial, 0.5);
    EXPECT_THAT(moments.variance(), ElementsAre(1));
    moments.add(Span<const double>(std::vector<double>{5, 9, 7}), 3, serial, 1.0);

    EXPECT_EQ(moments.weight(), 1.5);
    EXPECT_THAT(moments.mean(), ElementsAre(DoubleNear(16/3.0, 1e-14)));
    // mean of squares: (5 + 2·155/3)/3
    EXPECT_THAT(moments.variance(), ElementsAre(DoubleNear(325/9.0 - 256/9.0, 1e-13)));
}


TEST(RunningMoments, NoRowsAnywhereChangeNothing)
{
    RunningMoments moments(1);
    moments.add(Span<const double>(std::vector<double>{2, 4}), 2, serial);

    moments.add(Span<const double>(), 0, serial);

    EXPECT_THAT(moments.mean(), ElementsAre(3));
    EXPECT_EQ(moments.weight(), 2);
    EXPECT_THAT(RunningMoments(1).variance(), ElementsAre(0));
}


namespace
{

const Normaliser::Layout incrementsOfU{3, 2, 0, true, {0, 0}, {0, 0, 1}};
const Normaliser::Layout valuesOfU{3, 2, 0, false, {0, 0}, {0, 0, 1}};

struct Data
{
    std::vector<double> input, target, value;
};

Data sampleOf(std::mt19937& generator, double size, std::size_t nCells)
{
    return
    {
        randomRows(generator, nCells, {2, -3, 0.5}, {size, 0.2*size, 30}),
        randomRows(generator, nCells, {0.1*size, 0}, {0.01*size, 0.02}),
        randomRows(generator, nCells, {2, -3}, {size, 0.2*size})
    };
}

void add(Normaliser& normaliser, const Data& data)
{
    normaliser.add(Span<const double>(data.input), Span<const double>(data.target),
        Span<const double>(data.value), data.value.size()/2, {}, serial);
}

}


TEST(Normaliser, IsExactForTheFirstSamples)
{
    std::mt19937 generator(9);
    Normaliser increments(incrementsOfU, 5, std::nullopt);
    Normaliser values(valuesOfU, 5, std::nullopt);
    Data all;
    for (int i = 0; i < 5; ++i)
    {
        const Data data = sampleOf(generator, 1 + i, 17);
        add(increments, data);
        add(values, data);
        all.input.insert(all.input.end(), data.input.begin(), data.input.end());
        all.target.insert(all.target.end(), data.target.begin(), data.target.end());
    }

    const Exact input(all.input, 3);
    const Exact target(all.target, 2);
    for (std::size_t c = 0; c < 3; ++c)
    {
        EXPECT_NEAR(increments.input().shift[c], input.mean[c], 1e-13);
        EXPECT_NEAR(increments.input().scale[c], std::sqrt(input.variance[c]), 1e-12);
    }
    for (std::size_t c = 0; c < 2; ++c)
    {
        const double square = target.variance[c] + target.mean[c]*target.mean[c];
        EXPECT_EQ(increments.target().shift[c], 0);
        EXPECT_NEAR(increments.target().scale[c], std::sqrt(square), 1e-13);
        EXPECT_NEAR(values.target().shift[c], target.mean[c], 1e-13);
        EXPECT_NEAR(values.target().scale[c], std::sqrt(target.variance[c]), 1e-13);
    }
    EXPECT_EQ(values.nSamples(), 5);
}


TEST(Normaliser, ANewSampleWeighsOneInMemoryWhateverItsNumberOfCells)
{
    // constant samples: 8 of value 3 with 2 cells each, then values with any number of cells
    Normaliser normaliser({1, 1, 0, false, {0}, {0}}, 4, std::nullopt);
    const auto put = [&](double value, std::size_t nCells)
    {
        const std::vector<double> rows(nCells, value);
        normaliser.add(Span<const double>(rows), Span<const double>(rows),
            Span<const double>(rows), nCells, {}, serial);
    };
    for (int i = 0; i < 8; ++i)
    {
        put(3, 2);
    }

    double mean = 3, square = 9;
    for (const auto& [value, nCells] : {std::pair<double, int>{7, 2}, {-5, 20}, {4, 1}, {1, 6}})
    {
        put(value, nCells);
        mean += (value - mean)/4;
        square += (value*value - square)/4;
        EXPECT_NEAR(normaliser.input().shift[0], mean, 1e-13);
        EXPECT_NEAR(normaliser.input().scale[0], std::sqrt(square - mean*mean), 1e-13);
        EXPECT_NEAR(normaliser.target().shift[0], mean, 1e-13);
    }
}


TEST(Normaliser, AfterFreezingNothingChanges)
{
    std::mt19937 generator(2);
    Normaliser normaliser(incrementsOfU, 100, 3);
    for (int i = 0; i < 3; ++i)
    {
        add(normaliser, sampleOf(generator, 1, 10));
    }
    const Scaling input = normaliser.input();
    const Scaling target = normaliser.target();

    add(normaliser, sampleOf(generator, 50, 10));

    EXPECT_EQ(normaliser.input().shift, input.shift);
    EXPECT_EQ(normaliser.input().scale, input.scale);
    EXPECT_EQ(normaliser.target().scale, target.scale);
    EXPECT_EQ(normaliser.nSamples(), 3);
}


TEST(Normaliser, WithoutSamplesNothingIsScaled)
{
    const Normaliser normaliser(incrementsOfU, 100, std::nullopt);

    EXPECT_THAT(normaliser.input().shift, ElementsAre(0, 0, 0));
    EXPECT_THAT(normaliser.input().scale, ElementsAre(1, 1, 1));
    EXPECT_THAT(normaliser.target().scale, ElementsAre(1, 1));
}


TEST(Normaliser, ASteadyTargetIsScaledByAMillionthOfItsFieldsDeviation)
{
    // U varies by 3 and 4 about its mean, the increments are zero or nearly so
    Normaliser normaliser(incrementsOfU, 100, std::nullopt);
    const std::vector<double> input{1, 2, 3, 4, 6, 9};
    const std::vector<double> target{0, 1e-9, 0, -1e-9};
    const std::vector<double> value{-3, -4, 3, 4};

    normaliser.add(Span<const double>(input), Span<const double>(target),
        Span<const double>(value), 2, {}, serial);

    const double floor = 1e-6*std::sqrt((9 + 16)/2.0);
    EXPECT_THAT(normaliser.target().scale,
        ElementsAre(DoubleNear(floor, 1e-20), DoubleNear(floor, 1e-20)));
}


TEST(Normaliser, AComponentOfNoiseIsNotBlownUp)
{
    // Ux varies by 2, Uy by 1e-13; p is another field and varies by 1e-9
    Normaliser normaliser(incrementsOfU, 100, std::nullopt);
    const std::vector<double> input{-2, 1e-13, 5 - 1e-9, 2, -1e-13, 5 + 1e-9};
    const std::vector<double> target{1, 1, 2, 2};

    normaliser.add(Span<const double>(input), Span<const double>(target),
        Span<const double>(target), 2, {}, serial);

    const std::vector<double> scale = normaliser.input().scale;
    EXPECT_DOUBLE_EQ(scale[0], 2);
    EXPECT_DOUBLE_EQ(scale[1], 1e-6*std::sqrt(2.0));
    EXPECT_NEAR(scale[2], 1e-9, 1e-15);
}


TEST(Normaliser, RoundingOfAConstantFieldIsNotBlownUpAndSmallVariationsAreKept)
{
    // p = 1e5 less its reference: what is left is rounding in one case, a sound wave in another
    const auto scale = [](double amplitude)
    {
        Normaliser normaliser({1, 1, 0, true, {0}, {0}}, 100, std::nullopt);
        normaliser.setInputReference(Span<const double>(std::vector<double>{1e5}));
        const std::vector<double> input{-amplitude, amplitude};
        const std::vector<double> target{0, 0};
        const std::vector<double> value{1e5 - amplitude, 1e5 + amplitude};
        normaliser.add(Span<const double>(input), Span<const double>(target),
            Span<const double>(value), 2, {}, serial);
        return std::make_pair(normaliser.input().scale[0], normaliser.target().scale[0]);
    };

    EXPECT_DOUBLE_EQ(scale(1.4e-11).first, 1e-7);
    EXPECT_NEAR(scale(1.4e-11).second, 1e-7, 1e-20);
    EXPECT_DOUBLE_EQ(scale(1e-5).first, 1e-5);
    EXPECT_DOUBLE_EQ(scale(1).first, 1);
    EXPECT_DOUBLE_EQ(scale(1).second, 1e-6);
}


TEST(Normaliser, AColumnThatNeverVariedHasScaleOne)
{
    Normaliser normaliser(valuesOfU, 100, std::nullopt);
    const std::vector<double> input{5, 5, 7, 5, 5, 7};
    const std::vector<double> target{0, 0, 0, 0};

    normaliser.add(Span<const double>(input), Span<const double>(target),
        Span<const double>(target), 2, {}, serial);

    EXPECT_THAT(normaliser.input().shift, ElementsAre(5, 5, 7));
    EXPECT_THAT(normaliser.input().scale, ElementsAre(1, 1, 1));
    EXPECT_THAT(normaliser.target().scale, ElementsAre(1, 1));
}


TEST(Normaliser, ResumesBitForBit)
{
    std::mt19937 generator(8);
    Normaliser whole(incrementsOfU, 3, std::nullopt);
    whole.setInputReference(Span<const double>(std::vector<double>{1, 2, 1e5}));
    for (int i = 0; i < 4; ++i)
    {
        add(whole, sampleOf(generator, 1 + i, 9));
    }
    Normaliser resumed(incrementsOfU, 3, std::nullopt);
    resumed.load(whole.save());

    for (int i = 0; i < 3; ++i)
    {
        const Data data = sampleOf(generator, 3, 9);
        add(whole, data);
        add(resumed, data);
    }

    EXPECT_EQ(resumed.nSamples(), 7);
    EXPECT_EQ(resumed.input().shift, whole.input().shift);
    EXPECT_EQ(resumed.input().scale, whole.input().scale);
    EXPECT_EQ(resumed.target().scale, whole.target().scale);
    EXPECT_EQ(resumed.save().get<double>("inputReference"),
        whole.save().get<double>("inputReference"));
}


TEST(Normaliser, WhatDoesNotFitIsRefused)
{
    EXPECT_THAT(([] { Normaliser({2, 1, 0, true, {0}, {0}}, 5, std::nullopt); }),
        ThrowsMessage<Error>(HasSubstr("1 fields of input columns, expected 2")));
    EXPECT_THAT(([] { Normaliser({1, 1, 0, true, {0}, {0}}, 0.5, std::nullopt); }),
        ThrowsMessage<Error>(HasSubstr("memory")));

    Normaliser normaliser({1, 1, 0, true, {0}, {0}}, 5, std::nullopt);
    const std::vector<double> two{1, 2}, three{1, 2, 3};
    EXPECT_THAT
    (
        ([&]
        {
            normaliser.add(Span<const double>(three), Span<const double>(two),
                Span<const double>(two), 2, {}, serial);
        }),
        ThrowsMessage<Error>(HasSubstr("3 values, expected 2"))
    );
    EXPECT_THAT([&] { normaliser.load(Normaliser(incrementsOfU, 5, std::nullopt).save()); },
        ThrowsMessage<Error>(HasSubstr("inputReference")));
}


// ---- columns with one value per sample

TEST(Normaliser, AFeatureIsScaledByItsValuesOverTheSamples)
{
    Normaliser normaliser({1, 1, 1, true, {0}, {0}}, 100, std::nullopt);
    const std::vector<double> rows{3, 5};
    for (const double deltaT : {0.25, 0.5, 1.5})
    {
        normaliser.add(Span<const double>(rows), Span<const double>(rows),
            Span<const double>(rows), 2, Span<const double>(&deltaT, 1), serial);
    }

    // mean 0.75, deviations 0.5 0.25 0.75
    EXPECT_NEAR(normaliser.input().shift.at(1), 0.75, 1e-15);
    EXPECT_NEAR(normaliser.input().scale.at(1), std::sqrt(0.875/3), 1e-15);
    EXPECT_THAT([&] { normaliser.add(Span<const double>(rows), Span<const double>(rows),
        Span<const double>(rows), 2, {}, serial); },
        ThrowsMessage<Error>(HasSubstr("0 features")));
}


TEST(Normaliser, TheRoundingOfTheClockIsNoVariation)
{
    Normaliser normaliser({1, 1, 1, true, {0}, {0}}, 100, std::nullopt);
    const std::vector<double> rows{3, 5};
    for (int step = 0; step < 20; ++step)
    {
        const double deltaT = (100 + 0.005*(step + 1)) - (100 + 0.005*step);
        normaliser.add(Span<const double>(rows), Span<const double>(rows),
            Span<const double>(rows), 2, Span<const double>(&deltaT, 1), serial);
    }

    EXPECT_NEAR(normaliser.input().scale.at(1), 0.005e-6, 1e-12);
}


TEST(Normaliser, ScalesEdgeInputsByTheirRootMeanSquare)
{
    // Two columns of one field, and one of another
    const Normaliser::Layout layout{1, 1, 0, true, {0}, {0}, {0, 0, 1}};
    Normaliser normaliser(layout, 100, std::nullopt);
    EXPECT_THAT(normaliser.edges(), ElementsAre(1, 1, 1));
    const std::vector<double> rows{3, 5};
    const std::vector<double> first{3, 0, 2,  -3, 0, 2}, second{5, 0, 4};
    for (const auto* edges : {&first, &second})
    {
        normaliser.add(Span<const double>(rows), Span<const double>(rows),
            Span<const double>(rows), 2, {}, serial, Span<const double>(*edges));
    }

    // Each sample counts once: (9 + 25)/2, and (4 + 16)/2. The column of zeros has the floor of its
    // field.
    const std::vector<double> scales = normaliser.edges();
    EXPECT_NEAR(scales[0], std::sqrt(17.0), 1e-14);
    EXPECT_NEAR(scales[1], 1e-6*std::sqrt(17.0/2), 1e-20);
    EXPECT_NEAR(scales[2], std::sqrt(10.0), 1e-14);
    EXPECT_EQ(normaliser.inputScales().edges, scales);

    Normaliser resumed(layout, 100, std::nullopt);
    resumed.load(normaliser.save());
    EXPECT_EQ(resumed.edges(), scales);
}


TEST(Normaliser, DividesStaticColumnsByWhatTheirNamesSay)
{
    EXPECT_THAT(staticScales({"cell", "cellVolume", "pFixed", "wallDistance"}, {0.25, 3}),
        ElementsAre(1, 3, 1, 0.25));
}


TEST(Normaliser, KeepsLengthAndVolumeOfTheFirstMesh)
{
    Normaliser first({1, 1, 0, true, {0}, {0}}, 100, std::nullopt);
    EXPECT_EQ(first.meshScales().edgeLength, 1);
    EXPECT_EQ(first.meshScales().cellVolume, 1);
    first.setMeshScales({0.375, 0.0625});
    Normaliser second({1, 1, 0, true, {0}, {0}}, 100, std::nullopt);
    second.load(first.save());
    EXPECT_EQ(second.meshScales().edgeLength, 0.375);
    EXPECT_EQ(second.meshScales().cellVolume, 0.0625);
}
