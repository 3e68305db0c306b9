// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/ThreadPool.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace inSitu
{

//- Chunks of a loop over entries: cut independently of the team, so that what is summed
//  within one has the same bits for any number of threads
constexpr std::int64_t entriesPerChunk = 8192;

//- body(first, last, chunk) for each chunk of [0, n)
template<class Body>
void forChunks(ThreadPool& pool, std::int64_t n, Body body,
    std::int64_t chunkSize = entriesPerChunk)
{
    const auto nChunks = static_cast<int>((n + chunkSize - 1)/chunkSize);
    pool.run(nChunks, [&](int chunk, int)
    {
        const std::int64_t first = chunk*chunkSize;
        body(first, std::min(n, first + chunkSize), chunk);
    });
}


//- Sum over the chunks of [0, n) of what body(first, last) returns, in chunk order
template<class Body>
double sumChunks(ThreadPool& pool, std::int64_t n, Body body,
    std::int64_t chunkSize = entriesPerChunk)
{
    std::vector<double> sums(static_cast<std::size_t>((n + chunkSize - 1)/chunkSize));
    forChunks(pool, n,
        [&](std::int64_t first, std::int64_t last, int chunk)
        {
            sums[static_cast<std::size_t>(chunk)] = body(first, last);
        },
        chunkSize);
    return std::accumulate(sums.begin(), sums.end(), 0.0);
}

}
