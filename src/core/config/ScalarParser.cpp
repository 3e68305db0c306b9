// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/ScalarParser.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

namespace inSitu
{
namespace
{

// The whole text must be used; from_chars takes no plus sign, users do
template<class T>
std::errc parseWhole(const std::string& text, T& value)
{
    const bool plus = text.size() > 1 && text[0] == '+' && text[1] != '-';
    const char* const end = text.data() + text.size();
    const auto result = std::from_chars(text.data() + plus, end, value);

    return result.ec == std::errc() && result.ptr != end ? std::errc::invalid_argument : result.ec;
}


void checkRange(const Node& node, const std::string& path, double value, const Range& range)
{
    if (!range.contains(value))
    {
        fail(node, path, "is " + node.text + "; it must be " + range.text());
    }
}

}


void fail(const Node& node, const std::string& path, const std::string& fault)
{
    throw ConfigError(node.file, node.line, path + ' ' + fault);
}


const std::string& scalarText(const Node& node, const std::string& path)
{
    if (node.kind != Node::Kind::scalar)
    {
        fail(node, path, std::string("is a ")
            + (node.kind == Node::Kind::list ? "list" : "block") + "; a single value is wanted");
    }
    return node.text;
}


bool parseBool(const Node& node, const std::string& path)
{
    static const std::set<std::string> yes{"yes", "on", "true", "y", "t", "1"};
    static const std::set<std::string> no{"no", "off", "false", "n", "f", "none", "0"};

    std::string word = scalarText(node, path);
    std::transform(word.begin(), word.end(), word.begin(),
        [](unsigned char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; });

    if (yes.count(word))
    {
        return true;
    }
    if (no.count(word))
    {
        return false;
    }
    fail(node, path,
        '\'' + node.text + "' is neither yes nor no; one of: yes no on off true false");
}


std::int64_t parseInt(const Node& node, const std::string& path, const Range& range)
{
    const std::string& text = scalarText(node, path);

    std::int64_t value = 0;
    const std::errc error = parseWhole(text, value);
    if (error == std::errc::result_out_of_range)
    {
        fail(node, path, text + " does not fit into 64 bits");
    }
    if (error != std::errc())
    {
        double real = 0;
        const bool isReal = parseWhole(text, real) == std::errc() && std::isfinite(real);
        fail(node, path, '\'' + text + "' is not an integer"
            + (isReal ? "; write it in digits, as 1000" : ""));
    }
    checkRange(node, path, static_cast<double>(value), range);
    return value;
}


double parseDouble(const Node& node, const std::string& path, const Range& range)
{
    const std::string& text = scalarText(node, path);

    double value = 0;
    const std::errc error = parseWhole(text, value);
    if (error == std::errc::result_out_of_range)
    {
        fail(node, path, text + " is beyond the range of double precision");
    }
    if (error != std::errc() || !std::isfinite(value))
    {
        fail(node, path, '\'' + text + "' is not a finite number");
    }
    checkRange(node, path, value, range);
    return value;
}

}
