// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/simd/Vector.hpp"

// Layer normalisation of single rows (Ba et al. 2016), population variance, eps as in torch

namespace inSitu
{
namespace
{

INSITU_INLINE float squareRoot(float x) { return __builtin_sqrtf(x); }
INSITU_INLINE double squareRoot(double x) { return __builtin_sqrt(x); }

//- Mask of the last vector of a row of n columns: zeros in the padding
template<class T>
struct RowShape
{
    explicit RowShape(long n)
    :
        columns(n),
        vectors((n + lanes<T> - 1)/lanes<T>),
        inverse(T(1)/T(n))
    {
        for (int i = 0; i < lanes<T>; ++i)
        {
            last[i] = (vectors - 1)*lanes<T> + i < n ? T(1) : T(0);
        }
    }

    long columns;
    long vectors;
    T inverse;
    Vector<T> last;
};


//- Replace the padded row z by (z - mean)/deviation; returns 1/deviation
template<class T>
INSITU_INLINE T normalise(const RowShape<T>& shape, T* z)
{
    Vector<T> total = {};
    for (long v = 0; v < shape.vectors; ++v)
    {
        total += load(z + v*lanes<T>);
    }
    const T mean = sum<T>(total)*shape.inverse;

    Vector<T> squares = {};
    for (long v = 0; v < shape.vectors; ++v)
    {
        Vector<T> d = load(z + v*lanes<T>) - mean;
        if (v == shape.vectors - 1)
        {
            d *= shape.last;
        }
        store(z + v*lanes<T>, d);
        squares += d*d;
    }
    const T factor = 1/squareRoot(sum<T>(squares)*shape.inverse + T(1e-5));

    for (long v = 0; v < shape.vectors; ++v)
    {
        store(z + v*lanes<T>, load(z + v*lanes<T>)*factor);
    }
    return factor;
}


//- Given g = d loss/d output and the normalised row, replace the latter by d loss/d z and
//  add to the gradients of gain and shift
template<class T>
INSITU_INLINE void normaliseBackward(const RowShape<T>& shape, T factor, const T* gain,
    const T* g, T* row, T* gainGradient, T* shiftGradient)
{
    Vector<T> total = {};
    Vector<T> along = {};
    for (long v = 0; v < shape.vectors; ++v)
    {
        const long c = v*lanes<T>;
        const Vector<T> gv = load(g + c);
        const Vector<T> xv = load(row + c);
        const Vector<T> scaled = gv*load(gain + c);
        total += scaled;
        along += scaled*xv;
        store(gainGradient + c, load(gainGradient + c) + gv*xv);
        store(shiftGradient + c, load(shiftGradient + c) + gv);
    }
    const T mean = sum<T>(total)*shape.inverse;
    const T slope = sum<T>(along)*shape.inverse;

    for (long v = 0; v < shape.vectors; ++v)
    {
        const long c = v*lanes<T>;
        const Vector<T> scaled = load(g + c)*load(gain + c);
        store(row + c, factor*(scaled - mean - slope*load(row + c)));
    }
}

}
}
