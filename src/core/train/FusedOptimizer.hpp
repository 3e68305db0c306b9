// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "train/Optimizer.hpp"

#include <ATen/core/Tensor.h>

#include <vector>

namespace inSitu
{

//- An optimiser on tensors alone: learning rate, step counter and the decision to step are on the
//  device too, so that a step can be recorded. Its saved state is that of the Optimizer of the same
//  options, and either goes on from the other's.
//
//  The rate is rounded to float32. Moments and updates agree with the Optimizer's to rounding.
class FusedOptimizer : public Optimizer
{
public:

    //- Parameters without gradients yet; skip: see below
    explicit FusedOptimizer(std::vector<at::Tensor> parameters);

    //- One step with the gradients that the parameters hold, unless skip() is 1
    void step() override = 0;

    //- float32 [1] on the device: 1 leaves parameters and state as they are, 0 steps
    const at::Tensor& skip() const { return skip_; }

    //- Puts the work of writing it into the current queue
    void setLearningRate(double rate) override;

protected:

    std::vector<at::Tensor> gradients() const;

    std::vector<at::Tensor> parameters_;    // detached, of the same memory
    std::vector<at::Tensor> leaves_;
    at::Tensor skip_;
    at::Tensor rate_;                       // float32 []
};


struct FusedAdamSettings
{
    bool decoupled = false;     //!< AdamW
    double beta1 = 0.9;
    double beta2 = 0.999;
    double eps = 1e-8;
    double weightDecay = 0;
    bool amsgrad = false;
};

std::unique_ptr<FusedOptimizer> makeFusedAdam(std::vector<at::Tensor> parameters,
    const FusedAdamSettings& settings);


struct FusedSgdSettings
{
    double momentum = 0;
    double dampening = 0;
    double weightDecay = 0;
    bool nesterov = false;
};

std::unique_ptr<FusedOptimizer> makeFusedSgd(std::vector<at::Tensor> parameters,
    const FusedSgdSettings& settings);

}
