// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <charconv>
#include <string>

namespace inSitu
{

//- Shortest text that reads back as the same number; "nan", whatever its sign, "inf", "-inf"
inline std::string numberText(double value)
{
    if (value != value)
    {
        return "nan";
    }
    char text[32];
    return {text, std::to_chars(text, text + sizeof(text), value).ptr};
}

}
