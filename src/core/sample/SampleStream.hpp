// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"
#include "buffer/Gather.hpp"
#include "sample/PendingInputs.hpp"

#include <optional>
#include <string>
#include <vector>

namespace inSitu
{

//- Fields in, samples out: gathers a snapshot each step and gives back the sample that it
//  completes. Holds the references, one per column, fixed at the first snapshot as the
//  global mean of the cells: a pressure of 1e5 ± 1 keeps its digits in float32.
class SampleStream
{
public:

    struct Layout
    {
        RowLayout input;        //!< cells, and boundary rows if the graph has them
        RowLayout target;       //!< cells only
        std::int64_t nCells = 0;
        std::int64_t nRows = 0;         //!< of the input
        std::int64_t nCellsGlobal = 0;
    };

    SampleStream(Layout layout, int horizon, bool increment, Precision precision);

    struct Completed
    {
        Sample sample;

        //- Target fields at the input's time and at the target's [nCells, nTargets] double
        SlotPool::Handle valueThen;
        SlotPool::Handle valueNow;
    };

    struct Taken
    {
        NonFinite fault;                //!< field >= 0: nothing was taken
        std::optional<Completed> completed;
    };

    //- Scalar: float or double. Allocates nothing once the horizon is filled. Collective.
    template<class Scalar>
    Taken take(double time, std::int64_t timeIndex, const MeshState& mesh,
        const std::vector<FieldView<Scalar>>& views, const Comm& comm);

    //- Forget the snapshots that wait for a target; returns how many were lost
    int drop() { return pending_.drop(); }

    const Layout& layout() const { return layout_; }
    Precision precision() const { return precision_; }
    const std::vector<double>& inputReference() const { return inputReference_; }

    //- Zeros for increments
    const std::vector<double>& targetReference() const { return targetReference_; }

    std::int64_t nSamples() const { return nSamples_; }

    //- Bytes of one completed sample
    std::size_t bytesPerSample() const;

    SlotPool& inputSlots() { return inputs_; }
    SlotPool& targetSlots() { return targets_; }

    StateTree save() const;
    void load(const StateTree& state, const MeshState& mesh);

private:

    template<class Scalar>
    void fixReferences(const std::vector<FieldView<Scalar>>& views, const Comm& comm);

    Layout layout_;
    bool increment_;
    Precision precision_;
    SlotPool inputs_;
    SlotPool targets_;
    SlotPool rawTargets_;
    PendingInputs pending_;
    std::vector<double> inputReference_;
    std::vector<double> targetReference_;
    std::vector<double> noReference_;       // of the raw target values
    std::int64_t nSamples_ = 0;
};

}
