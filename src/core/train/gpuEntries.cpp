// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/gpuEntries.hpp"

#include "train/TrainingConfig.hpp"

namespace inSitu
{

std::optional<GpuEntry> firstGpuEntry(const TrainingConfig& config, const std::string& location)
{
    if (config.precision == "bfloat16" || config.precision == "float16")
    {
        return GpuEntry{"training.precision", "precision " + config.precision, "precision float32"};
    }
    if (config.castOn == "device")
    {
        return GpuEntry{"training.castOn", "castOn device", "castOn host"};
    }
    if (location == "device")
    {
        return GpuEntry{"buffer.location", "buffer.location device",
            "buffer { location auto; }, or host"};
    }
    return std::nullopt;
}


std::string refusal(const GpuEntry& entry, const std::string& reason)
{
    return entry.text + " is for GPUs, and this run is on the cpu"
        + (reason.empty() ? "" : " (" + reason + ')') + ".\n    Remedy: " + entry.remedy;
}

}
