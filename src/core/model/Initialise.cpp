// SPDX-License-Identifier: GPL-3.0-or-later

#include "model/Initialise.hpp"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>

#include <cmath>

namespace inSitu
{

at::Generator makeGenerator(std::uint64_t seed)
{
    return at::detail::createCPUGenerator(seed);
}


void initialiseLinear(const ParameterSet& parameters, const std::string& name,
    at::Generator& generator)
{
    const auto draw = [&](const at::Tensor& target, double bound)
    {
        at::NoGradGuard noGrad;
        at::Tensor values = at::empty(target.sizes(), at::kFloat);
        values.uniform_(-bound, bound, generator);
        target.copy_(values);
    };

    // kaiming_uniform_ with a = sqrt(5), step by step: its rounding is part of the numbers
    const at::Tensor weight = parameters.view(name + ".weight");
    const auto inputs = static_cast<double>(weight.size(1));
    const double slope = std::sqrt(5.0);
    const double deviation = std::sqrt(2.0/(1 + slope*slope))/std::sqrt(inputs);
    draw(weight, std::sqrt(3.0)*deviation);
    draw(parameters.view(name + ".bias"), 1/std::sqrt(inputs));
}

}
