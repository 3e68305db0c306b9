// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "infer/RawSurrogate.hpp"

#include <torch/csrc/jit/api/module.h>

namespace inSitu
{

//- Any TorchScript module on raw values
class ScriptSurrogate final : public RawSurrogate
{
public:

    //- Throws Error naming the file if forward() takes another number of arguments
    ScriptSurrogate(const ModelCard& card, torch::jit::Module module, const std::string& path,
        const CountBuild& count);

    std::int64_t nParameters() const override;

protected:

    at::Tensor run(std::vector<at::Tensor> arguments) override;

private:

    torch::jit::Module module_;
};

}
