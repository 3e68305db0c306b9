// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "train/Optimizer.hpp"

namespace inSitu
{

//- What the registry offers: torch.optim's SGD, Adam and AdamW with all their options
std::unique_ptr<OptimizerOptions> makeSgdOptions();
std::unique_ptr<OptimizerOptions> makeAdamOptions();
std::unique_ptr<OptimizerOptions> makeAdamWOptions();

}
