// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/Json.hpp"
#include "config/Schema.hpp"

#include <cmath>

namespace inSitu
{

bool Range::contains(double value) const
{
    const bool above = lowerOpen ? value > lower : value >= lower;
    const bool below = upperOpen ? value < upper : value <= upper;
    return above && below;
}


std::string Range::text() const
{
    const bool hasLower = std::isfinite(lower);
    const bool hasUpper = std::isfinite(upper);

    if (hasLower && hasUpper)
    {
        return std::string("in ") + (lowerOpen ? '(' : '[') + jsonNumber(lower) + ", "
            + jsonNumber(upper) + (upperOpen ? ')' : ']');
    }
    if (hasLower)
    {
        return (lowerOpen ? "> " : ">= ") + jsonNumber(lower);
    }
    if (hasUpper)
    {
        return (upperOpen ? "< " : "<= ") + jsonNumber(upper);
    }
    return {};
}

}
