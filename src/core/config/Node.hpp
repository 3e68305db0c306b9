// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace inSitu
{

//- A piece of configuration as it was written: a text, a list or a block of named
//  nodes, each with its place. Both front ends (OpenFOAM dictionary, YAML) make
//  Nodes; nothing behind them knows where a value came from except to say so in a
//  message. Keys are camelCase; the YAML reader translates snake_case.
struct Node
{
    enum class Kind { scalar, list, block };

    Kind kind = Kind::block;
    std::string file;           //!< empty if there is none
    int line = 0;               //!< 0 if unknown
    std::string text;           //!< scalar: the value
    bool quoted = false;        //!< scalar: was written in quotes (OpenFOAM: a regular expression)
    std::vector<Node> items;    //!< list
    std::vector<std::pair<std::string, Node>> entries;  //!< block, in the order written

    static Node scalar(std::string text, std::string file = {}, int line = 0);
    static Node list(std::vector<Node> items, std::string file = {}, int line = 0);
    static Node block(std::string file = {}, int line = 0);

    //- The entry of a block, nullptr if there is none
    const Node* find(const std::string& key) const;

    void add(std::string key, Node node);

    //- Remove an entry and return it; throws std::out_of_range without one
    Node take(const std::string& key);

    //- One line of JSON. Texts without quotes that are JSON numbers, true or false stay so,
    //  all others become strings.
    std::string json() const;
};

}
