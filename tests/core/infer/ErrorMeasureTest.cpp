// SPDX-License-Identifier: GPL-3.0-or-later
#include "infer/ErrorMeasure.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace inSitu
{
namespace
{

using Values = std::vector<double>;

void add(ErrorMeasure& measure, const Values& prediction, const Values& truth, const Values& still)
{
    measure.add(Span<const double>(prediction), Span<const double>(truth),
        Span<const double>(still), nullptr, SerialComm());
}

}


TEST(ErrorMeasure, IsPerFieldOverAllSamplesSinceTheReset)
{
    // Columns Ux Uy p of two cells
    ErrorMeasure measure({0, 0, 1});
    EXPECT_EQ(measure.errors(SerialComm()).samples, 0);
    EXPECT_EQ(measure.errors(SerialComm()).place, (std::vector<std::int64_t>{-1, -1}));

    add(measure, {1, 2, 30, 3, 4, 50}, {1.5, 2, 33, 3, 2, 50}, {1, 0, 29, 3, 4, 44});
    add(measure, {0, 0, 40, 1, 1, 60}, {0, 1, 35, 1, 1, 61}, {0, 0, 36, 1, 1, 61});

    const PredictionErrors errors = measure.errors(SerialComm());
    EXPECT_EQ(errors.samples, 2);
    // U: 0.25 + 4 + 1 of 8 entries; p: 9 + 25 + 1 of 4
    EXPECT_DOUBLE_EQ(errors.rmse[0], std::sqrt(5.25/8));
    EXPECT_DOUBLE_EQ(errors.rmse[1], std::sqrt(35.0/4));
    // persistence: U 0.25 + 4 + 4 + 1, p 16 + 36 + 1
    EXPECT_DOUBLE_EQ(errors.skill[0], 1 - 5.25/9.25);
    EXPECT_DOUBLE_EQ(errors.skill[1], 1 - 35.0/53);
    EXPECT_EQ(errors.largest, (Values{2, 5}));
    EXPECT_EQ(errors.place, (std::vector<std::int64_t>{1, 0}));

    measure.reset();
    add(measure, {0, 0, 1, 0, 0, 1}, {0, 0, 1, 0, 0, 3}, {0, 0, 1, 0, 0, 1});
    EXPECT_EQ(measure.errors(SerialComm()).largest, (Values{0, 2}));
    EXPECT_EQ(measure.errors(SerialComm()).place, (std::vector<std::int64_t>{-1, 1}));
    EXPECT_EQ(measure.errors(SerialComm()).rmse[1], std::sqrt(2.0));
    EXPECT_EQ(measure.errors(SerialComm()).skill[1], 0);
    EXPECT_TRUE(std::isnan(measure.errors(SerialComm()).skill[0]));
}

}
