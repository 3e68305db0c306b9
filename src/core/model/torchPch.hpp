// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Precompiled for model/ and train/: what nearly every source there includes, and no more of
// LibTorch than that. Sources still include what they use.

#include <torch/nn.h>
#include <torch/optim.h>
#include <torch/script.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>
