// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/Node.hpp"
#include "config/Json.hpp"

#include <algorithm>
#include <stdexcept>

namespace inSitu
{
namespace
{

Node make(Node::Kind kind, std::string file, int line)
{
    Node node;
    node.kind = kind;
    node.file = std::move(file);
    node.line = line;
    return node;
}


std::string scalarJson(const Node& node)
{
    const bool literal = !node.quoted
        && (node.text == "true" || node.text == "false" || isJsonNumber(node.text));
    return literal ? node.text : jsonString(node.text);
}

}


Node Node::scalar(std::string text, std::string file, int line)
{
    Node node = make(Kind::scalar, std::move(file), line);
    node.text = std::move(text);
    return node;
}


Node Node::list(std::vector<Node> items, std::string file, int line)
{
    Node node = make(Kind::list, std::move(file), line);
    node.items = std::move(items);
    return node;
}


Node Node::block(std::string file, int line)
{
    return make(Kind::block, std::move(file), line);
}


const Node* Node::find(const std::string& key) const
{
    for (const auto& entry : entries)
    {
        if (entry.first == key)
        {
            return &entry.second;
        }
    }
    return nullptr;
}


void Node::add(std::string key, Node node)
{
    entries.emplace_back(std::move(key), std::move(node));
}


Node Node::take(const std::string& key)
{
    const auto entry = std::find_if(entries.begin(), entries.end(),
        [&](const auto& candidate) { return candidate.first == key; });
    if (entry == entries.end())
    {
        throw std::out_of_range("no entry '" + key + "'");
    }
    Node node = std::move(entry->second);
    entries.erase(entry);
    return node;
}


std::string Node::json() const
{
    if (kind == Kind::scalar)
    {
        return scalarJson(*this);
    }

    std::string json;
    const auto separate = [&]() { json += json.empty() ? "" : ","; };

    if (kind == Kind::list)
    {
        for (const Node& item : items)
        {
            separate();
            json += item.json();
        }
        return '[' + json + ']';
    }

    for (const auto& entry : entries)
    {
        separate();
        json += jsonString(entry.first) + ':' + entry.second.json();
    }
    return '{' + json + '}';
}

}
