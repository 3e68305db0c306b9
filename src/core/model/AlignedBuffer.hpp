// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/alignedMemory.hpp"

#include <cstddef>

namespace inSitu
{

//- Memory that starts on 64 bytes and only grows, so that steady state allocates nothing.
//  Contents are undefined after a growth, and never initialised.
template<class T>
class AlignedBuffer
{
public:

    AlignedBuffer() = default;
    ~AlignedBuffer() { release(); }

    AlignedBuffer(AlignedBuffer&& other) noexcept
    :
        data_(other.data_),
        capacity_(other.capacity_)
    {
        other.data_ = nullptr;
        other.capacity_ = 0;
    }

    AlignedBuffer& operator=(AlignedBuffer&&) = delete;

    //- At least n elements
    T* resize(std::size_t n)
    {
        if (n > capacity_)
        {
            release();
            data_ = static_cast<T*>(takeMemory(n*sizeof(T)));
            capacity_ = n;
        }
        return data_;
    }

    T* data() const { return data_; }

    std::size_t bytes() const { return capacity_*sizeof(T); }

private:

    void release()
    {
        if (data_)
        {
            giveMemory(data_);
            data_ = nullptr;
            capacity_ = 0;
        }
    }

    T* data_ = nullptr;
    std::size_t capacity_ = 0;
};

}
