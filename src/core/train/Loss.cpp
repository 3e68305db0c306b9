// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/Loss.hpp"

#include "train/losses/Losses.hpp"

namespace inSitu
{

void LossOptions::describeCommon(Schema& schema)
{
    schema.choice("weights", weights, {"cells", "volume"},
        "each cell counts once, or by its volume");
}


const Registry<LossOptions>& lossRegistry()
{
    static const Registry<LossOptions> registry
    {
        {"mse", makeMseOptions},
        {"l1", makeL1Options},
        {"torchscript", makeTorchScriptLossOptions}
    };
    return registry;
}

}
