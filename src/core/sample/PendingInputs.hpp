// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Precision.hpp"
#include "base/StateTree.hpp"
#include "sample/MeshArchive.hpp"
#include "sample/Sample.hpp"

#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

namespace inSitu
{

//- How long an input waits for its target: a number of executions, or, if seconds > 0, until the
//  first execution that is at least so much later (less 1e-6 of it, for rounding)
struct Horizon
{
    int steps = 1;
    double seconds = 0;
};


//- Snapshots that wait for their target, oldest first. Gaps in the executions (time window,
//  disabled object) are the caller's to announce by drop().
class PendingInputs
{
public:

    //- increment: targets are differences over the horizon, formed in double; otherwise
    //  values less targetReference. steps 0: a snapshot completes itself at once, with
    //  values only (throws Error for increments, which would all be zero).
    PendingInputs(Horizon horizon, bool increment, int nTargetColumns, Precision precision);

    //- The values of a new execution. False: maxWaiting snapshots wait already; this one does
    //  not, but it completes others. Throws Error if the rows of its mesh are not those of
    //  the snapshots that wait: drop() or carryOver() first.
    bool push(Snapshot snapshot,
        std::size_t maxWaiting = std::numeric_limits<std::size_t>::max());

    //- Give back the values of the last push(), to be called before a new snapshot is taken; those
    //  that wait are kept
    void releasePresent() { now_.target = nullptr; }

    struct Completed
    {
        //- id and features are the caller's to set, the values of its target come from formTarget()
        Sample sample;

        //- Target fields at the input's time and at the target's [nCells, nTargets] double
        SlotPool::Handle valueThen;
        SlotPool::Handle valueNow;

        double deltaT = 0;              //!< from input to target; steps 0: the solver's step, s
    };

    //- The oldest input whose target has come with the last push(); call until there is none.
    //  targets is a pool of slots for [nCells, nTargetColumns] of the working precision.
    //  Allocates nothing in a steady state.
    std::optional<Completed> next(SlotPool& targets);

    //- Fill the target of such a one, in any thread. targetReference: of each column, for values.
    void formTarget(const Completed& completed, Span<const double> targetReference) const;

    //- Forget all; returns how many were lost
    int drop();

    const std::vector<Snapshot>& snapshots() const { return waiting_; }

    //- Values of one snapshot on another mesh, in the units of its slots
    struct Values
    {
        Span<const double> input;       //!< [nRows, nInputColumns]
        Span<const double> target;      //!< [nCells, nTargetColumns]
    };

    //- The mesh has changed: all that waits goes on there, with these values, one per
    //  snapshot in their order. Throws Error if numbers do not fit; then nothing was changed.
    void carryOver(const MeshState& mesh, const std::vector<Values>& values, SlotPool& inputs,
        SlotPool& rawTargets);

    //- When they were taken: the same on all ranks
    StateTree save() const;

    //- Values (shared with the slots, not copied) and meshes; parts of present are only named
    StateTree saveValues(int nInputColumns, int nEdgeColumns, const MeshState& present) const;

    //- present is the mesh now, of which nothing was saved; edges is null without values on edges
    void load(const StateTree& state, const StateTree& values, const MeshState& present,
        SlotPool& inputs, SlotPool& rawTargets, SlotPool* edges = nullptr);

private:

    bool isDue(const Snapshot& snapshot) const;

    Horizon horizon_;
    bool increment_;
    int nTargetColumns_;
    Precision precision_;
    std::vector<Snapshot> waiting_;
    Snapshot now_;                      // the last one pushed, without its input
};

}
