// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Precision.hpp"
#include "base/StateTree.hpp"
#include "sample/Sample.hpp"

#include <random>
#include <vector>

namespace inSitu
{

//- Completed samples to draw from. fifo keeps the newest capacity samples; reservoir
//  keeps each sample seen so far with equal probability (Vitter's algorithm R). Owns its
//  generator: the same seed and samples give the same contents and draws.
class ReplayBuffer
{
public:

    enum class Policy { fifo, reservoir };

    ReplayBuffer(std::size_t capacity, Policy policy, std::uint64_t seed);

    void add(Sample sample);

    //- n samples drawn with replacement, uniformly; throws Error if the buffer is empty
    std::vector<Sample> draw(int n);

    std::size_t size() const { return samples_.size(); }
    std::size_t capacity() const { return capacity_; }
    std::int64_t nSeen() const { return nSeen_; }
    const std::vector<Sample>& samples() const { return samples_; }

    //- Order, counters and generator; the values of the samples go into a tree of their own,
    //  sharing memory with the slots
    StateTree saveState() const;
    StateTree saveValues(std::int64_t nRows, int nInputColumns, std::int64_t nCells,
        int nTargetColumns, Precision precision) const;

    //- values == nullptr: the contents were left out of the checkpoint, counters and
    //  generator resume and the buffer fills again
    void load(const StateTree& state, const StateTree* values, const MeshState& mesh,
        SlotPool& inputs, SlotPool& targets);

private:

    std::size_t capacity_;
    Policy policy_;
    std::mt19937_64 generator_;
    std::int64_t nSeen_ = 0;
    std::vector<Sample> samples_;
};

}
