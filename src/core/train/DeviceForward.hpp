// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/Model.hpp"
#include "train/CaptureRunner.hpp"
#include "train/DeviceBatches.hpp"

#include <memory>

namespace inSitu
{

//- Predictions of a model that is on a device, for batches of the host
class DeviceForward
{
public:

    //- The runner is of the same queue. frozen: as Model::freeze(). The model outlives it.
    DeviceForward(std::shared_ptr<DeviceQueue> queue, Model& model, const at::Device& device,
        int nOutputs, CaptureRunner runner, bool frozen);

    //- Until the values of the last batch may be overwritten
    void waitForHost() { batches_.waitForHost(); }

    //- [B, nNodes, nOutputs] on the host, in memory that the next call writes
    const at::Tensor& operator()(const GraphBatch& batch);

    //- The weights of a frozen model have changed
    void forget() { runner_.forget(); }

private:

    std::shared_ptr<DeviceQueue> queue_;
    Model& model_;
    int nOutputs_;
    DeviceBatches batches_;
    CaptureRunner runner_;
    bool frozen_;
    CaptureKey last_;
    at::Tensor there_;          // prediction on the device
    at::Tensor here_;           // and on the host
};

}
