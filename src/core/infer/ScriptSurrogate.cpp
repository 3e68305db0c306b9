// SPDX-License-Identifier: GPL-3.0-or-later
#include "infer/ScriptSurrogate.hpp"

#include "base/Error.hpp"
#include "model/ScriptFile.hpp"

#include <ATen/ATen.h>

namespace inSitu
{

ScriptSurrogate::ScriptSurrogate
(
    const ModelCard& card,
    torch::jit::Module module,
    const std::string& path,
    const CountBuild& count
)
:
    RawSurrogate(card, path, count),
    module_(std::move(module))
{
    const auto n = static_cast<int>(this->card().arguments.size());
    countArguments(module_, path, n, n, "forward() with the arguments that the card names");
}


std::int64_t ScriptSurrogate::nParameters() const
{
    std::int64_t count = 0;
    for (const at::Tensor& parameter : module_.parameters())
    {
        count += parameter.numel();
    }
    return count;
}


at::Tensor ScriptSurrogate::run(std::vector<at::Tensor> arguments)
{
    std::vector<NamedTensor> kept;
    for (std::size_t i = 0; i < arguments.size(); ++i)
    {
        if (card().arguments[i] != "nodes")     // made anew for each prediction
        {
            kept.emplace_back(card().arguments[i], arguments[i]);
        }
    }
    const c10::IValue result = runScript(module_, path(),
        std::vector<c10::IValue>(arguments.begin(), arguments.end()), kept);
    if (!result.isTensor())
    {
        throw Error("model \"" + path() + "\" gives " + result.type()->annotation_str() + "; "
            + wanted());
    }
    return result.toTensor();
}

}
