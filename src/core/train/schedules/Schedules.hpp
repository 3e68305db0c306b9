// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "train/Schedule.hpp"

namespace inSitu
{

//- What the registry offers. Formulas are those of torch.optim.lr_scheduler, in closed form:
//  k counts optimiser steps, base is the learning rate of the optimiser.
std::unique_ptr<ScheduleOptions> makeConstantOptions();

//- base gamma^floor(k/stepSize)
std::unique_ptr<ScheduleOptions> makeStepOptions();

//- base gamma^(number of milestones <= k); a repeated milestone counts twice
std::unique_ptr<ScheduleOptions> makeMultistepOptions();

//- base (1 − min(k, totalIters)/totalIters)^power
std::unique_ptr<ScheduleOptions> makePolynomialOptions();

//- etaMin + (base − etaMin)(1 + cos(pi k/TMax))/2; rises again after TMax
std::unique_ptr<ScheduleOptions> makeCosineAnnealingOptions();

//- base (startFactor + (endFactor − startFactor) min(k, totalIters)/totalIters)
std::unique_ptr<ScheduleOptions> makeLinearOptions();

//- base gamma^k
std::unique_ptr<ScheduleOptions> makeExponentialOptions();

//- ReduceLROnPlateau: lowers the rate when the loss of the optimiser steps stops improving
std::unique_ptr<ScheduleOptions> makePlateauOptions();

}
