// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/InputNoise.hpp"

#include <algorithm>
#include <cmath>

namespace inSitu
{
namespace
{

constexpr std::uint32_t low(std::uint64_t value)
{
    return static_cast<std::uint32_t>(value);
}

constexpr std::uint32_t high(std::uint64_t value)
{
    return static_cast<std::uint32_t>(value >> 32);
}


//- In (0, 1], with all 53 bits
double uniform(std::uint32_t a, std::uint32_t b)
{
    const std::uint64_t bits = (static_cast<std::uint64_t>(a) << 21) ^ (b >> 11);
    return (static_cast<double>(bits & ((1ULL << 53) - 1)) + 1)*0x1p-53;
}


//- Two normal deviates (Box and Muller 1958)
std::array<double, 2> normalPair(const std::array<std::uint32_t, 4>& words)
{
    constexpr double twoPi = 6.283185307179586;
    const double radius = std::sqrt(-2*std::log(uniform(words[0], words[1])));
    const double angle = twoPi*uniform(words[2], words[3]);
    return {radius*std::cos(angle), radius*std::sin(angle)};
}

}


std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
    std::array<std::uint32_t, 2> key)
{
    for (int round = 0; round < 10; ++round)
    {
        const std::uint64_t a = 0xD2511F53ULL*counter[0];
        const std::uint64_t b = 0xCD9E8D57ULL*counter[2];
        counter = {high(b) ^ counter[1] ^ key[0], low(b), high(a) ^ counter[3] ^ key[1], low(a)};
        key[0] += 0x9E3779B9;
        key[1] += 0xBB67AE85;
    }
    return counter;
}


void InputNoise::draw(Span<const std::int64_t> ids, int nColumns, Span<double> values,
    ThreadPool& pool)
{
    constexpr std::size_t cellsPerChunk = 4096;
    const std::size_t nCells = nColumns > 0 ? values.size()/nColumns : 0;
    const auto number = static_cast<std::uint64_t>(state_.nDraws++);

    pool.run(static_cast<int>((nCells + cellsPerChunk - 1)/cellsPerChunk), [&](int chunk, int)
    {
        const std::size_t end = std::min(nCells, (chunk + 1)*cellsPerChunk);
        for (std::size_t cell = chunk*cellsPerChunk; cell < end; ++cell)
        {
            const auto id = static_cast<std::uint64_t>(ids.empty() ? cell : ids[cell]);
            for (int column = 0; column < nColumns; column += 2)
            {
                const std::array<double, 2> pair = normalPair(philox(
                    {low(id), (high(id) << 16) ^ static_cast<std::uint32_t>(column), low(number),
                        high(number)},
                    {low(state_.seed), high(state_.seed)}));
                std::copy_n(pair.begin(), std::min(2, nColumns - column),
                    &values[cell*nColumns + column]);
            }
        }
    });
}

}
