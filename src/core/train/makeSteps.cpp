// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/Steps.hpp"

#include "base/Error.hpp"
#include "model/chooseDevice.hpp"
#include "train/StepsOnDevice.hpp"
#include "train/StepsOnHost.hpp"
#include "train/TrainerLayout.hpp"
#include "train/gpuEntries.hpp"

namespace inSitu
{

std::unique_ptr<Steps> makeSteps(const TrainingConfig& config, const ChosenDevice& where,
    const StepTools& tools)
{
    if (where.library)
    {
        return std::make_unique<StepsOnDevice>(config, where, tools);
    }
    if (const auto entry = firstGpuEntry(config, tools.layout.buffer.location))
    {
        throw Error(refusal(*entry, where.reason));
    }
    return std::make_unique<StepsOnHost>(tools);
}

}
