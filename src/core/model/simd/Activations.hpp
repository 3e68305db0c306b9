// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/simd/Kernels.hpp"
#include "model/simd/Vector.hpp"

// Activations other than relu (which the products apply as they are stored) and dropout.
// Definitions are torch.nn.functional's with its default arguments.

namespace inSitu
{
namespace
{

INSITU_INLINE float exponential(float x) { return __builtin_expf(x); }
INSITU_INLINE double exponential(double x) { return __builtin_exp(x); }
INSITU_INLINE float hyperbolicTangent(float x) { return __builtin_tanhf(x); }
INSITU_INLINE double hyperbolicTangent(double x) { return __builtin_tanh(x); }
INSITU_INLINE float errorFunction(float x) { return __builtin_erff(x); }
INSITU_INLINE double errorFunction(double x) { return __builtin_erf(x); }

template<class T>
INSITU_INLINE T logistic(T x)
{
    return 1/(1 + exponential(-x));
}

template<class T>
T activate(Activation activation, T z)
{
    switch (activation)
    {
        case Activation::relu: return z > 0 ? z : T(0);
        case Activation::silu: return z*logistic(z);
        case Activation::gelu: return T(0.5)*z*(1 + errorFunction(z*T(0.70710678118654752440)));
        case Activation::tanh: return hyperbolicTangent(z);
        case Activation::elu: return z > 0 ? z : exponential(z) - 1;
        case Activation::leakyRelu: return z > 0 ? z : T(0.01)*z;
        case Activation::sigmoid: return logistic(z);
        case Activation::identity: break;
    }
    return z;
}

//- d activate/dz
template<class T>
T slope(Activation activation, T z)
{
    switch (activation)
    {
        case Activation::relu: return z > 0 ? T(1) : T(0);
        case Activation::silu:
        {
            const T s = logistic(z);
            return s*(1 + z*(1 - s));
        }
        case Activation::gelu:
            return T(0.5)*(1 + errorFunction(z*T(0.70710678118654752440)))
                + z*exponential(-T(0.5)*z*z)*T(0.39894228040143267794);
        case Activation::tanh:
        {
            const T t = hyperbolicTangent(z);
            return 1 - t*t;
        }
        case Activation::elu: return z > 0 ? T(1) : exponential(z);
        case Activation::leakyRelu: return z > 0 ? T(1) : T(0.01);
        case Activation::sigmoid:
        {
            const T s = logistic(z);
            return s*(1 - s);
        }
        case Activation::identity: break;
    }
    return 1;
}


//- Factor of a hidden value: 0 or 1/(1 - p), a function of its place and the key alone
//  (the finaliser of SplitMix64, Steele et al. 2014)
INSITU_INLINE double dropoutFactor(double p, std::uint64_t key, int layer, long row, long column)
{
    std::uint64_t h = key + 0x9e3779b97f4a7c15u*(std::uint64_t(row)*4096u + std::uint64_t(column))
        + 0xd1b54a32d192ed03u*std::uint64_t(layer + 1);
    h = (h ^ (h >> 30))*0xbf58476d1ce4e5b9u;
    h = (h ^ (h >> 27))*0x94d049bb133111ebu;
    h ^= h >> 31;
    return double(h >> 11)*0x1p-53 < p ? 0.0 : 1/(1 - p);
}

}
}
