// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/DeviceBatches.hpp"

#include <ATen/ATen.h>

#include <algorithm>

namespace inSitu
{

DeviceBatches::DeviceBatches(const at::Device& device, std::shared_ptr<DeviceQueue> queue)
:
    device_(device),
    queue_(std::move(queue))
{}


void DeviceBatches::waitForHost()
{
    queue_->waitFor(mark_);
}


DeviceBatches::Slot& DeviceBatches::slotFor(const GraphBatch& inputs, const at::Tensor& targets)
{
    const auto found = std::find_if(slots_.begin(), slots_.end(), [&](const auto& slot)
    {
        return slot->batch.inputs.graph == inputs.graph
            && slot->nodes.sizes() == inputs.nodes.sizes()
            && slot->targets.defined() == targets.defined();
    });
    if (found != slots_.end())
    {
        std::rotate(slots_.begin(), found, found + 1);
        return *slots_.front();
    }
    if (slots_.size() == maxSlots)
    {
        queue_->waitFor(queue_->mark());
        slots_.pop_back();
    }
    slots_.insert(slots_.begin(), std::make_unique<Slot>());
    return *slots_.front();
}


const DeviceBatches::Batch& DeviceBatches::bring(const GraphBatch& inputs,
    const at::Tensor& targets, const at::Tensor& weights)
{
    Slot& slot = slotFor(inputs, targets);
    const auto copy = [&](at::Tensor& there, const at::Tensor& here)
    {
        if (!there.defined() || there.sizes() != here.sizes())
        {
            queue_->waitFor(queue_->mark());
            there = at::empty(here.sizes(), here.options().device(device_).pinned_memory(false));
        }
        queue_->put([there, here] { at::Tensor(there).copy_(here, true); });
    };

    copy(slot.nodes, inputs.nodes);
    if (!slot.hostEdges.is_same(inputs.edges) || inputs.edgesVary)
    {
        copy(slot.edges, inputs.edges);
        slot.hostEdges = inputs.edges;
        slot.batch.inputs.edges = slot.edges.alias();
    }
    if (targets.defined())
    {
        copy(slot.targets, targets);
    }
    if (weights.defined() && !slot.hostWeights.is_same(weights))
    {
        copy(slot.weights, weights);
        slot.hostWeights = weights;
    }
    mark_ = queue_->mark();

    slot.batch.inputs.graph = inputs.graph;
    slot.batch.inputs.nodes = slot.nodes;
    slot.batch.inputs.edgesVary = inputs.edgesVary;
    slot.batch.targets = slot.targets;
    slot.batch.weights = slot.weights;
    return slot.batch;
}

}
