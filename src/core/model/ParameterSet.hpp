// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <utility>
#include <vector>

namespace inSitu
{

//- Parameters in one flat tensor, each a named view of it: optimisers, gradient norms and
//  checksums touch one tensor instead of hundreds. The flat tensor is the autograd leaf.
class ParameterSet
{
public:

    //- Layout first, memory by allocate(); names and order are those of PyTorch's state_dict
    void declare(std::string name, std::vector<std::int64_t> shape);

    //- Allocate zeros on the CPU; requires_grad is set on the flat tensor
    void allocate(at::ScalarType type);

    //- Names and places without the memory
    ParameterSet layout() const;

    //- Copy the values to a device. The flat tensor is another one then.
    void moveTo(const at::Device& device);

    const at::Tensor& flat() const { return flat_; }

    //- Scalars in all
    std::int64_t count() const { return count_; }

    struct Entry
    {
        std::string name;
        std::vector<std::int64_t> shape;
        std::int64_t offset;
        std::int64_t count;
    };

    const std::vector<Entry>& entries() const { return entries_; }

    //- Throws Error, naming the nearest, if there is none of that name
    const Entry& entry(const std::string& name) const;

    //- View without gradient tracking: writing to it writes the flat tensor
    at::Tensor view(const std::string& name) const;

    //- The same entry of another flat tensor (a gradient)
    at::Tensor viewOf(const at::Tensor& flat, const std::string& name) const;

private:

    at::Tensor flat_;
    std::vector<Entry> entries_;
    std::int64_t count_ = 0;
};

}
