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

    //- n samples drawn with replacement, uniformly and without bias; the same with every
    //  standard library. Throws Error if the buffer is empty.
    std::vector<Sample> draw(int n);

    std::size_t size() const { return samples_.size(); }
    std::size_t capacity() const { return capacity_; }
    std::int64_t nSeen() const { return nSeen_; }

    //- In no order that means anything
    const std::vector<Sample>& samples() const { return samples_; }

    //- Order, counters and generator; the values of the samples go into a tree of their own,
    //  sharing memory with the slots
    StateTree saveState() const;
    StateTree saveValues(std::int64_t nRows, int nInputColumns, std::int64_t nCells,
        int nTargetColumns, Precision precision) const;

    //- values == nullptr: the contents were left out of the checkpoint, counters and
    //  generator resume and the buffer fills again. With the same capacity and policy what
    //  follows is bit for bit as if nothing had happened; a smaller fifo keeps its newest
    //  samples, a smaller reservoir a random choice. Throws Error, leaving the buffer as it
    //  was, if an entry is missing or has another size than the slots.
    void load(const StateTree& state, const StateTree* values, const MeshState& mesh,
        SlotPool& inputs, SlotPool& targets);

private:

    std::size_t below(std::size_t n);

    //- Sample of a given age in the order of arrival (fifo), or in its place (reservoir)
    const Sample& at(std::size_t i) const { return samples_[(oldest_ + i) % samples_.size()]; }

    std::size_t capacity_;
    Policy policy_;
    std::mt19937_64 generator_;
    std::int64_t nSeen_ = 0;
    std::vector<Sample> samples_;
    std::size_t oldest_ = 0;    // fifo: next to be replaced, once the buffer is full
};

}
