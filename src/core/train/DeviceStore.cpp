// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/DeviceStore.hpp"

#include <ATen/ATen.h>
#include <c10/core/Allocator.h>
#include <c10/util/Exception.h>

#include <algorithm>

namespace inSitu
{

DeviceStore::DeviceStore(const at::Device& device, std::shared_ptr<DeviceQueue> queue,
    std::size_t memory)
:
    device_(device),
    queue_(std::move(queue)),
    memory_(memory)
{}


void DeviceStore::nextBatch()
{
    ++batch_;
    for (auto entry = entries_.begin(); entry != entries_.end();)
    {
        if (entry->first.expired())
        {
            free_.push_back(std::move(entry->second.memory));
            entry = entries_.erase(entry);
        }
        else
        {
            ++entry;
        }
    }
}


DeviceStore::Place DeviceStore::placeOf(const SlotPool::Handle& rows, std::size_t bytes)
{
    const auto found = entries_.find(rows);
    if (found != entries_.end())
    {
        found->second.lastBatch = batch_;
        return {found->second.memory, false};
    }
    const at::Tensor memory = take(bytes);
    if (memory.defined())
    {
        entries_.emplace(rows, Entry{memory, batch_});
    }
    return {memory, true};
}


//- Undefined if there is none. What is in the queue reads rows that have gone before others are
//  written.
at::Tensor DeviceStore::take(std::size_t bytes)
{
    while (bytes <= memory_)
    {
        const auto same = std::find_if(free_.begin(), free_.end(),
            [&](const at::Tensor& memory) { return memory.nbytes() == bytes; });
        if (same != free_.end())
        {
            const at::Tensor memory = *same;
            free_.erase(same);
            return memory;
        }
        if (bytes_ + bytes <= memory_)
        {
            try
            {
                const at::Tensor memory = at::empty({static_cast<std::int64_t>(bytes)},
                    at::dtype(at::kByte).device(device_));
                bytes_ += bytes;
                return memory;
            }
            catch (const c10::OutOfMemoryError&)
            {
                memory_ = bytes_;
            }
        }
        else if (!free_.empty())
        {
            // Of another size
            queue_->waitFor(queue_->mark());
            bytes_ -= free_.back().nbytes();
            free_.pop_back();
        }
        else
        {
            const auto oldest = std::min_element(entries_.begin(), entries_.end(),
                [](const auto& a, const auto& b)
                    { return a.second.lastBatch < b.second.lastBatch; });
            if (oldest == entries_.end() || oldest->second.lastBatch == batch_)
            {
                return {};
            }
            free_.push_back(std::move(oldest->second.memory));
            entries_.erase(oldest);
        }
    }
    return {};
}

}
