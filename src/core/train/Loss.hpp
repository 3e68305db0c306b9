// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/ThreadPool.hpp"
#include "config/Schema.hpp"

namespace at { class Tensor; }

namespace inSitu
{

//- A scalar to be minimised
class Loss
{
public:

    virtual ~Loss() = default;

    //- prediction [B, nNodes, C] (rows beyond the cells are ignored), target [B, nCells, C],
    //  both normalised; weight [nCells] double, its sum over all ranks weightSum > 0.
    //  mse: sum_b sum_n w_n sum_c (p − t)² / (B C weightSum); l1 likewise; a double scalar.
    //  With `reduction sum` it is not divided. Differentiable in the prediction; summed in
    //  fixed chunks, hence the same bits for any number of threads.
    //  Tensors on a GPU give a scalar there.
    virtual at::Tensor operator()(const at::Tensor& prediction, const at::Tensor& target,
        const at::Tensor& weight, double weightSum) = 0;

    //- On a GPU it asks the device for nothing, so that a step with it can be recorded
    virtual bool canBeRecorded() const { return true; }
};


//- `loss { type …; }`
class LossOptions : public Options
{
public:

    std::string weights = "cells";      //!< cells: each cell counts once; volume: by its volume

    //- That it is read from; empty: none
    virtual std::string file() const { return {}; }

    //- pool outlives the loss
    virtual std::unique_ptr<Loss> build(ThreadPool& pool) const = 0;

protected:

    void describeCommon(Schema& schema);
};

//- mse l1 torchscript
const Registry<LossOptions>& lossRegistry();

}
