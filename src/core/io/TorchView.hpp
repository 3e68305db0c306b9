// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/StateTree.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace inSitu
{

//- An element type in files of torch.save
struct TorchType
{
    const char* name;               //!< of its storage class: "torch.FloatStorage"
    std::size_t bytes;              //!< of an element in the file
    StateTree::Type kept;           //!< what it becomes

    //- Turns one element into what is kept; nullptr: they are the same
    void (*convert)(const char* from, char* to);
};

//- Those that are read; the first that is kept as a type is that type
const std::vector<TorchType>& torchTypes();


//- A tensor as torch saves it: some elements of a storage
struct TorchView
{
    const TorchType* type = nullptr;
    std::string_view storage;
    std::int64_t offset = 0;        //!< in elements, like the strides; none is negative
    std::vector<std::int64_t> sizes;
    std::vector<std::int64_t> strides;

    //- What is wrong with it, so that it must not be read; empty: nothing. Every element must
    //  lie in the storage, and there may not be more than the storage has.
    std::string fault() const;

    //- Bytes of the elements as they are kept, for a view without fault
    std::size_t bytes() const;

    //- Contiguous copy, for a view without fault
    StateTree::Array copied() const;
};

}
