// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

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


//- The JSON card of an artifact: fields with columns and dimensions, static and edge columns,
//  target, horizon, training record, versions. Layout: docs/formats.md.
std::string modelCard(const std::string& objectName, const Settings& settings,
    const TrainingCase& theCase, const CaseMesh& mesh, const TrainingProgress& progress);

}
