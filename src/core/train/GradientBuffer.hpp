// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/StateTree.hpp"
#include "base/ThreadPool.hpp"

#include <ATen/core/Tensor.h>

#include <vector>

namespace inSitu
{

//- Euclidean norm over all tensors (undefined ones count as zero), summed in double in a
//  fixed order; not finite if an entry is not
double euclideanNorm(const std::vector<at::Tensor>& tensors, ThreadPool& pool);


//- Values of tensors, to be put back if what comes next goes wrong. The memory is reused.
class KeptValues
{
public:

    void keep(const std::vector<at::Tensor>& tensors);

    //- To the tensors last kept
    void restore(const std::vector<at::Tensor>& tensors) const;

private:

    std::vector<at::Tensor> copies_;
};


//- Gradients of several passes, on their way to one optimiser step
class GradientBuffer
{
public:

    GradientBuffer() = default;
    GradientBuffer(std::int64_t count, std::vector<at::Tensor> sums);

    //- Add the gradients of a pass; undefined ones belong to parameters without influence
    void add(const std::vector<at::Tensor>& gradients);

    std::int64_t count() const { return count_; }
    const std::vector<at::Tensor>& sums() const { return sums_; }

    //- Hand the sum, or the mean over the passes, out and start anew
    std::vector<at::Tensor> takeSum();
    std::vector<at::Tensor> takeMean();

    StateTree save() const;

    //- parameters give types and shapes. Throws Error if they are others.
    static GradientBuffer from(const StateTree& state, const std::vector<at::Tensor>& parameters);

private:

    std::int64_t count_ = 0;
    std::vector<at::Tensor> sums_;
};

}
