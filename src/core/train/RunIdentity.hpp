// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"
#include "base/StateTree.hpp"
#include "sample/SavedRows.hpp"
#include "sample/TrainingCase.hpp"
#include "train/Settings.hpp"

#include <string>
#include <vector>

namespace inSitu
{

//- What tells one run from another, for a checkpoint: mesh, columns and configuration. The same on
//  all ranks; collective. What each rank adds is SavedRows::save().
StateTree saveIdentity(const Settings& settings, const TrainingCase& theCase,
    const CaseMesh& mesh, const Comm& comm);

//- Throws IncompatibleState if a saved identity is of another version
void requireFormat(const StateTree& identity);

//- Compare a saved identity, with the rows beside it, with this run. Throws IncompatibleState that
//  names every difference if mesh, columns, or a value that isFixedForever() differ (precisions that
//  keep their state in float32, all but float64, take over from each other); sameTime: the
//  state is of the start time, otherwise a mesh that may change is not compared. Returns the other
//  changes of the configuration, which apply. Collective, all ranks alike.
std::vector<std::string> requireSameRun(const StateTree& identity, const SavedRows& rows,
    const Settings& settings, const TrainingCase& theCase, const CaseMesh& mesh, bool sameTime,
    const Comm& comm);

}
