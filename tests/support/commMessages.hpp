// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

//- What the checks of a Comm send: each rank, place and round has its own
namespace inSitu::commChecks
{

using Bytes = Comm::Bytes;

//- A number that belongs to one rank, place and round
inline double number(int rank, std::size_t i, int round = 0)
{
    return 0.7*(rank + 1) - 0.31*static_cast<double>(i % 1013) + 1.0/(3 + rank + round);
}


template<class T>
std::vector<T> numbers(int rank, std::size_t n, int round = 0)
{
    std::vector<T> values(n);
    for (std::size_t i = 0; i < n; ++i)
    {
        values[i] = static_cast<T>(number(rank, i, round));
    }
    return values;
}


template<class T>
void expectSum(const Comm& comm, const std::vector<T>& values, int round = 0)
{
    const double rounding = 4*comm.size()*std::numeric_limits<T>::epsilon();
    for (std::size_t i = 0; i < values.size(); ++i)
    {
        double sum = 0, size = 0;
        for (int rank = 0; rank < comm.size(); ++rank)
        {
            sum += number(rank, i, round);
            size += std::abs(number(rank, i, round));
        }
        ASSERT_NEAR(values[i], sum, rounding*size) << "entry " << i << " of " << values.size();
    }
}


//- So many bytes that only this pair and round have
inline Bytes message(std::size_t nBytes, int from, int to, int round = 0)
{
    Bytes bytes(nBytes);
    for (std::size_t i = 0; i < nBytes; ++i)
    {
        bytes[i] = static_cast<std::uint8_t>(31*from + 7*to + 3*round + i + i/251);
    }
    return bytes;
}


//- Odd, often nothing, different in the two directions
inline std::size_t size(int from, int to, int round = 0)
{
    return static_cast<std::size_t>((5*from + 11*to + round) % 4)*413;
}


//- Some of the other ranks, fewer than all where there are more than two
inline std::vector<Comm::Neighbour> neighbours(const Comm& comm, int round = 0)
{
    std::vector<Comm::Neighbour> some;
    for (int other = comm.size() - 1; other >= 0; --other)
    {
        if (other != comm.rank() && (comm.size() < 3 || (comm.rank() + other) % 3 != 0))
        {
            some.push_back({other, size(comm.rank(), other, round),
                size(other, comm.rank(), round)});
        }
    }
    return some;
}


inline void fill
(
    const Comm& comm,
    Exchange& exchange,
    const std::vector<Comm::Neighbour>& neighbours,
    int round
)
{
    for (std::size_t i = 0; i < neighbours.size(); ++i)
    {
        const Bytes bytes =
            message(neighbours[i].bytesToSend, comm.rank(), neighbours[i].rank, round);
        std::copy(bytes.begin(), bytes.end(), static_cast<std::uint8_t*>(exchange.toSend(i)));
    }
}


inline void expectMessages
(
    const Comm& comm,
    const Exchange& exchange,
    const std::vector<Comm::Neighbour>& neighbours,
    int round
)
{
    for (std::size_t i = 0; i < neighbours.size(); ++i)
    {
        const auto* first = static_cast<const std::uint8_t*>(exchange.received(i));
        EXPECT_EQ(Bytes(first, first + neighbours[i].bytesToReceive),
            message(neighbours[i].bytesToReceive, neighbours[i].rank, comm.rank(), round))
            << "from rank " << neighbours[i].rank << " in round " << round;
    }
}

}
