// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"
#include "base/Precision.hpp"
#include "base/StateTree.hpp"
#include "sample/Sample.hpp"

#include <cstddef>
#include <deque>
#include <limits>
#include <memory>
#include <random>
#include <unordered_map>
#include <vector>

namespace inSitu
{

//- Bytes of samples, of which several may share one mesh
class SampleMemory
{
public:

    //- Of the values of a row of the input, of a cell of the target, and on an edge
    SampleMemory(std::size_t bytesPerRow, std::size_t bytesPerCell, std::size_t bytesPerEdge);

    void add(const Sample& sample);
    void remove(const Sample& sample);

    std::size_t bytes() const { return bytes_; }

    //- What the sample would add
    std::size_t bytesOf(const Sample& sample) const;

private:

    std::size_t values(const Sample& sample) const;

    std::size_t bytesPerRow_;
    std::size_t bytesPerCell_;
    std::size_t bytesPerEdge_;
    std::size_t bytes_ = 0;
    std::unordered_map<const void*, std::size_t> users_;    // samples that hold a part of a mesh
};


//- Completed samples to draw from, each on its own mesh. fifo keeps the newest capacity
//  samples; reservoir keeps each sample seen so far with equal probability (Vitter's algorithm
//  R). Where memory is the limit, fifo gives up its oldest samples, reservoir some at random.
//  Owns its generator: the same seed and samples give the same contents and draws.
class ReplayBuffer
{
public:

    enum class Policy { fifo, reservoir };

    struct Limits
    {
        std::size_t capacity = 256;     //!< samples
        std::size_t memory = std::numeric_limits<std::size_t>::max();   //!< bytes
    };

    //- nInputColumns, nTargetColumns and nEdgeColumns of the working precision make up a sample. Over
    //  several ranks each holds its part of the same samples: what one has no room for, none keeps.
    ReplayBuffer(Limits limits, Policy policy, std::uint64_t seed, int nInputColumns,
        int nTargetColumns, Precision precision,
        std::shared_ptr<const Comm> comm = std::make_shared<SerialComm>(), int nEdgeColumns = 0);

    //- Collective
    void add(Sample sample);

    //- n samples drawn with replacement, uniformly and without bias; the same with every
    //  standard library. Throws Error if the buffer is empty.
    std::vector<Sample> draw(int n);

    std::size_t size() const { return samples_.size(); }
    const Limits& limits() const { return limits_; }
    std::int64_t nSeen() const { return nSeen_; }

    //- Of the samples and of the meshes that they keep
    std::size_t bytes() const { return memory_.bytes(); }

    //- fifo: oldest first; reservoir: in no order that means anything
    const std::deque<Sample>& samples() const { return samples_; }

    //- Order, times, features, counters and generator: the same on all ranks
    StateTree saveState() const;

    //- The values of the samples, of this rank, with their meshes, sharing memory with the slots.
    //  known: meshes of the run that samples may share.
    StateTree saveValues(const std::vector<MeshState>& known = {}) const;

    //- values == nullptr: the contents were left out of the checkpoint, counters and
    //  generator resume and the buffer fills again; a sample whose mesh has the number -1 was left
    //  out alone. With the same capacity and policy what follows is bit for bit as if nothing had
    //  happened; a smaller fifo keeps its newest samples, a smaller reservoir a random choice.
    //  known: as for saveValues(), what was shared is shared again. Throws Error, leaving the
    //  buffer as it was, if an entry is missing or does not fit its mesh.
    void load(const StateTree& state, const StateTree* values,
        const std::vector<MeshState>& known = {});

private:

    std::size_t below(std::size_t n);
    bool hasRoomFor(const Sample& sample) const;
    bool isTooLarge() const;
    void remove(std::size_t place);

    std::shared_ptr<const Comm> comm_;
    Limits limits_;
    Policy policy_;
    int nInputColumns_;
    int nTargetColumns_;
    int nEdgeColumns_;
    Precision precision_;
    std::mt19937_64 generator_;
    std::int64_t nSeen_ = 0;
    std::deque<Sample> samples_;
    SampleMemory memory_;
};

}
