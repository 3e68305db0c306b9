// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "buffer/SlotPool.hpp"
#include "model/DeviceQueue.hpp"

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace inSitu
{

//- Memory on a device for rows of samples that come again. Rows are known by the handle of the
//  host's memory, and theirs there is for others when no handle is left: what is found is never of
//  another sample, whatever samples are called. Where memory is short, the rows go that were not
//  asked for longest.
class DeviceStore
{
public:

    //- memory: bytes that it may take; 0: it keeps nothing
    DeviceStore(const at::Device& device, std::shared_ptr<DeviceQueue> queue, std::size_t memory);

    //- Rows that were asked for before may go from now on; those that nobody holds go
    void nextBatch();

    struct Place
    {
        at::Tensor memory;      //!< [bytes]; undefined: there is no room
        bool isNew = true;      //!< to be filled by the caller, before it asks for a next batch
    };

    //- Where these rows are
    Place placeOf(const SlotPool::Handle& rows, std::size_t bytes);

    std::size_t nRows() const { return entries_.size(); }

    //- Taken from the device
    std::size_t bytes() const { return bytes_; }

private:

    struct Entry
    {
        at::Tensor memory;
        std::int64_t lastBatch;
    };

    // Ordered by what owns the rows. A weak handle keeps that from being met again.
    using Entries = std::map<std::weak_ptr<void>, Entry, std::owner_less<>>;

    at::Tensor take(std::size_t bytes);

    at::Device device_;
    std::shared_ptr<DeviceQueue> queue_;
    std::size_t memory_;
    std::size_t bytes_ = 0;
    std::int64_t batch_ = 0;
    Entries entries_;
    std::vector<at::Tensor> free_;
};

}
