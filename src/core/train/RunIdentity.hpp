// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/StateTree.hpp"
#include "sample/TrainingCase.hpp"
#include "train/Settings.hpp"

#include <string>
#include <vector>

namespace inSitu
{

//- What tells one run from another, for a checkpoint: mesh, columns and configuration
StateTree saveIdentity(const Settings& settings, const TrainingCase& theCase,
    const CaseMesh& mesh);

//- Compare a saved identity with this run. Throws IncompatibleState that names every
//  difference if mesh, columns, or a value that isFixedForever() differ; sameTime: the state is
//  of the start time, otherwise a mesh that may change is not compared. Returns the other
//  changes of the configuration, which apply.
std::vector<std::string> requireSameRun(const StateTree& identity, const Settings& settings,
    const TrainingCase& theCase, const CaseMesh& mesh, bool sameTime);

}
