// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/GradScaler.hpp"

#include <ATen/ATen.h>

namespace inSitu
{

GradScaler::GradScaler(const at::Device& device)
:
    scale_(at::full({1}, initialScale, at::dtype(at::kFloat).device(device))),
    growthTracker_(at::zeros({1}, at::dtype(at::kInt).device(device))),
    found_(at::zeros({1}, scale_.options()))
{}


at::Tensor GradScaler::scaled(const at::Tensor& loss) const
{
    return loss*scale_.squeeze();
}


void GradScaler::unscale(const std::vector<at::Tensor>& gradients)
{
    const at::Tensor inverse = scale_.to(at::kDouble).reciprocal().to(at::kFloat);
    at::_amp_foreach_non_finite_check_and_unscale_(gradients, found_, inverse);
}


void GradScaler::update()
{
    at::_amp_update_scale_(scale_, growthTracker_, found_, growthFactor, backoffFactor,
        growthInterval);
    found_.zero_();
}


StateTree GradScaler::save() const
{
    StateTree state;
    state.putDouble("scale", scale_.item<double>());
    state.putInt("growthTracker", growthTracker_.item<int>());
    return state;
}


void GradScaler::load(const StateTree& state)
{
    const double scale = state.getDouble("scale");
    const std::int64_t tracker = state.getInt("growthTracker");
    scale_.fill_(scale);
    growthTracker_.fill_(tracker);
}

}
