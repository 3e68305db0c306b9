// SPDX-License-Identifier: GPL-3.0-or-later
#include "CudaQueue.hpp"

#include "waitFor.hpp"

#include <c10/cuda/CUDAGuard.h>

#include <algorithm>

namespace inSitu
{
namespace device
{
namespace
{

class CudaRecording final : public Recording
{
public:

    explicit CudaRecording(const c10::cuda::CUDAStream& stream) : stream_(stream) {}

    void record(const std::function<void()>& work, const c10::MempoolId_t& pool)
    {
        const c10::cuda::CUDAStreamGuard guard(stream_);
        // Other threads of the solver may use the GPU meanwhile
        graph_.capture_begin(pool, cudaStreamCaptureModeThreadLocal);
        try
        {
            work();
        }
        catch (...)
        {
            try
            {
                graph_.capture_end();
            }
            catch (...)
            {
                // What work has thrown tells more
            }
            throw;
        }
        graph_.capture_end();
    }

    void replay() override
    {
        const c10::cuda::CUDAStreamGuard guard(stream_);
        graph_.replay();
    }

private:

    c10::cuda::CUDAStream stream_;
    at::cuda::CUDAGraph graph_;
};

}


CudaQueue::CudaQueue(int index, std::function<void()> check)
:
    stream_(c10::cuda::getStreamFromPool(true, static_cast<c10::DeviceIndex>(index))),
    pool_(at::cuda::graph_pool_handle()),
    check_(std::move(check))
{}


void CudaQueue::put(std::function<void()> work)
{
    const c10::cuda::CUDAStreamGuard guard(stream_);
    work();
}


std::unique_ptr<Recording> CudaQueue::record(std::function<void()> work)
{
    auto recording = std::make_unique<CudaRecording>(stream_);
    recording->record(work, pool_);
    return recording;
}


std::int64_t CudaQueue::mark()
{
    marks_.emplace_back(++nMarks_, at::cuda::CUDAEvent());
    marks_.back().second.record(stream_);
    return nMarks_;
}


void CudaQueue::waitFor(std::int64_t mark)
{
    while (!marks_.empty() && marks_.front().first <= mark)
    {
        if (marks_.front().first == mark)
        {
            const at::cuda::CUDAEvent& event = marks_.front().second;
            check_ ? device::waitFor(event, check_) : event.synchronize();
        }
        marks_.pop_front();
    }
}


std::shared_ptr<DeviceQueue> CudaQueue::makeBeside()
{
    return std::make_shared<CudaQueue>(stream_.device_index(), check_);
}


void CudaQueue::follow(DeviceQueue& other, std::int64_t mark)
{
    auto& marks = static_cast<CudaQueue&>(other).marks_;
    const auto found = std::find_if(marks.begin(), marks.end(),
        [&](const auto& entry) { return entry.first == mark; });
    if (found != marks.end())
    {
        found->second.block(stream_);
    }
}


void CudaQueue::quiesce()
{
    if (check_)
    {
        waitFor(mark());
    }
}

}
}
