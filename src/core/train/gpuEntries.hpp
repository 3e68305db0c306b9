// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>

namespace inSitu
{

struct TrainingConfig;

//- An entry that means nothing, or would be another training, on the CPU
struct GpuEntry
{
    std::string path;       //!< "training.castOn"
    std::string text;       //!< "castOn device"
    std::string remedy;
};

//- The first one in force; location: the entry buffer.location
std::optional<GpuEntry> firstGpuEntry(const TrainingConfig& config, const std::string& location);

//- What to say of it on a run that is on the CPU, for a reason or, empty, as was asked
std::string refusal(const GpuEntry& entry, const std::string& reason);

}
