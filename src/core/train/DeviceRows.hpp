// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/ThreadPool.hpp"
#include "model/DeviceLibrary.hpp"
#include "train/BatchParts.hpp"
#include "train/DeviceCopies.hpp"
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

    //- copies: to the queue
    DeviceRows(std::shared_ptr<DeviceQueue> queue, std::shared_ptr<DeviceCopies> copies,
        std::shared_ptr<DeviceLibrary> library, std::shared_ptr<DeviceStore> store,
        ThreadPool& pool);

    //- Put into the queue what fills columns of out. The rows may be given up when this returns,
    //  the noise when the copies have passed. Called again when they have.
    void fill(const BatchRows& rows, const at::Tensor& out);

private:

    std::shared_ptr<DeviceQueue> queue_;
    std::shared_ptr<DeviceCopies> copies_;
    std::shared_ptr<DeviceLibrary> library_;
    std::shared_ptr<DeviceStore> store_;
    ThreadPool& pool_;

    // On the host, pinned: rows on their way, and addresses with numbers behind them
    at::Tensor staging_, letter_;
};

}
