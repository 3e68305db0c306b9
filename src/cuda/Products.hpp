// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Runtime.hpp"

#include <memory>

namespace inSitu
{
namespace device
{

//- Rows of a matrix, ld elements apart
template<class T>
struct Rows
{
    T* data;
    long ld;
};


//- The three products of a linear layer y = x w^T on the GPU, x [rows, in], w [out, in]. Sums are
//  Accumulator<T>. The algorithm of a product depends on its sizes alone, unless they are tuned,
//  and none uses atomics: same input, same bits. Nothing is allocated once a size has been met.
//  Throws Error if a product has no algorithm.
template<class T>
class Products
{
public:

    //- tf32: factors of T float may be rounded to TF32. tuned: the first candidates are timed,
    //  which waits for the device, when a size is met outside a capture.
    Products(const at::Device& device, bool tf32, bool tuned);
    ~Products();

    //- y = x w^T, and with a bias also relu(y + bias) if the product can do that: says whether
    bool forward(Stream stream, Rows<const T> x, Rows<const T> w, const T* reluBias, Rows<T> y,
        long rows, int in, int out);

    //- dx = dy w, added to what is there if add
    void inputGradient(Stream stream, Rows<const T> dy, Rows<const T> w, Rows<T> dx, long rows,
        int in, int out, bool add);

    //- dw = dy^T x
    void weightGradient(Stream stream, Rows<const T> dy, Rows<const T> x,
        Rows<Accumulator<T>> dw, long rows, int in, int out);

private:

    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}
}
