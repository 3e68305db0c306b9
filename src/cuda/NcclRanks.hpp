// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"
#include "model/DeviceRanks.hpp"

#include <ATen/core/Tensor.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

namespace inSitu
{
namespace device
{

//- Ranks whose GPUs exchange by NCCL. Calls put work into the stream of the calling thread. What is
//  not recorded is waited for: a launch behind it may wait for it too, within CUDA, where nobody could
//  be told that the other rank has left.
class NcclRanks final : public DeviceRanks
{
public:

    //- index: the GPU of this rank. Collective. Throws AgreedError if NCCL cannot join them.
    NcclRanks(int index, std::shared_ptr<Comm> comm);

    //- Collective, unless a rank has left or is about to. Nothing is in a queue, and no recording
    //  of it is left.
    ~NcclRanks() override;

    const Comm& hosts() const override { return *comm_; }
    void sum(Span<float> values) override;
    void sum(Span<double> values) override;
    void exchange(const std::vector<Message>& messages) override;

    //- Throws Error if another rank has left, or NCCL has failed: what waits for it on the GPU ends
    //  then, with values that mean nothing
    void check();

private:

    void join(const std::function<void()>& action);
    void connect(const at::Tensor& memory);
    template<class T> void sumOver(Span<T> values);
    void finish();
    void abort() noexcept;
    void end() noexcept;

    struct Nccl;
    using Clock = std::chrono::steady_clock;

    at::Device device_;
    std::shared_ptr<Comm> comm_;
    std::unique_ptr<Nccl> nccl_;
    std::optional<Clock::time_point> connectingSince_;
};

}
}
