// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/Steps.hpp"

#include "base/Error.hpp"
#include "model/chooseDevice.hpp"
#include "train/StepsOnDevice.hpp"
#include "train/StepsOnHost.hpp"
#include "train/TrainerLayout.hpp"
#include "train/TrainingConfig.hpp"

#include <string>

namespace inSitu
{
namespace
{

//- What means nothing, or would be another training, on the CPU
void requireNoGpu(const TrainingConfig& config, const ChosenDevice& where,
    const TrainerLayout& layout)
{
    const auto refuse = [&where](const std::string& entry, const std::string& remedy)
    {
        throw Error(entry + " is for GPUs, and this run is on the " + where.name
            + (where.reason.empty() ? "" : " (" + where.reason + ')') + ".\n    Remedy: "
            + remedy);
    };
    const Storage storage = config.onDevice(where.index).storage;
    if (storage == Storage::bfloat16 || storage == Storage::float16)
    {
        refuse("precision " + config.precision, "precision float32");
    }
    if (config.castOn == "device")
    {
        refuse("castOn device", "castOn host");
    }
    if (layout.buffer.location == "device")
    {
        refuse("buffer.location device", "buffer { location auto; }, or host");
    }
}

}


std::unique_ptr<Steps> makeSteps(const TrainingConfig& config, const ChosenDevice& where,
    const StepTools& tools)
{
    if (where.library)
    {
        return std::make_unique<StepsOnDevice>(config, where, tools);
    }
    requireNoGpu(config, where, tools.layout);
    return std::make_unique<StepsOnHost>(tools);
}

}
