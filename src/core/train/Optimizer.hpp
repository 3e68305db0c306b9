// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/StateTree.hpp"
#include "config/Schema.hpp"

#include <memory>
#include <vector>

namespace at { class Tensor; }

namespace inSitu
{

class FusedOptimizer;

//- Changes parameters along their gradients (torch::optim behind it)
class Optimizer
{
public:

    virtual ~Optimizer() = default;

    //- One step with the gradients that the parameters hold
    virtual void step() = 0;

    virtual void setLearningRate(double rate) = 0;

    //- Moments and counters, bit for bit; load throws Error if they do not fit the parameters
    //  and changes nothing then. With amsgrad switched on since, the maxima start from the
    //  present second moments.
    virtual StateTree save() const = 0;
    virtual void load(const StateTree& state) = 0;
};


//- `optimizer { type …; }`: keys common to all, then those of the type
class OptimizerOptions : public Options
{
public:

    double learningRate = 1e-3;
    std::int64_t gradAccumulationSteps = 1;     //!< steps whose gradients are averaged into one
    double maxGradNorm = 0;                     //!< 0: no clipping

    //- Parameters are leaves of autograd; their memory is changed in place
    virtual std::unique_ptr<Optimizer> build(std::vector<at::Tensor> parameters) const = 0;

    //- The same for a device
    virtual std::unique_ptr<FusedOptimizer> buildFused(std::vector<at::Tensor> parameters) const
        = 0;

protected:

    void describeCommon(Schema& schema);
};

//- sgd adam adamw
const Registry<OptimizerOptions>& optimizerRegistry();

}
