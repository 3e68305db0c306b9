// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/DeviceQueue.hpp"

#include <ATen/core/Tensor.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace inSitu
{

//- Copies of tensors of the host into memory of a device, in the order of a queue. Those of a next
//  batch may travel while the queue is busy with the last one: into memory of their own, which there
//  is twice, and from there, at the device's speed, when it is the queue's turn.
class DeviceCopies
{
public:

    enum class Way
    {
        inQueue,        //!< for one who waits for each batch: nothing could run beside
        beside
    };

    DeviceCopies(const at::Device& device, std::shared_ptr<DeviceQueue> queue, Way way);

    //- What is brought from now on belongs to another batch
    void nextBatch();

    //- What is put into the queue from now on finds the values of here there
    void bring(const at::Tensor& there, const at::Tensor& here);

    //- The same in memory of the copies' own, for what is put in before a next batch
    at::Tensor bring(const at::Tensor& here);

    //- Until the host's tensors may be overwritten: they are left alone so long
    void waitForHost();

private:

    //- Of one batch
    struct Landing
    {
        std::vector<at::Tensor> memory;     // [bytes], one for each tensor in the order it came
        std::int64_t mark = 0;              // when the queue has done with it
    };

    at::Tensor place(const at::Tensor& like);

    at::Device device_;
    std::shared_ptr<DeviceQueue> queue_;
    std::shared_ptr<DeviceQueue> beside_;   // perhaps the queue itself
    std::array<Landing, 2> landings_;       // the present one comes first
    std::size_t nBrought_ = 0;              // in the present batch
    std::int64_t mark_ = 0;                 // of the last copy from the host
};

}
