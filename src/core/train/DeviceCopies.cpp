// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/DeviceCopies.hpp"

#include <ATen/ATen.h>

#include <utility>

namespace inSitu
{
namespace
{

std::function<void()> copying(const at::Tensor& there, const at::Tensor& here)
{
    return [there, here] { at::Tensor(there).copy_(here, true); };
}

}


DeviceCopies::DeviceCopies(const at::Device& device, std::shared_ptr<DeviceQueue> queue, Way way)
:
    device_(device),
    queue_(std::move(queue)),
    beside_(way == Way::beside ? queue_->makeBeside() : queue_)
{}


void DeviceCopies::nextBatch()
{
    nBrought_ = 0;
    if (beside_ != queue_)
    {
        landings_.front().mark = queue_->mark();
        std::swap(landings_.front(), landings_.back());
        beside_->follow(*queue_, landings_.front().mark);
    }
}


//- Memory for the next tensor of a batch. What is replaced may be in use: waits.
at::Tensor DeviceCopies::place(const at::Tensor& like)
{
    std::vector<at::Tensor>& places = landings_.front().memory;
    if (nBrought_ == places.size())
    {
        places.emplace_back();
    }
    at::Tensor& memory = places[nBrought_++];
    const auto bytes = static_cast<std::int64_t>(like.nbytes());
    if (!memory.defined() || memory.numel() < bytes)
    {
        queue_->waitFor(queue_->mark());
        memory = at::empty({bytes}, at::dtype(at::kByte).device(device_));
    }
    return memory.narrow(0, 0, bytes).view(like.scalar_type()).view(like.sizes());
}


at::Tensor DeviceCopies::bring(const at::Tensor& here)
{
    const at::Tensor there = place(here);
    beside_->put(copying(there, here));
    mark_ = beside_->mark();
    queue_->follow(*beside_, mark_);
    return there;
}


void DeviceCopies::bring(const at::Tensor& there, const at::Tensor& here)
{
    if (beside_ == queue_)
    {
        queue_->put(copying(there, here));
        mark_ = queue_->mark();
    }
    else
    {
        queue_->put(copying(there, bring(here)));
    }
}


void DeviceCopies::waitForHost()
{
    beside_->waitFor(mark_);
}

}
