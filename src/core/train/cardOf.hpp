// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "io/ModelCard.hpp"
#include "sample/RunningRange.hpp"
#include "sample/TrainingCase.hpp"
#include "train/Settings.hpp"

#include <cstdint>
#include <string>

namespace inSitu
{

//- How far a training has come
struct TrainingProgress
{
    std::int64_t samples = 0;
    std::int64_t steps = 0;
    std::int64_t parameters = 0;
};


//- The card of what a training makes
ModelCard cardOf(const std::string& objectName, const Settings& settings,
    const TrainingCase& theCase, const CaseMesh& mesh, const TrainingProgress& progress,
    const RunningRange& targetRange, const RunningRange& interval);

}
