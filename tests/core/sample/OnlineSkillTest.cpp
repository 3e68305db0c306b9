// SPDX-License-Identifier: GPL-3.0-or-later
#include "sample/OnlineSkill.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace inSitu
{
namespace
{

const SerialComm comm;

// Two cells; columns Ux Uy belong to field 0, p to field 1
const std::vector<int> fieldOfColumn{0, 0, 1};

const std::vector<double> truth{2, 3, 10, 4, 5, 20};
const std::vector<double> baseline{1, 3, 14, 4, 7, 17};         // errors 1 0 4, 0 2 3
const std::vector<double> prediction{2.5, 3, 11, 4, 4, 18};     // errors .5 0 1, 0 1 2


void addOnce(OnlineSkill& skill, const std::vector<double>& mask = {})
{
    skill.add(Span<const double>(prediction), Span<const double>(truth),
        Span<const double>(baseline), Span<const double>(mask), comm);
}


TEST(OnlineSkill, ComparesSquaredErrorsPerField)
{
    OnlineSkill skill(fieldOfColumn);

    addOnce(skill);

    // U: errors 0.25 + 1 over four entries against 1 + 4; p: 1 + 4 over two against 16 + 9
    EXPECT_DOUBLE_EQ(skill.rmse()[0], std::sqrt(1.25/4));
    EXPECT_DOUBLE_EQ(skill.rmse()[1], std::sqrt(5.0/2));
    EXPECT_DOUBLE_EQ(skill.skill()[0], 1 - 1.25/5);
    EXPECT_DOUBLE_EQ(skill.skill()[1], 1 - 5.0/25);
}


TEST(OnlineSkill, SumsBeforeItDivides)
{
    OnlineSkill skill(fieldOfColumn);
    const std::vector<double> far{6, 3, 10, 4, 5, 20};      // persistence is 4 off in one entry of U

    addOnce(skill);
    skill.add(Span<const double>(baseline), Span<const double>(truth), Span<const double>(far), {}, comm);

    EXPECT_DOUBLE_EQ(skill.skill()[0], 1 - (1.25 + 5)/(5 + 16));
    EXPECT_EQ(skill.nSamples(), 2);
}


TEST(OnlineSkill, LooksOnlyInsideTheMask)
{
    OnlineSkill skill(fieldOfColumn);

    addOnce(skill, {0, 1});

    EXPECT_DOUBLE_EQ(skill.rmse()[0], std::sqrt(1.0/2));
    EXPECT_DOUBLE_EQ(skill.skill()[1], 1 - 4.0/9);
}


TEST(OnlineSkill, HasNoValueWithoutSamplesOrAgainstAnExactBaseline)
{
    OnlineSkill skill(fieldOfColumn);
    EXPECT_TRUE(std::isnan(skill.rmse()[1]));

    skill.add(Span<const double>(prediction), Span<const double>(truth), Span<const double>(truth), {}, comm);
    EXPECT_TRUE(std::isnan(skill.skill()[0]));
    EXPECT_FALSE(std::isnan(skill.rmse()[0]));
}


TEST(OnlineSkill, ContinuesFromItsState)
{
    OnlineSkill whole(fieldOfColumn), first(fieldOfColumn), second(fieldOfColumn);
    addOnce(whole);
    addOnce(first);
    second.load(first.save());

    addOnce(whole);
    addOnce(second);

    EXPECT_EQ(second.skill(), whole.skill());
    EXPECT_EQ(second.rmse(), whole.rmse());
    EXPECT_EQ(second.nSamples(), 2);
}

}
}
