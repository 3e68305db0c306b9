// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Error.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace inSitu
{

inline void requireSize(std::size_t size, std::size_t expected, const std::string& what)
{
    if (size != expected)
    {
        throw Error("the geometry has " + std::to_string(size) + ' ' + what
            + ", but the graph asks for " + std::to_string(expected));
    }
}


//- Some of 0 1 2, ascending
inline bool areDirections(const std::vector<int>& directions)
{
    return !directions.empty() && directions.front() >= 0 && directions.back() <= 2
        && std::adjacent_find(directions.begin(), directions.end(), std::greater_equal<int>())
            == directions.end();
}

}
