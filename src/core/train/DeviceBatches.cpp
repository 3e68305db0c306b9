// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/DeviceBatches.hpp"

#include <ATen/ATen.h>

#include <algorithm>

namespace inSitu
{

DeviceBatches::DeviceBatches(const at::Device& device, std::shared_ptr<DeviceQueue> queue,
    DeviceCopies::Way way)
:
    device_(device),
    queue_(std::move(queue)),
    copies_(std::make_shared<DeviceCopies>(device_, queue_, way))
{}


DeviceBatches::DeviceBatches(const at::Device& device, std::shared_ptr<DeviceQueue> queue,
    std::shared_ptr<DeviceLibrary> library, std::size_t memory, ThreadPool& pool)
:
    DeviceBatches(device, std::move(queue), DeviceCopies::Way::beside)
{
    const auto store = std::make_shared<DeviceStore>(device_, queue_, memory);
    const DeviceRows rows(queue_, copies_, std::move(library), store, pool);
    maker_ = std::make_unique<Maker>(Maker{store, rows, rows, rows});
}


void DeviceBatches::letGo()
{
    if (maker_)
    {
        maker_->store->nextBatch();
    }
}


DeviceBatches::Slot& DeviceBatches::slotFor(const std::shared_ptr<const MeshGraph>& graph,
    at::IntArrayRef nodes, bool hasTargets)
{
    const auto found = std::find_if(slots_.begin(), slots_.end(), [&](const auto& slot)
    {
        return slot->batch.inputs.graph == graph && slot->nodes.sizes() == nodes
            && slot->targets.defined() == hasTargets;
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


//- Memory of these sizes and of the type of another tensor, on the device
void DeviceBatches::hold(at::Tensor& there, at::IntArrayRef sizes, const at::Tensor& like)
{
    if (!there.defined() || there.sizes() != sizes)
    {
        queue_->waitFor(queue_->mark());
        there = at::empty(sizes, like.options().device(device_).pinned_memory(false));
    }
}


void DeviceBatches::send(at::Tensor& there, const at::Tensor& here)
{
    hold(there, here.sizes(), here);
    copies_->bring(there, here);
}


void DeviceBatches::bringEdges(Slot& slot, const at::Tensor& edges, bool vary)
{
    if (!slot.hostEdges.is_same(edges) || vary)
    {
        send(slot.edges, edges);
        slot.hostEdges = edges;
        slot.batch.inputs.edges = slot.edges.alias();
    }
}


const DeviceBatches::Batch& DeviceBatches::bring(const GraphBatch& inputs,
    const at::Tensor& targets, const at::Tensor& weights)
{
    copies_->nextBatch();
    Slot& slot = slotFor(inputs.graph, inputs.nodes.sizes(), targets.defined());
    send(slot.nodes, inputs.nodes);
    slot.hostStatics.reset();
    bringEdges(slot, inputs.edges, inputs.edgesVary);
    if (targets.defined())
    {
        send(slot.targets, targets);
    }
    return finish(slot, inputs.graph, inputs.edgesVary, weights);
}


const DeviceBatches::Batch& DeviceBatches::bring(const BatchParts& parts,
    const at::Tensor& weights)
{
    letGo();
    copies_->nextBatch();
    const auto nSamples = static_cast<std::int64_t>(parts.nodes.rows.size());
    const std::vector<std::int64_t> sizes{nSamples, parts.nodes.nRows, parts.width};
    Slot& slot = slotFor(parts.graph, sizes, true);

    hold(slot.nodes, sizes, parts.statics);
    if (!slot.hostStatics.is_same(parts.statics))
    {
        const std::int64_t n = parts.statics.size(1);
        copies_->bring(slot.nodes.narrow(2, parts.width - n, n), parts.statics);
        slot.hostStatics = parts.statics;
    }
    maker_->nodes.fill(parts.nodes, slot.nodes);

    hold(slot.targets, {nSamples, parts.targets.nRows, parts.targets.nColumns}, parts.statics);
    maker_->targets.fill(parts.targets, slot.targets);

    const bool edgesVary = parts.edgeInputs.nColumns > 0;
    bringEdges(slot, parts.edges, false);
    if (edgesVary)
    {
        maker_->edgeInputs.fill(parts.edgeInputs, slot.edges);
    }
    return finish(slot, parts.graph, edgesVary, weights);
}


const DeviceBatches::Batch& DeviceBatches::finish(Slot& slot,
    const std::shared_ptr<const MeshGraph>& graph, bool edgesVary, const at::Tensor& weights)
{
    if (weights.defined() && !slot.hostWeights.is_same(weights))
    {
        send(slot.weights, weights);
        slot.hostWeights = weights;
    }
    slot.batch.inputs.graph = graph;
    slot.batch.inputs.nodes = slot.nodes;
    slot.batch.inputs.edgesVary = edgesVary;
    slot.batch.targets = slot.targets;
    slot.batch.weights = slot.weights;
    return slot.batch;
}

}
