// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/StateTree.hpp"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace inSitu
{

//- Put a copy of a tensor on the CPU (float32, float64, int32, int64 or uint8, bool as uint8)
void putTensor(StateTree& state, const std::string& name, const at::Tensor& tensor);

//- The entry as a new tensor of the type and shape of like. Throws Error, naming the entry
//  and both, if type or shape differ or the entry is missing.
at::Tensor getTensor(const StateTree& state, const std::string& name, const at::Tensor& like);

//- State of a generator of torch (a handle: copies share the generator)
std::vector<std::uint8_t> bytesOfGenerator(at::Generator generator);
void setGenerator(at::Generator generator, const std::vector<std::uint8_t>& bytes);

}
