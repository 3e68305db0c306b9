// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <random>

namespace inSitu
{

//- A whole number in [0, n), each with the same probability; the same with every standard library
inline std::uint64_t below(std::mt19937_64& generator, std::uint64_t n)
{
    // The numbers below 2^64 mod n are one too many for their remainders: draw again
    const std::uint64_t excess = (0 - n) % n;
    std::uint64_t number = generator();
    while (number < excess)
    {
        number = generator();
    }
    return number % n;
}

}
