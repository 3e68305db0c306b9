// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"
#include "base/StateTree.hpp"
#include "buffer/Gather.hpp"
#include "infer/Surrogate.hpp"
#include "profile/Profiler.hpp"
#include "sample/EdgeGather.hpp"
#include "sample/PendingInputs.hpp"
#include "sample/TrainingCase.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace inSitu
{

//- How far a rollout is from the solver
struct RolloutErrors
{
    std::int64_t step = 0;
    std::vector<double> rmse;               //!< per target field, in its unit
    std::vector<double> relative;           //!< L2 norm of the error over that of the field
    std::vector<double> persistence;        //!< the same for the state that the rollout began from
};


//- A network that feeds on itself. The host keeps the fields of the rollout, with their boundary
//  values, and hands them in; this class steps, and measures. Allocates nothing after the first step
//  on a mesh. Stages of the profiler: gather, predict, compare.
class Rollout
{
public:

    //- Layouts of the views that come in: input columns, target columns of the cells, and edge
    //  inputs
    Rollout(Surrogate& surrogate, RowLayout input, RowLayout target, Horizon horizon,
        const MeshState& mesh, std::vector<int> fieldOfColumn, Profiler& profiler,
        EdgeLayout edges = {});

    //- Start from these fields (collective)
    template<class Scalar>
    void begin(const std::vector<FieldView<Scalar>>& start);

    //- What it began from lies on another mesh now; the number of steps stays
    template<class Scalar>
    void setStart(const std::vector<FieldView<Scalar>>& start);

    bool begun() const { return begun_; }

    //- Take the fields of the rollout as the next input
    template<class Scalar>
    void feed(const Instant& now, const std::vector<FieldView<Scalar>>& fields);

    //- An input is there
    bool fed() const { return fed_; }

    //- Count an execution. True: the horizon is over, advance() is due.
    bool tick(const Instant& now);

    //- Executions since the last input, and when that was
    std::int64_t waited() const { return waited_; }
    double inputTime() const { return inputTime_; }
    void setWaited(std::int64_t executions, double inputTime);

    //- Whole values of the target fields, one horizon after the input [nCells, nColumns]; the input
    //  is used up. Throws Error for a value that is not finite: the rollout has diverged.
    Span<const double> advance(const Instant& now);

    //- Against the solver's fields now; valid until the next call (collective)
    template<class Scalar>
    const RolloutErrors& compare(const std::vector<FieldView<Scalar>>& solver, const Comm& comm);

    std::int64_t step() const { return step_; }

    //- Time that the last step went ahead, s; 0 before the first
    double interval() const { return interval_; }

    //- The mesh has moved: later inputs are taken on it. Or it has changed: then the input is to
    //  be fed again, from fields that lie on it.
    void setMesh(const MeshState& mesh);

    //- Go on with another surrogate of the same columns; the input stays
    void replace(Surrogate& surrogate);

    //- All that a restart on the mesh now needs to go on bit for bit: what is the same on all
    //  ranks, and the values of the rows of this one, with the mesh of the input
    StateTree save() const;
    StateTree saveValues() const;

    //- Throws Error for values of other rows or columns
    void load(const StateTree& state, const StateTree& values);

    //- Columns of start, state and input
    int nTargetColumns() const { return targetLayout_.nColumns; }
    int nInputColumns() const { return inputLayout_.nColumns; }

    //- Back to before begin()
    void reset();

private:

    template<class Scalar>
    void getValues(const std::vector<FieldView<Scalar>>& fields, std::vector<double>& values) const;

    template<class Value>
    void setInput();

    //- Values in the network's precision, less the references
    template<class Value>
    SlotPool::Handle slotOf(const std::vector<double>& values,
        const std::vector<double>& reference, std::optional<SlotPool>& pool) const;

    Surrogate* surrogate_;
    RowLayout inputLayout_;
    RowLayout targetLayout_;
    Horizon horizon_;
    MeshState mesh_;
    std::vector<int> fieldOfColumn_;
    Profiler& profiler_;
    EdgeGather edgeGather_;

    std::vector<double> start_;
    std::vector<double> state_;         // of the targets at the input's time, then at the new one
    std::vector<double> input_;         // as in the fields
    std::vector<double> inputEdges_;    // on the edges
    bool begun_ = false;
    bool fed_ = false;                  // the input is there and not used up
    MeshState inputMesh_;
    double inputTime_ = 0;
    double interval_ = 0;
    std::optional<SlotPool> inputs_;
    std::optional<SlotPool> edges_;
    Sample sample_;
    std::int64_t waited_ = 0;
    std::int64_t step_ = 0;

    // Memory that is used again
    std::vector<double> noReference_;
    std::vector<double> predicted_;
    std::vector<double> truth_;
    std::vector<double> sums_;
    RolloutErrors errors_;
};

}
