// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Vectors of the instruction set that the including source is compiled for. Everything is
// in an unnamed namespace: no copy for another instruction set can take its place.

namespace inSitu
{
namespace
{

#if defined(__AVX512F__)
constexpr int vectorBytes = 64;
constexpr int blockRows = 12;       // 24 accumulators of 32 registers
#elif defined(__AVX2__)
constexpr int vectorBytes = 32;
constexpr int blockRows = 6;        // 12 of 16
#else
constexpr int vectorBytes = 16;
constexpr int blockRows = 4;
#endif

template<class T>
struct VectorOf;

template<>
struct VectorOf<float>
{
    typedef float type __attribute__((vector_size(vectorBytes), may_alias));
};

template<>
struct VectorOf<double>
{
    typedef double type __attribute__((vector_size(vectorBytes), may_alias));
};

template<class T>
using Vector = typename VectorOf<T>::type;

template<class T>
constexpr int lanes = vectorBytes/int(sizeof(T));

#define INSITU_INLINE inline __attribute__((always_inline))

template<class T>
INSITU_INLINE Vector<T> load(const T* p)
{
    return *reinterpret_cast<const Vector<T>*>(p);
}

template<class T>
INSITU_INLINE void store(T* p, Vector<T> v)
{
    *reinterpret_cast<Vector<T>*>(p) = v;
}

template<int step>
INSITU_INLINE Vector<float> swapped(Vector<float> v)
{
    typedef int Index __attribute__((vector_size(vectorBytes)));
    Index index = {};
    for (int i = 0; i < lanes<float>; ++i)
    {
        index[i] = i ^ step;
    }
    return __builtin_shuffle(v, index);
}

template<int step>
INSITU_INLINE Vector<double> swapped(Vector<double> v)
{
    typedef long long Index __attribute__((vector_size(vectorBytes)));
    Index index = {};
    for (int i = 0; i < lanes<double>; ++i)
    {
        index[i] = i ^ step;
    }
    return __builtin_shuffle(v, index);
}

//- Sum of the elements, pairwise
template<class T, int step = lanes<T>/2>
INSITU_INLINE T sum(Vector<T> v)
{
    if constexpr (step == 0)
    {
        return v[0];
    }
    else
    {
        return sum<T, step/2>(v + swapped<step>(v));
    }
}

}
}
