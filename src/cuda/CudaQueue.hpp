// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/DeviceQueue.hpp"

#include <ATen/cuda/CUDAEvent.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/core/Allocator.h>
#include <c10/cuda/CUDAStream.h>

#include <deque>
#include <utility>

namespace inSitu
{
namespace device
{

//- A stream of its own, of high priority; recordings are CUDA graphs, which share their memory
class CudaQueue final : public DeviceQueue
{
public:

    //- check: called while it waits, and throws to end the waiting; null where there is one rank
    CudaQueue(int index, std::function<void()> check);

    void put(std::function<void()> work) override;
    std::unique_ptr<Recording> record(std::function<void()> work) override;
    std::int64_t mark() override;
    void waitFor(std::int64_t mark) override;
    std::shared_ptr<DeviceQueue> makeBeside() override;
    void follow(DeviceQueue& other, std::int64_t mark) override;
    void quiesce() override;

private:

    c10::cuda::CUDAStream stream_;
    c10::MempoolId_t pool_;
    std::function<void()> check_;
    std::int64_t nMarks_ = 0;
    std::deque<std::pair<std::int64_t, at::cuda::CUDAEvent>> marks_;    // not waited for yet
};

}
}
