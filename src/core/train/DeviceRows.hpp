// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/ThreadPool.hpp"
#include "model/DeviceLibrary.hpp"
#include "train/BatchParts.hpp"
#include "train/DeviceStore.hpp"

#include <cstddef>
#include <memory>

namespace inSitu
{

//- Brings rows of samples to a device as they were gathered, as far as they are not there, and
//  makes columns of a model's tensor of them there. One object for each tensor of a batch.
class DeviceRows
{
public:

    DeviceRows(const at::Device& device, std::shared_ptr<DeviceQueue> queue,
        std::shared_ptr<DeviceLibrary> library, std::shared_ptr<DeviceStore> store,
        ThreadPool& pool);

    //- Put into the queue what fills columns of out. The rows may be given up when this returns,
    //  the noise when the queue has passed. Called again when the queue has passed.
    void fill(const BatchRows& rows, const at::Tensor& out);

private:

    //- [count] with place for more. What is replaced may be in use: waits.
    at::Tensor grown(at::Tensor& memory, std::size_t count, at::ScalarType type,
        const at::Device& device);

    at::Device device_;
    std::shared_ptr<DeviceQueue> queue_;
    std::shared_ptr<DeviceLibrary> library_;
    std::shared_ptr<DeviceStore> store_;
    ThreadPool& pool_;

    // Rows on their way, and addresses with numbers behind them; on the host and on the device
    at::Tensor staging_, passing_;
    at::Tensor letter_, letterThere_;
    at::Tensor noiseThere_;
};

}
