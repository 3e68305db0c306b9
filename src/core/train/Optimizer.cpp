// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/Optimizer.hpp"

#include "train/optimizers/Optimizers.hpp"

namespace inSitu
{

void OptimizerOptions::describeCommon(Schema& schema)
{
    schema.key("learningRate", learningRate, "base of the schedule", Range::positive());
    schema.key("gradAccumulationSteps", gradAccumulationSteps,
        "training steps whose gradients are averaged into one optimiser step", Range::atLeast(1));
    schema.key("maxGradNorm", maxGradNorm,
        "longer gradients are shortened to this Euclidean norm; 0: no clipping",
        Range::atLeast(0));
}


const Registry<OptimizerOptions>& optimizerRegistry()
{
    static const Registry<OptimizerOptions> registry
    {
        {"sgd", makeSgdOptions},
        {"adam", makeAdamOptions},
        {"adamw", makeAdamWOptions}
    };
    return registry;
}

}
