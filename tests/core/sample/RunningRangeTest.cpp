// SPDX-License-Identifier: GPL-3.0-or-later
#include "sample/RunningRange.hpp"

#include "ThreadComm.hpp"

#include <gtest/gtest.h>

namespace inSitu
{
namespace
{

using Values = std::vector<double>;

}


TEST(RunningRange, KeepsTheExtremesOfEachColumn)
{
    RunningRange range(2);
    EXPECT_TRUE(range.minimum().empty());
    EXPECT_TRUE(range.maximum().empty());

    const Values first{3, -4, 5, -7};
    const Values second{4, -5, 2.5, -6};
    range.add(Span<const double>(first), SerialComm());
    EXPECT_EQ(range.minimum(), (Values{3, -7}));
    EXPECT_EQ(range.maximum(), (Values{5, -4}));
    range.add(Span<const double>(second), SerialComm());
    EXPECT_EQ(range.minimum(), (Values{2.5, -7}));
    EXPECT_EQ(range.maximum(), (Values{5, -4}));
}


TEST(RunningRange, IsOverAllRanks)
{
    const Values rows[2] = {{3, -4, 5, -7}, {4, 3, 4.5, -20}};
    onRanks(2, [&](Comm& comm)
    {
        RunningRange range(2);
        range.add(Span<const double>(rows[comm.rank()]), comm);
        EXPECT_EQ(range.minimum(), (Values{3, -20}));
        EXPECT_EQ(range.maximum(), (Values{5, 3}));
    });
}


TEST(RunningRange, GoesOnAfterARestart)
{
    RunningRange before(2);
    const Values first{3, -4};
    const Values second{2, 9};
    before.add(Span<const double>(first), SerialComm());

    RunningRange after(2);
    after.load(before.save());
    after.add(Span<const double>(second), SerialComm());
    EXPECT_EQ(after.minimum(), (Values{2, -4}));
    EXPECT_EQ(after.maximum(), (Values{3, 9}));

    RunningRange empty(2);
    empty.load(RunningRange(2).save());
    EXPECT_TRUE(empty.maximum().empty());
}

}
