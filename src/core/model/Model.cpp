// SPDX-License-Identifier: GPL-3.0-or-later

#include "model/Model.hpp"

#include "model/MeshGraphNet.hpp"
#include "model/Mlp.hpp"
#include "model/TorchScriptModel.hpp"

#include <ATen/ATen.h>

namespace inSitu
{

std::int64_t Model::nParameters() const
{
    std::int64_t count = 0;
    for (const at::Tensor& parameter : parameters())
    {
        count += parameter.numel();
    }
    return count;
}


const Registry<ModelOptions>& modelRegistry()
{
    static const Registry<ModelOptions> registry =
    {
        {"meshGraphNet", [] { return std::make_unique<MeshGraphNetOptions>(); }},
        {"mlp", [] { return std::make_unique<MlpOptions>(); }},
        {"torchscript", [] { return makeTorchScriptOptions(); }}
    };
    return registry;
}

}
