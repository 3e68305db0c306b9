// SPDX-License-Identifier: GPL-3.0-or-later

#include "model/ParameterSet.hpp"

#include "base/Error.hpp"

#include <ATen/ATen.h>

#include <algorithm>

namespace inSitu
{

void ParameterSet::declare(std::string name, std::vector<std::int64_t> shape)
{
    std::int64_t count = 1;
    for (const std::int64_t extent : shape)
    {
        count *= extent;
    }
    entries_.push_back({std::move(name), std::move(shape), count_, count});
    count_ += count;
}


void ParameterSet::allocate(at::ScalarType type)
{
    flat_ = at::zeros({count_}, at::TensorOptions().dtype(type));
    flat_.requires_grad_(true);
}


ParameterSet ParameterSet::layout() const
{
    ParameterSet result(*this);
    result.flat_ = at::Tensor();
    return result;
}


void ParameterSet::moveTo(const at::Device& device)
{
    flat_ = flat_.detach().to(device);
    flat_.requires_grad_(true);
}


const ParameterSet::Entry& ParameterSet::entry(const std::string& name) const
{
    const auto found = std::find_if(entries_.begin(), entries_.end(),
        [&](const Entry& e) { return e.name == name; });
    if (found == entries_.end())
    {
        std::vector<std::string> names;
        for (const Entry& e : entries_)
        {
            names.push_back(e.name);
        }
        throw Error("the model has no parameter '" + name + "'" + didYouMean(name, names));
    }
    return *found;
}


at::Tensor ParameterSet::view(const std::string& name) const
{
    return viewOf(flat_, name);
}


at::Tensor ParameterSet::viewOf(const at::Tensor& flat, const std::string& name) const
{
    const Entry& e = entry(name);
    return flat.detach().narrow(0, e.offset, e.count).view(e.shape);
}

}
