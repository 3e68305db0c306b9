// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"
#include "base/ThreadPool.hpp"
#include "buffer/Gather.hpp"
#include "sample/EdgeGather.hpp"
#include "sample/PendingAccess.hpp"
#include "sample/PendingInputs.hpp"
#include "sample/TrainingCase.hpp"

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace inSitu
{

//- Fields in, samples out: gathers a snapshot each step and gives back the samples that it
//  completes. Holds the references, one per column, fixed at the first snapshot as the
//  global mean of the cells: a pressure of 1e5 ± 1 keeps its digits in float32.
class SampleStream
{
public:

    struct Layout
    {
        RowLayout input;        //!< cells, and boundary rows if the graph has them
        RowLayout target;       //!< cells only
        EdgeLayout edges;       //!< may have no columns
        std::vector<std::string> features;  //!< some of sampleFeatures()
        Horizon horizon;
        bool increment = true;
        Precision precision = Precision::float32;
    };

    SampleStream(Layout layout, const MeshState& mesh);

    struct Taken
    {
        bool good = true;       //!< false: nothing was taken on any rank
        NonFinite fault;        //!< why, field >= 0 on the ranks where it is
        bool kept = true;       //!< false: no room for it to wait as an input
    };

    //- The fields on the mesh now. Scalar: float or double. Allocates nothing once the horizon is
    //  filled. Collective. team: threads that gather large fields together, null: this one alone.
    template<class Scalar>
    Taken take(const Instant& now, const std::vector<FieldView<Scalar>>& views, const Comm& comm,
        ThreadPool* team = nullptr);

    //- The oldest sample that the last take() completed; call until there is none. The values of its
    //  target are formed by the one who needs them.
    std::optional<PendingInputs::Completed> next();

    //- Form them. May be called in another thread, also while a next take() is on its way.
    void formTarget(const PendingInputs::Completed& completed) const
    {
        pending_.formTarget(completed, Span<const double>(targetReference_));
    }

    //- A sample of next() that nobody needs any more: its memory is used again. With it also next()
    //  allocates nothing.
    void recycle(Sample&& sample) { spareFeatures_ = std::move(sample.features); }

    //- Forget the snapshots that wait for a target; returns how many were lost
    int drop() { return pending_.drop(); }

    //- The points have moved: later snapshots are taken on mesh, which has the same graph
    void setGeometry(const MeshState& mesh) { mesh_ = mesh; }

    //- Another graph: what waits goes on there with these values (see PendingInputs), or is
    //  forgotten if there are none, or if there are values on edges, which nobody maps. Returns how
    //  many were lost.
    int setTopology(const MeshState& mesh, const std::vector<PendingInputs::Values>& pending);

    const MeshState& mesh() const { return mesh_; }
    const std::vector<Snapshot>& pending() const { return pending_.snapshots(); }

    //- Values of one of them; the memory of pending is reused
    void getPending(std::size_t i, PendingAccess::Pending& pending) const;

    const Layout& layout() const { return layout_; }
    std::int64_t nRows() const { return mesh_.graph->nNodes(); }
    std::int64_t nCells() const { return mesh_.graph->nCells(); }

    //- Take these references instead of the means of the first snapshot; sizes as the columns of
    //  the layout
    void setReferences(std::vector<double> input, std::vector<double> target);

    const std::vector<double>& inputReference() const { return inputReference_; }

    //- Zeros for increments
    const std::vector<double>& targetReference() const { return targetReference_; }

    std::int64_t nSamples() const { return nSamples_; }

    //- Bytes of the values of one completed sample, and of one that waits, on the mesh now
    std::size_t bytesPerSample() const;
    std::size_t bytesPerPending() const;

    //- At most so many snapshots wait for their target; later ones complete them, but are not
    //  inputs themselves
    void setMaxWaiting(std::size_t number) { maxWaiting_ = number; }

    //- The same on all ranks
    StateTree save() const;

    //- Values of what waits, of this rank
    StateTree saveWaiting() const;

    //- waiting: values of the start time on the mesh now; nullptr: what waited is lost. Returns how
    //  many were lost.
    int load(const StateTree& state, const StateTree* waiting);

private:

    template<class Scalar>
    void fixReferences(const std::vector<FieldView<Scalar>>& views, const Comm& comm);

    template<class Value, class Scalar>
    NonFinite gatherInto(Snapshot& snapshot, const std::vector<FieldView<Scalar>>& views,
        ThreadPool* team) const;

    void makeSlots();

    Layout layout_;
    MeshState mesh_;
    std::optional<SlotPool> inputs_;
    std::optional<SlotPool> targets_;
    std::optional<SlotPool> rawTargets_;
    EdgeGather edgeGather_;
    std::optional<SlotPool> edges_;         // if there are columns for them
    PendingInputs pending_;
    std::size_t maxWaiting_ = std::numeric_limits<std::size_t>::max();
    std::vector<double> inputReference_;
    std::vector<double> targetReference_;
    std::vector<double> noReference_;       // of the raw target values
    std::int64_t nSamples_ = 0;
    std::vector<double> spareFeatures_;
};

}
