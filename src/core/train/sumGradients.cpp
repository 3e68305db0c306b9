// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/sumGradients.hpp"

#include <ATen/ATen.h>

namespace inSitu
{

void sumGradients(std::vector<at::Tensor>& gradients, const std::vector<at::Tensor>& parameters,
    Comm& comm)
{
    if (comm.size() == 1)
    {
        return;
    }

    std::vector<double> defined;
    for (const at::Tensor& gradient : gradients)
    {
        defined.push_back(gradient.defined());
    }
    comm.max(Span<double>(defined));

    for (std::size_t i = 0; i < gradients.size(); ++i)
    {
        if (defined[i] == 0)
        {
            continue;
        }
        at::Tensor& gradient = gradients[i];
        gradient = gradient.defined() ? gradient.contiguous() : at::zeros_like(parameters[i]);
        const auto n = static_cast<std::size_t>(gradient.numel());
        if (gradient.scalar_type() == at::kDouble)
        {
            comm.startSum(Span<double>(gradient.mutable_data_ptr<double>(), n));
        }
        else
        {
            comm.startSum(Span<float>(gradient.mutable_data_ptr<float>(), n));
        }
    }
    comm.finishSums();
}

}
