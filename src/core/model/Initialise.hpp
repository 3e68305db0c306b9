// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/ParameterSet.hpp"

#include <ATen/core/Generator.h>

#include <cstdint>
#include <string>

namespace inSitu
{

//- A generator of our own: torch's global one belongs to the host program
at::Generator makeGenerator(std::uint64_t seed);

//- Draw name.weight and name.bias as torch.nn.Linear does by default (uniform within
//  1/sqrt(inputs)), with the same numbers: drawn in float32, whatever the model's precision
void initialiseLinear(const ParameterSet& parameters, const std::string& name,
    at::Generator& generator);

}
