// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"

#include <cstring>
#include <vector>

namespace inSitu
{

//- Numbers as the bytes that travel between ranks
template<class T>
Comm::Bytes packed(const std::vector<T>& values)
{
    Comm::Bytes bytes(values.size()*sizeof(T));
    if (!bytes.empty())
    {
        std::memcpy(bytes.data(), values.data(), bytes.size());
    }
    return bytes;
}


template<class T>
std::vector<T> unpacked(const Comm::Bytes& bytes)
{
    std::vector<T> values(bytes.size()/sizeof(T));
    if (!values.empty())
    {
        std::memcpy(values.data(), bytes.data(), values.size()*sizeof(T));
    }
    return values;
}

}
