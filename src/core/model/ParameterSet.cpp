// SPDX-License-Identifier: GPL-3.0-or-later

#include "model/ParameterSet.hpp"

#include "base/Error.hpp"

#include <ATen/ATen.h>

#include <algorithm>

namespace inSitu
{

namespace
{

const ParameterSet::Entry& find(const std::vector<ParameterSet::Entry>& entries,
    const std::string& name)
{
    const auto entry = std::find_if(entries.begin(), entries.end(),
        [&](const ParameterSet::Entry& e) { return e.name == name; });
    if (entry == entries.end())
    {
        std::vector<std::string> names;
        for (const auto& e : entries)
        {
            names.push_back(e.name);
        }
        throw Error("the model has no parameter '" + name + "'; the nearest is '"
            + nearest(name, names) + "'");
    }
    return *entry;
}

}


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


at::Tensor ParameterSet::view(const std::string& name) const
{
    return viewOf(flat_, name);
}


at::Tensor ParameterSet::viewOf(const at::Tensor& flat, const std::string& name) const
{
    const Entry& entry = find(entries_, name);
    return flat.detach().narrow(0, entry.offset, entry.count).view(entry.shape);
}

}
