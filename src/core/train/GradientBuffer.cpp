// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/GradientBuffer.hpp"

#include "model/TensorState.hpp"
#include "train/FixedChunks.hpp"

#include <ATen/ATen.h>

#include <cmath>
#include <string>
#include <utility>

namespace inSitu
{

double euclideanNorm(const std::vector<at::Tensor>& gradients, ThreadPool& pool)
{
    double sum = 0;
    for (const at::Tensor& anyGradient : gradients)
    {
        if (!anyGradient.defined())
        {
            continue;
        }
        const at::Tensor gradient = anyGradient.contiguous();
        AT_DISPATCH_FLOATING_TYPES(gradient.scalar_type(), "gradientNorm", [&]
        {
            const auto* values = gradient.const_data_ptr<scalar_t>();
            sum += sumChunks(pool, gradient.numel(), [&](std::int64_t first, std::int64_t last)
            {
                double chunk = 0;
                for (std::int64_t i = first; i < last; ++i)
                {
                    chunk += static_cast<double>(values[i])*static_cast<double>(values[i]);
                }
                return chunk;
            });
        });
    }
    return std::sqrt(sum);
}


void KeptValues::keep(const std::vector<at::Tensor>& tensors)
{
    const at::NoGradGuard off;
    copies_.resize(tensors.size());
    for (std::size_t i = 0; i < tensors.size(); ++i)
    {
        if (!copies_[i].defined())
        {
            copies_[i] = at::empty_like(tensors[i]);
        }
        copies_[i].copy_(tensors[i]);
    }
}


void KeptValues::restore(const std::vector<at::Tensor>& tensors) const
{
    const at::NoGradGuard off;
    for (std::size_t i = 0; i < tensors.size(); ++i)
    {
        at::Tensor(tensors[i]).copy_(copies_[i]);
    }
}


GradientBuffer::GradientBuffer(std::int64_t count, std::vector<at::Tensor> sums)
:
    count_(count),
    sums_(std::move(sums))
{}


void GradientBuffer::add(const std::vector<at::Tensor>& gradients)
{
    sums_.resize(gradients.size());
    for (std::size_t i = 0; i < gradients.size(); ++i)
    {
        if (!gradients[i].defined())
        {
            continue;
        }
        if (sums_[i].defined())
        {
            sums_[i].add_(gradients[i]);
        }
        else
        {
            // The memory of a gradient may be the model's own and be used again
            sums_[i] = gradients[i].clone();
        }
    }
    ++count_;
}


std::vector<at::Tensor> GradientBuffer::takeSum()
{
    count_ = 0;
    return std::exchange(sums_, {});
}


std::vector<at::Tensor> GradientBuffer::takeMean()
{
    for (at::Tensor& sum : sums_)
    {
        if (sum.defined() && count_ > 1)
        {
            sum.div_(static_cast<double>(count_));
        }
    }
    return takeSum();
}


StateTree GradientBuffer::save() const
{
    StateTree state;
    state.putInt("count", count_);
    for (std::size_t i = 0; i < sums_.size(); ++i)
    {
        if (sums_[i].defined())
        {
            putTensor(state, "sum/" + std::to_string(i), sums_[i]);
        }
    }
    return state;
}


GradientBuffer GradientBuffer::from(const StateTree& state,
    const std::vector<at::Tensor>& parameters)
{
    GradientBuffer buffer(state.getInt("count"), std::vector<at::Tensor>(parameters.size()));
    for (std::size_t i = 0; i < parameters.size(); ++i)
    {
        const std::string name = "sum/" + std::to_string(i);
        if (state.has(name))
        {
            buffer.sums_[i] = getTensor(state, name, parameters[i].detach());
        }
    }
    return buffer;
}

}
