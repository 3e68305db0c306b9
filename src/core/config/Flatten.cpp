// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/Flatten.hpp"

namespace inSitu
{
namespace
{

std::string listText(const Node& node)
{
    if (node.kind == Node::Kind::scalar)
    {
        return node.quoted ? '"' + node.text + '"' : node.text;
    }
    std::string text;
    for (const Node& item : node.items)
    {
        text += (text.empty() ? "" : " ") + listText(item);
    }
    return '(' + text + ')';
}


void collect(const Node& node, const std::string& path, std::map<std::string, std::string>& values)
{
    if (node.kind != Node::Kind::block)
    {
        values[path] = listText(node);
        return;
    }
    for (const auto& [key, entry] : node.entries)
    {
        collect(entry, path.empty() ? key : path + '.' + key, values);
    }
}

}


std::map<std::string, std::string> flatten(const Node& node)
{
    std::map<std::string, std::string> values;
    collect(node, {}, values);
    return values;
}


std::string ConfigDifference::text() const
{
    return path + ": " + before + " -> " + after;
}


std::vector<ConfigDifference> differences
(
    const std::map<std::string, std::string>& before,
    const std::map<std::string, std::string>& after
)
{
    std::map<std::string, ConfigDifference> found;
    for (const auto& [path, value] : before)
    {
        found[path] = {path, value, "-"};
    }
    for (const auto& [path, value] : after)
    {
        const auto old = found.find(path);
        if (old == found.end())
        {
            found[path] = {path, "-", value};
        }
        else
        {
            old->second.after = value;
        }
    }

    std::vector<ConfigDifference> result;
    for (const auto& entry : found)
    {
        if (entry.second.before != entry.second.after)
        {
            result.push_back(entry.second);
        }
    }
    return result;
}

}
