// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"
#include "config/Node.hpp"
#include "infer/Closure.hpp"

#include <vector>

namespace inSitu
{

//- `limits { nut { min 0; max 1e-3; } }` for the columns of the targets. Throws ConfigError, with
//  file and line, for another field or key, what is no number, or min above max.
ColumnLimits columnLimits(const Node& limits, const std::vector<FieldSpec>& targets);

//- Least and largest component of each target in values [nCells, columns] (collective)
std::vector<std::vector<double>> rangeByField(const std::vector<double>& values,
    const std::vector<FieldSpec>& targets, const Comm& comm);

}
