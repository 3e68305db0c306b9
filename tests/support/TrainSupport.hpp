// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/StateTree.hpp"
#include "config/SchemaReader.hpp"
#include "sample/Sample.hpp"
#include "train/TrainingConfig.hpp"

#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace inSitu
{

//- A block as a user writes it: {"loss.type", "mse"} is an entry of a nested block,
//  "(4 11 20)" a list
inline Node blockOf(const std::vector<std::pair<std::string, std::string>>& entries)
{
    Node block = Node::block();
    for (const auto& [path, text] : entries)
    {
        Node* parent = &block;
        std::string key = path;
        for (auto dot = key.find('.'); dot != std::string::npos; dot = key.find('.'))
        {
            const std::string name = key.substr(0, dot);
            if (!parent->find(name))
            {
                parent->add(name, Node::block());
            }
            parent = const_cast<Node*>(parent->find(name));
            key.erase(0, dot + 1);
        }

        Node value = Node::scalar(text);
        if (!text.empty() && text.front() == '(')
        {
            std::istringstream words(text.substr(1, text.size() - 2));
            std::vector<Node> items;
            for (std::string word; words >> word;)
            {
                items.push_back(Node::scalar(word));
            }
            value = Node::list(std::move(items));
        }
        parent->add(key, std::move(value));
    }
    return block;
}


//- Options of a registry with the given keys
template<class Base>
std::unique_ptr<Base> optionsOf(const Registry<Base>& registry, const std::string& type,
    const std::vector<std::pair<std::string, std::string>>& entries = {})
{
    std::unique_ptr<Base> options = registry.at(type)();
    readConfig(blockOf(entries), type, [&](Schema& schema) { options->describe(schema); });
    return options;
}


inline TrainingConfig trainingConfig(
    const std::vector<std::pair<std::string, std::string>>& entries)
{
    TrainingConfig config;
    readConfig(blockOf(entries), "training", [&](Schema& schema) { config.describe(schema); });
    return config;
}


//- Memory of a snapshot or target
template<class Value>
SlotPool::Handle slotOf(std::vector<Value> values)
{
    auto memory = std::make_shared<std::vector<Value>>(std::move(values));
    return SlotPool::Handle(memory, memory->data());
}


//- Names whose arrays or texts differ in any bit; empty: equal
inline std::string firstDifference(const StateTree& a, const StateTree& b)
{
    if (a.texts() != b.texts())
    {
        return "texts";
    }
    for (const auto& [name, array] : a.arrays())
    {
        if (!b.has(name))
        {
            return name + " only in the first";
        }
        const StateTree::Array& other = b.getArray(name);
        if (array.type != other.type || array.shape != other.shape
         || std::memcmp(array.data.get(), other.data.get(), array.bytes()) != 0)
        {
            return name;
        }
    }
    return a.arrays().size() == b.arrays().size() ? "" : "more in the second";
}

}
