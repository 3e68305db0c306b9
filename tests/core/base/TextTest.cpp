// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/Text.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace inSitu
{
namespace
{

TEST(Text, NumbersReadBackTheSame)
{
    EXPECT_EQ(numberText(0.1), "0.1");
    EXPECT_EQ(numberText(0.1 + 0.2), "0.30000000000000004");
    EXPECT_EQ(numberText(-std::nan("")), "nan");
    EXPECT_EQ(numberText(-std::numeric_limits<double>::infinity()), "-inf");
}


TEST(Text, ShortNumbersHaveSixDigits)
{
    EXPECT_EQ(shortText(0.3 - 0.1), "0.2");
    EXPECT_EQ(shortText(-1234567.0), "-1.23457e+06");
}


TEST(Text, BytesHaveThreeDigitsAndAUnit)
{
    EXPECT_EQ(bytesText(999), "999 bytes");
    EXPECT_EQ(bytesText(1536), "1.50 KiB");
    EXPECT_EQ(bytesText(52*1024 + 512), "52.5 KiB");
    EXPECT_EQ(bytesText(1023*1024), "1.00 MiB");
    EXPECT_EQ(bytesText(700ull << 20), "700 MiB");
    EXPECT_EQ(bytesText(3ull << 40), "3.00 TiB");
}

}
}
