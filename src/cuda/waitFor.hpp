// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ATen/cuda/CUDAEvent.h>

#include <functional>

namespace inSitu
{
namespace device
{

//- Until what the event stands for is done. check is called meanwhile, and throws to end the waiting;
//  it has ended then what waits for other ranks, and what comes behind that is waited for all the
//  same: nothing uses memory any more that is given back now.
void waitFor(const at::cuda::CUDAEvent& event, const std::function<void()>& check);

}
}
