// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Span.hpp"
#include "base/ThreadPool.hpp"

#include <array>
#include <cstdint>

namespace inSitu
{

//- Philox4x32-10: ten rounds on a counter give four random words, the same for the same counter
//  and key, in any order of calls (Salmon et al., Parallel random numbers: as easy as 1, 2, 3,
//  SC 2011)
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
    std::array<std::uint32_t, 2> key);


//- Normal deviates that depend on seed, draw, cell and column alone: a cell gets the same noise
//  on whatever rank it lies
class InputNoise
{
public:

    explicit InputNoise(std::uint64_t seed) : state_{seed, 0} {}

    //- Standard normal values of the next draw [cells, nColumns]. ids: of the cells in the whole
    //  mesh; empty: they are numbered as here.
    void draw(Span<const std::int64_t> ids, int nColumns, Span<double> values, ThreadPool& pool);

    //- What later draws depend on
    struct State
    {
        std::uint64_t seed;
        std::int64_t nDraws;
    };

    const State& state() const { return state_; }
    void setState(const State& state) { state_ = state; }

private:

    State state_;
};

}
