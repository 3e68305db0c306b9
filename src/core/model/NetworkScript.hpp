// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/simd/Kernels.hpp"

#include <string>

namespace inSitu
{

//- Name of a parameter as an attribute of a TorchScript module: dots become "__"
std::string attributeOf(const std::string& parameter);

//- TorchScript lines that assign to target the MLP of the first input expression: parameters
//  self.<prefix>0.weight, … as attributes, layer normalisation behind it if normalised
std::string mlpScript(const std::string& target, const std::string& input,
    const std::string& prefix, int nLayers, bool normalised, Activation activation);

}
