// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <charconv>
#include <cstdio>
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


//- As OpenFOAM writes numbers in its log: six digits, for values that were computed
inline std::string shortText(double value)
{
    char text[32];
    std::snprintf(text, sizeof(text), "%g", value);
    return text;
}


//- "512 bytes", "12.5 KiB", "1.00 GiB": three digits
inline std::string bytesText(std::size_t bytes)
{
    if (bytes < 1024)
    {
        return std::to_string(bytes) + " bytes";
    }
    double value = static_cast<double>(bytes);
    const char* unit = "";
    for (const char* next : {"KiB", "MiB", "GiB", "TiB"})
    {
        if (value < 1000)
        {
            break;
        }
        value /= 1024;
        unit = next;
    }
    char text[32];
    std::snprintf(text, sizeof(text), value < 10 ? "%.2f %s" : value < 100 ? "%.1f %s" : "%.0f %s",
        value, unit);
    return text;
}

}
