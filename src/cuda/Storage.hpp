// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <type_traits>

namespace inSitu
{
namespace device
{

// Types in which states, activations and packed weights are stored on the GPU: double, float and
// these two. Sums, statistics and parameters are double for double and float otherwise.

struct BFloat16
{
    std::uint16_t bits;
};

struct Float16
{
    std::uint16_t bits;
};

//- Type of sums of T, and of the parameters behind T
template<class T>
using Accumulator = std::conditional_t<std::is_same_v<T, double>, double, float>;

//- Elements of T that are read and written at once, 16 bytes. Leading dimensions are multiples.
template<class T>
constexpr int vectorSize = 16/static_cast<int>(sizeof(T));

//- Leading dimension of n columns: a multiple of 8 whatever the type, as matrix units want it
constexpr int paddedColumns(int n)
{
    return (n + 7)/8*8;
}

}
}
