// SPDX-License-Identifier: GPL-3.0-or-later
#include "Products.hpp"
#include "kernels/Launch.cuh"

namespace inSitu
{
namespace device
{

// Plain loops on the CPU
template<class T>
struct Products<T>::Impl
{};

template<class T>
Products<T>::Products(const at::Device&, bool, bool)
{}

template<class T>
Products<T>::~Products() = default;


template<class T>
bool Products<T>::forward(Stream, Rows<const T> x, Rows<const T> w, const T* reluBias, Rows<T> y,
    long rows, int in, int out)
{
    for (long r = 0; r < rows; ++r)
    {
        for (int o = 0; o < out; ++o)
        {
            Accumulator<T> sum = reluBias ? widen(reluBias[o]) : 0;
            for (int i = 0; i < in; ++i)
            {
                sum += widen(x.data[r*x.ld + i])*widen(w.data[o*w.ld + i]);
            }
            y.data[r*y.ld + o] = narrow<T>(reluBias && sum < 0 ? 0 : sum);
        }
    }
    return reluBias;
}


template<class T>
void Products<T>::inputGradient(Stream, Rows<const T> dy, Rows<const T> w, Rows<T> dx, long rows,
    int in, int out, bool add)
{
    for (long r = 0; r < rows; ++r)
    {
        for (int i = 0; i < in; ++i)
        {
            Accumulator<T> sum = add ? widen(dx.data[r*dx.ld + i]) : 0;
            for (int o = 0; o < out; ++o)
            {
                sum += widen(dy.data[r*dy.ld + o])*widen(w.data[o*w.ld + i]);
            }
            dx.data[r*dx.ld + i] = narrow<T>(sum);
        }
    }
}


template<class T>
void Products<T>::weightGradient(Stream, Rows<const T> dy, Rows<const T> x,
    Rows<Accumulator<T>> dw, long rows, int in, int out)
{
    for (int o = 0; o < out; ++o)
    {
        for (int i = 0; i < in; ++i)
        {
            Accumulator<T> sum = 0;
            for (long r = 0; r < rows; ++r)
            {
                sum += widen(dy.data[r*dy.ld + o])*widen(x.data[r*x.ld + i]);
            }
            dw.data[o*dw.ld + i] = sum;
        }
    }
}

template class Products<double>;
template class Products<float>;
template class Products<BFloat16>;


Stream currentStream(const at::Device&)
{
    return nullptr;
}

}
}
