// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/StateTree.hpp"

#include <string>
#include <utility>
#include <vector>

namespace inSitu
{

//- Named arrays in the order of a state dictionary
using NamedArrays = std::vector<std::pair<std::string, StateTree::Array>>;

//- The record data.pkl of a state dictionary whose i-th tensor is the record data/<i>
std::string stateDictionaryPickle(const NamedArrays& arrays);

}
