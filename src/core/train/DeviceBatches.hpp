// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/DeviceQueue.hpp"
#include "model/GraphBatch.hpp"
#include "train/BatchParts.hpp"
#include "train/DeviceCopies.hpp"
#include "train/DeviceRows.hpp"

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

    DeviceBatches(const at::Device& device, std::shared_ptr<DeviceQueue> queue,
        DeviceCopies::Way way);

    //- Of which the device makes the batches itself: parts may be brought. memory: bytes that rows
    //  of samples may take there, to be used again. pool outlives this.
    DeviceBatches(const at::Device& device, std::shared_ptr<DeviceQueue> queue,
        std::shared_ptr<DeviceLibrary> library, std::size_t memory, ThreadPool& pool);

    //- Until the values last handed over may be overwritten
    void waitForHost() { copies_->waitForHost(); }

    //- Let go of rows that nobody else holds, between batches
    void letGo();

    //- Put the copies into the queue. targets and weights may be undefined. Edges that were copied
    //  anew come as another tensor of the same memory. The last graphs and sizes are kept.
    const Batch& bring(const GraphBatch& inputs, const at::Tensor& targets = {},
        const at::Tensor& weights = {});

    //- The same from what the batch is made of, to the bit. Rows are read before this returns.
    const Batch& bring(const BatchParts& parts, const at::Tensor& weights);

private:

    struct Slot
    {
        Batch batch;
        at::Tensor nodes, edges, targets, weights;
        at::Tensor hostEdges, hostStatics, hostWeights;     // whose values are there
    };

    //- Makes the tensors of a batch
    struct Maker
    {
        std::shared_ptr<DeviceStore> store;
        DeviceRows nodes, targets, edgeInputs;
    };

    Slot& slotFor(const std::shared_ptr<const MeshGraph>& graph, at::IntArrayRef nodes,
        bool hasTargets);
    void hold(at::Tensor& there, at::IntArrayRef sizes, const at::Tensor& like);
    void send(at::Tensor& there, const at::Tensor& here);
    void bringEdges(Slot& slot, const at::Tensor& edges, bool vary);
    const Batch& finish(Slot& slot, const std::shared_ptr<const MeshGraph>& graph, bool edgesVary,
        const at::Tensor& weights);

    static constexpr std::size_t maxSlots = 8;

    at::Device device_;
    std::shared_ptr<DeviceQueue> queue_;
    std::shared_ptr<DeviceCopies> copies_;
    std::unique_ptr<Maker> maker_;
    std::vector<std::unique_ptr<Slot>> slots_;      // the one in use comes first
};

}
