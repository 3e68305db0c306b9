// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/YamlFile.hpp"

namespace inSitu
{

//- learning_rate → learningRate, T_max → TMax; a word without underscores stays
std::string camelCase(const std::string& snakeCase);

//- Is this the nesting of a TorchFort file: `general`, or `parameters` or `general` inside
//  one of its blocks?
bool isTorchFort(const Node& file);

//- Flatten it: see readTrainingFile. Formats: TorchFort 0.4, documentation page "config".
TrainingFile fromTorchFort(const Node& file);

}
