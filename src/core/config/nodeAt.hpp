// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/Node.hpp"

#include <string>

namespace inSitu
{

//- The entry of a block by its path, "training.optimizer.type"; null: it is not there
const Node* nodeAt(const Node& block, const std::string& path);

}
