// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace inSitu
{

//- One training step, and what came out
struct TrainingStep
{
    std::int64_t number = 0;    //!< as Trainer::nSteps() when it was started
    double learningRate = 0;    //!< used by this step, or due at the next update
    double loss = 0;            //!< normalised, over all ranks
    double gradientNorm = 0;    //!< before clipping; of the accumulated gradient when updated
    bool updated = false;       //!< false: gradients were only accumulated
    double meanLoss = 0;        //!< when updated: of the passes behind the update

    //- False: loss, gradient or new weights were not finite; the weights are as before
    bool finite = true;

    //- float16 on a GPU: left out, since gradients were beyond its range, for which their
    //  scale is smaller now; finite all the same
    bool overflow = false;
};

}
