// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/InputNoise.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <vector>

using namespace inSitu;
using testing::ElementsAre;

// Answers of Random123 (kat_vectors, philox4x32 with ten rounds)
TEST(InputNoise, PhiloxGivesTheKnownAnswers)
{
    EXPECT_THAT(philox({0, 0, 0, 0}, {0, 0}),
        ElementsAre(0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8));
    EXPECT_THAT(philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
        ElementsAre(0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd));
    EXPECT_THAT(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
        ElementsAre(0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1));
}


TEST(InputNoise, ACellHasItsNoiseWhereverItLies)
{
    ThreadPool one(1), three(3);
    InputNoise noise(91), again(91);
    constexpr int nCells = 9001;
    std::vector<double> all(3*nCells), some(3*2);
    for (int draw = 0; draw < 3; ++draw)
    {
        noise.draw({}, 3, Span<double>(all), one);
        again.draw(std::vector<std::int64_t>{8999, 17}, 3, Span<double>(some), three);
        for (int column = 0; column < 3; ++column)
        {
            EXPECT_EQ(some[column], all[3*8999 + column]);
            EXPECT_EQ(some[3 + column], all[3*17 + column]);
        }
    }

    // A later draw, by its number
    again.setState({91, 1});
    again.draw({}, 3, Span<double>(all), three);
    noise.setState({91, 1});
    noise.draw(std::vector<std::int64_t>{8999, 17}, 3, Span<double>(some), one);
    EXPECT_EQ(some[5], all[3*17 + 2]);
}


TEST(InputNoise, ValuesAreNormalAndIndependent)
{
    ThreadPool pool(2);
    InputNoise noise(7);
    constexpr int nCells = 200000;
    std::vector<double> first(3*nCells), second(3*nCells);
    noise.draw({}, 3, Span<double>(first), pool);
    noise.draw({}, 3, Span<double>(second), pool);

    double mean = 0, square = 0, fourth = 0, columns = 0, draws = 0, cells = 0;
    for (int i = 0; i < 3*nCells; ++i)
    {
        mean += first[i];
        square += first[i]*first[i];
        fourth += std::pow(first[i], 4);
        columns += i % 3 < 2 ? first[i]*first[i + 1] : 0;
        draws += first[i]*second[i];
        cells += i + 3 < 3*nCells ? first[i]*first[i + 3] : 0;
    }
    // Four standard deviations of the means of n values
    const double n = 3*nCells;
    EXPECT_NEAR(mean/n, 0, 4/std::sqrt(n));
    EXPECT_NEAR(square/n, 1, 4*std::sqrt(2/n));
    EXPECT_NEAR(fourth/n, 3, 4*std::sqrt(96/n));
    EXPECT_NEAR(columns/(2*nCells), 0, 4/std::sqrt(2*nCells));
    EXPECT_NEAR(draws/n, 0, 4/std::sqrt(n));
    EXPECT_NEAR(cells/n, 0, 4/std::sqrt(n));
}
