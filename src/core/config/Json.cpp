// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/Json.hpp"

#include <charconv>
#include <cmath>
#include <cstdio>

namespace inSitu
{
namespace
{

// Length of the UTF-8 sequence at the front of text; 0 if there is none. Overlong forms,
// surrogates and code points beyond U+10FFFF are none (Unicode, table 3-7).
std::size_t sequenceLength(std::string_view text)
{
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char lead = byte(0);

    if (lead < 0x80)
    {
        return 1;
    }

    const std::size_t length = lead >= 0xC2 && lead <= 0xDF ? 2
        : lead >= 0xE0 && lead <= 0xEF ? 3
        : lead >= 0xF0 && lead <= 0xF4 ? 4 : 0;
    if (length == 0 || text.size() < length)
    {
        return 0;
    }

    const unsigned char lowest = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const unsigned char highest = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (byte(1) < lowest || byte(1) > highest)
    {
        return 0;
    }
    for (std::size_t i = 2; i < length; ++i)
    {
        if (byte(i) < 0x80 || byte(i) > 0xBF)
        {
            return 0;
        }
    }
    return length;
}


std::string escaped(char c)
{
    switch (c)
    {
        case '"': return "\\\"";
        case '\\': return "\\\\";
        case '\n': return "\\n";
        case '\r': return "\\r";
        case '\t': return "\\t";
        case '\b': return "\\b";
        case '\f': return "\\f";
    }
    if (static_cast<unsigned char>(c) < 0x20)
    {
        char code[8];
        std::snprintf(code, sizeof(code), "\\u%04x", static_cast<unsigned>(c));
        return code;
    }
    return std::string(1, c);
}


std::size_t digits(std::string_view text, std::size_t from)
{
    std::size_t end = from;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9')
    {
        ++end;
    }
    return end;
}

}


std::string jsonString(std::string_view text)
{
    std::string json = "\"";
    while (!text.empty())
    {
        const std::size_t length = sequenceLength(text);
        if (length == 1)
        {
            json += escaped(text.front());
        }
        else if (length > 1)
        {
            json += text.substr(0, length);
        }
        else
        {
            json += "\\ufffd";
        }
        text.remove_prefix(length > 0 ? length : 1);
    }
    return json + '"';
}


std::string jsonNumber(double value)
{
    if (!std::isfinite(value))
    {
        return "null";
    }
    char digits[32];
    const auto result = std::to_chars(digits, digits + sizeof(digits), value);
    return std::string(digits, result.ptr);
}


bool isJsonNumber(std::string_view text)
{
    std::size_t i = !text.empty() && text[0] == '-' ? 1 : 0;

    const std::size_t whole = i;
    i = digits(text, i);
    if (i == whole || (text[whole] == '0' && i > whole + 1))
    {
        return false;
    }
    if (i < text.size() && text[i] == '.')
    {
        const std::size_t fraction = i + 1;
        i = digits(text, fraction);
        if (i == fraction)
        {
            return false;
        }
    }
    if (i < text.size() && (text[i] == 'e' || text[i] == 'E'))
    {
        ++i;
        if (i < text.size() && (text[i] == '+' || text[i] == '-'))
        {
            ++i;
        }
        const std::size_t exponent = i;
        i = digits(text, exponent);
        if (i == exponent)
        {
            return false;
        }
    }
    return i == text.size();
}

}
