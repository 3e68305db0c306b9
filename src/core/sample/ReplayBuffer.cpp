// SPDX-License-Identifier: GPL-3.0-or-later
#include "sample/ReplayBuffer.hpp"

#include "base/Error.hpp"
#include "sample/slotState.hpp"

#include <algorithm>
#include <sstream>
#include <string>

namespace inSitu
{

ReplayBuffer::ReplayBuffer(std::size_t capacity, Policy policy, std::uint64_t seed)
:
    capacity_(capacity),
    policy_(policy),
    generator_(seed)
{
    if (capacity == 0)
    {
        throw Error("a replay buffer of capacity 0 holds nothing to draw from");
    }
}


std::size_t ReplayBuffer::below(std::size_t n)
{
    // The numbers below 2^64 mod n are one too many for their remainders: draw again
    const std::uint64_t excess = (0 - static_cast<std::uint64_t>(n)) % n;
    std::uint64_t number = generator_();
    while (number < excess)
    {
        number = generator_();
    }
    return static_cast<std::size_t>(number % n);
}


void ReplayBuffer::add(Sample sample)
{
    ++nSeen_;
    if (samples_.size() < capacity_)
    {
        samples_.push_back(std::move(sample));
    }
    else if (policy_ == Policy::fifo)
    {
        samples_[oldest_] = std::move(sample);
        oldest_ = (oldest_ + 1) % capacity_;
    }
    else
    {
        const std::size_t place = below(static_cast<std::size_t>(nSeen_));
        if (place < capacity_)
        {
            samples_[place] = std::move(sample);
        }
    }
}


std::vector<Sample> ReplayBuffer::draw(int n)
{
    if (samples_.empty())
    {
        throw Error("nothing can be drawn from an empty replay buffer");
    }
    std::vector<Sample> drawn;
    drawn.reserve(n);
    for (int i = 0; i < n; ++i)
    {
        drawn.push_back(at(below(samples_.size())));
    }
    return drawn;
}


StateTree ReplayBuffer::saveState() const
{
    std::vector<std::int64_t> ids;
    std::vector<double> times;
    for (std::size_t i = 0; i < samples_.size(); ++i)
    {
        ids.push_back(at(i).id);
        times.push_back(at(i).time);
    }
    std::ostringstream generator;
    generator << generator_;

    StateTree state;
    state.put("id", ids);
    state.put("time", times);
    state.putInt("nSeen", nSeen_);
    state.putText("generator", generator.str());
    return state;
}


StateTree ReplayBuffer::saveValues
(
    std::int64_t nRows,
    int nInputColumns,
    std::int64_t nCells,
    int nTargetColumns,
    Precision precision
) const
{
    StateTree values;
    for (std::size_t i = 0; i < samples_.size(); ++i)
    {
        const std::string name = std::to_string(i);
        values.putArray("input/" + name,
            slotArray(at(i).input, realType(precision), nRows, nInputColumns));
        values.putArray("target/" + name,
            slotArray(at(i).target, realType(precision), nCells, nTargetColumns));
    }
    return values;
}


void ReplayBuffer::load
(
    const StateTree& state,
    const StateTree* values,
    const MeshState& mesh,
    SlotPool& inputs,
    SlotPool& targets
)
{
    ReplayBuffer loaded(capacity_, policy_, 0);
    loaded.nSeen_ = state.getInt("nSeen");
    std::istringstream generator(state.getText("generator"));
    if (!(generator >> loaded.generator_))
    {
        throw Error("the saved state of the replay buffer's generator cannot be read");
    }

    if (values)
    {
        const std::vector<std::int64_t> ids = state.get<std::int64_t>("id");
        std::vector<double> times(ids.size());
        state.get("time", Span<double>(times));

        std::vector<std::size_t> kept(ids.size());
        for (std::size_t i = 0; i < kept.size(); ++i)
        {
            kept[i] = i;
        }
        if (kept.size() > capacity_ && policy_ == Policy::fifo)
        {
            kept.erase(kept.begin(), kept.end() - static_cast<std::ptrdiff_t>(capacity_));
        }
        else if (kept.size() > capacity_)
        {
            for (std::size_t i = 0; i < capacity_; ++i)
            {
                std::swap(kept[i], kept[i + loaded.below(kept.size() - i)]);
            }
            kept.resize(capacity_);
        }

        for (const std::size_t i : kept)
        {
            const std::string name = std::to_string(i);
            const StateTree::Type type = values->getArray("input/" + name).type;
            loaded.samples_.push_back
            ({
                ids[i],
                times[i],
                mesh,
                slotFrom(*values, "input/" + name, type, inputs),
                slotFrom(*values, "target/" + name, type, targets)
            });
        }
    }
    *this = std::move(loaded);
}

}
