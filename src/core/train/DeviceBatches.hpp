// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/DeviceQueue.hpp"
#include "model/GraphBatch.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace inSitu
{

//- Brings batches from the host to a device, into memory that stays where it is for batches of the
//  same graph and sizes. What is the same tensor as before is not copied again, unless it varies.
class DeviceBatches
{
public:

    struct Batch
    {
        GraphBatch inputs;
        at::Tensor targets;
        at::Tensor weights;
    };

    DeviceBatches(const at::Device& device, std::shared_ptr<DeviceQueue> queue);

    //- Until the values last handed over may be overwritten
    void waitForHost();

    //- Put the copies into the queue. targets and weights may be undefined. Edges that were copied
    //  anew come as another tensor of the same memory. The last graphs and sizes are kept.
    const Batch& bring(const GraphBatch& inputs, const at::Tensor& targets = {},
        const at::Tensor& weights = {});

private:

    struct Slot
    {
        Batch batch;
        at::Tensor nodes, edges, targets, weights;
        at::Tensor hostEdges, hostWeights;      // whose values are there
    };

    Slot& slotFor(const GraphBatch& inputs, const at::Tensor& targets);

    static constexpr std::size_t maxSlots = 8;

    at::Device device_;
    std::shared_ptr<DeviceQueue> queue_;
    std::vector<std::unique_ptr<Slot>> slots_;      // the one in use comes first
    std::int64_t mark_ = 0;
};

}
