// SPDX-License-Identifier: GPL-3.0-or-later

#include "model/Model.hpp"

#include "base/Error.hpp"
#include "model/MeshGraphNet.hpp"
#include "model/Mlp.hpp"
#include "model/TorchScriptModel.hpp"

#include <ATen/ATen.h>

namespace inSitu
{

void Model::moveTo(DeviceLibrary&, const DeviceChoice&)
{
    throw Error("a model of this type runs on the CPU only: choose device cpu");
}


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
