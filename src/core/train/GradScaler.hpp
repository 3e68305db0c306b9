// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/StateTree.hpp"

#include <ATen/core/Tensor.h>

#include <vector>

namespace inSitu
{

//- Keeps gradients within the range of float16: the loss is multiplied by a scale, which halves
//  when a gradient is not finite and doubles after 2000 steps without that. Numbers and order are
//  those of torch.amp.GradScaler. All is on the device; nothing is read on the host.
class GradScaler
{
public:

    static constexpr double initialScale = 65536;
    static constexpr double growthFactor = 2;
    static constexpr double backoffFactor = 0.5;
    static constexpr std::int64_t growthInterval = 2000;

    explicit GradScaler(const at::Device& device);

    //- The loss to differentiate
    at::Tensor scaled(const at::Tensor& loss) const;

    //- Divide gradients of the scaled loss by the scale, in place. Those that are not finite are
    //  remembered until update().
    void unscale(const std::vector<at::Tensor>& gradients);

    //- Once per step, behind unscale()
    void update();

    //- float32 [1]
    const at::Tensor& scale() const { return scale_; }

    //- scale and growthTracker, as torch calls them
    StateTree save() const;
    void load(const StateTree& state);

private:

    at::Tensor scale_;
    at::Tensor growthTracker_;
    at::Tensor found_;          // 1: not finite
};

}
