// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/DeviceForward.hpp"

#include <ATen/ATen.h>

namespace inSitu
{

DeviceForward::DeviceForward(std::shared_ptr<DeviceQueue> queue, Model& model,
    const at::Device& device, int nOutputs, CaptureRunner runner, bool frozen)
:
    queue_(queue),
    model_(model),
    nOutputs_(nOutputs),
    batches_(device, queue, DeviceCopies::Way::inQueue),
    runner_(std::move(runner)),
    frozen_(frozen)
{}


const at::Tensor& DeviceForward::operator()(const GraphBatch& batch)
{
    const GraphBatch inputs = batches_.bring(batch).inputs;
    const std::vector<std::int64_t> sizes{inputs.nodes.size(0), inputs.nodes.size(1),
        nOutputs_};
    if (!there_.defined() || there_.sizes() != at::IntArrayRef(sizes))
    {
        // The model gives back the memory of its last prediction too
        runner_.forget();
        there_ = at::empty(sizes, inputs.nodes.options());
        here_ = at::empty(sizes, there_.options().device(at::kCPU)
            .pinned_memory(!there_.device().is_cpu()));
    }

    CaptureKey key;
    key.add(inputs.graph).add(inputs.nodes).add(inputs.edges).add(there_);
    if (frozen_)
    {
        // The model holds the encoding of one tensor of edges
        key.add(reinterpret_cast<std::int64_t>(inputs.edges.unsafeGetTensorImpl()));
        if (!(key == last_))
        {
            runner_.forget();
            last_ = key;
        }
    }
    runner_.run(key, [this, inputs, to = there_]
    {
        const at::NoGradGuard noGradients;
        model_.train(false);
        at::Tensor(to).copy_(model_.forward(inputs));
    });
    queue_->put([to = here_, from = there_] { at::Tensor(to).copy_(from, true); });
    queue_->waitFor(queue_->mark());
    return here_;
}

}
