// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"

#include <ATen/core/Tensor.h>

#include <vector>

namespace inSitu
{

//- Replace the gradients, contiguous or not, by their sums over the ranks. What is undefined on
//  some ranks counts as zero there, and stays undefined if it is so on all. parameters give the
//  shapes. Collective.
void sumGradients(std::vector<at::Tensor>& gradients, const std::vector<at::Tensor>& parameters,
    Comm& comm);

}
