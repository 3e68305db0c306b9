// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/Node.hpp"

#include <map>
#include <string>
#include <vector>

namespace inSitu
{

//- A configuration as path → value: {"training.optimizer.learningRate", "1e-3"}; lists are
//  written "(a b c)"
std::map<std::string, std::string> flatten(const Node& node);


struct ConfigDifference
{
    std::string path;
    std::string before;     //!< "-" where there was none
    std::string after;

    //- "horizon: 4 -> 1"
    std::string text() const;
};

//- In the order of the paths
std::vector<ConfigDifference> differences
(
    const std::map<std::string, std::string>& before,
    const std::map<std::string, std::string>& after
);

}
