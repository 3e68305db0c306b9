// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/simd/Kernels.hpp"

#include <string>
#include <vector>

namespace inSitu
{

//- relu silu gelu tanh elu leaky_relu sigmoid identity
const std::vector<std::string>& activationWords();

//- Throws Error if there is none of that name
Activation activationOf(const std::string& word);

//- TorchScript: the activation of an expression
std::string activationScript(Activation activation, const std::string& argument);

}
