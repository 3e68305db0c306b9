// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Precision.hpp"
#include "base/StateTree.hpp"
#include "sample/Sample.hpp"

#include <optional>
#include <vector>

namespace inSitu
{

//- Snapshots that wait for their target, oldest first: at most horizon of them. Gaps in
//  the executions (time window, disabled object) are the caller's to announce by drop().
class PendingInputs
{
public:

    //- increment: targets are differences over the horizon, formed in double; otherwise
    //  values less targetReference. horizon 0: a snapshot completes itself at once, with
    //  values only (throws Error for increments, which would all be zero).
    PendingInputs(int horizon, bool increment, int nTargetColumns, Precision precision);

    //- Take a snapshot, give back the sample that it completes, if any. id is left -1.
    //  targets is a pool of slots for [nCells, nTargetColumns] of the working precision.
    //  Allocates nothing in a steady state. Throws Error if the graph is not that of the
    //  snapshots that wait: drop() first.
    std::optional<Sample> push(Snapshot snapshot, Span<const double> targetReference,
        SlotPool& targets);

    //- Forget all; returns how many were lost
    int drop();

    const std::vector<Snapshot>& snapshots() const { return pending_; }

    //- Values (shared with the slots, not copied) and times; the mesh is the caller's to save
    //  and to hand in again
    StateTree save(std::int64_t nRows, int nInputColumns, std::int64_t nCells) const;
    void load(const StateTree& state, const MeshState& mesh, SlotPool& inputs,
        SlotPool& rawTargets);

private:

    int horizon_;
    bool increment_;
    int nTargetColumns_;
    Precision precision_;
    std::vector<Snapshot> pending_;
};

}
