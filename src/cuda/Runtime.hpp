// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Kernels.hpp"
#include "Storage.hpp"

#include <ATen/ATen.h>

#include <atomic>

namespace inSitu
{
namespace device
{

//- The stream into which the calling thread puts work
Stream currentStream(const at::Device& device);


//- Counts the times that memory which a recording may use was given back
inline std::atomic<std::int64_t>& memoryStamp()
{
    static std::atomic<std::int64_t> stamp{0};
    return stamp;
}


//- Memory from LibTorch's allocator that only grows, so that steady state allocates nothing.
//  Contents are undefined after a growth, and never initialised.
template<class T>
class Buffer
{
public:

    //- At least n elements
    T* resize(long n, const at::Device& device)
    {
        if (n > capacity_)
        {
            memoryStamp() += memory_.defined();
            memory_ = at::Tensor();
            memory_ = at::empty({n*static_cast<long>(sizeof(T))},
                at::dtype(at::kByte).device(device));
            capacity_ = n;
        }
        return data();
    }

    T* data() const
    {
        return memory_.defined() ? static_cast<T*>(memory_.mutable_data_ptr()) : nullptr;
    }

private:

    at::Tensor memory_;
    long capacity_ = 0;
};


//- Copy to the device, in memory of its own. Structs are copied as bytes.
template<class T>
at::Tensor uploaded(const T* values, std::size_t n, const at::Device& device)
{
    const long bytes = static_cast<long>(n*sizeof(T));
    return at::from_blob(const_cast<void*>(static_cast<const void*>(values)), {bytes}, at::kByte)
        .to(device, false, true);
}

}
}
