// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/Node.hpp"

namespace inSitu
{

//- Read a training file. snake_case keys become camelCase (learning_rate → learningRate,
//  T_max → TMax). A TorchFort file (blocks `general model loss optimizer lr_scheduler`
//  with `parameters` or `general` inside) is recognised by its nesting, its words are
//  compared without case, and it is flattened to the same schema as the block `training`.
//  Throws ConfigError with file and line: missing, unreadable or malformed file, duplicate
//  key, a top-level block that TorchFort does not know.
Node readYamlFile(const std::string& path);

}
