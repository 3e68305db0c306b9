// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "kernels/Launch.cuh"

// Definitions are torch.nn.functional's with its default arguments.

namespace inSitu
{
namespace device
{

__device__ inline float exponential(float x) { return expf(x); }
__device__ inline double exponential(double x) { return exp(x); }
__device__ inline float errorFunction(float x) { return erff(x); }
__device__ inline double errorFunction(double x) { return erf(x); }
__device__ inline float hyperbolicTangent(float x) { return tanhf(x); }
__device__ inline double hyperbolicTangent(double x) { return tanh(x); }

template<class A>
__device__ A logistic(A x)
{
    return 1/(1 + exponential(-x));
}


//- Of all numbers of a vector: the choice is made once
template<int n, class A>
__device__ void applyActivation(Activation activation, A (&x)[n])
{
    const auto each = [&](auto function)
    {
#pragma unroll
        for (int k = 0; k < n; ++k)
        {
            x[k] = function(x[k]);
        }
    };
    switch (activation)
    {
        case Activation::relu: each([](A z) { return z > 0 ? z : A(0); }); break;
        case Activation::silu: each([](A z) { return z*logistic(z); }); break;
        case Activation::gelu:
            each([](A z)
                { return A(0.5)*z*(1 + errorFunction(z*A(0.70710678118654752440))); });
            break;
        case Activation::tanh: each([](A z) { return hyperbolicTangent(z); }); break;
        case Activation::elu: each([](A z) { return z > 0 ? z : exponential(z) - 1; }); break;
        case Activation::leakyRelu: each([](A z) { return z > 0 ? z : A(0.01)*z; }); break;
        case Activation::sigmoid: each([](A z) { return logistic(z); }); break;
        case Activation::identity: break;
    }
}


//- gradient times the slope. known is the value before the activation where needsInput(), else the
//  one behind it.
template<int n, class A>
__device__ void applySlope(Activation activation, const A (&known)[n], A (&gradient)[n])
{
    const auto each = [&](auto slope)
    {
#pragma unroll
        for (int k = 0; k < n; ++k)
        {
            gradient[k] *= slope(known[k]);
        }
    };
    switch (activation)
    {
        case Activation::relu: each([](A a) { return a > 0 ? A(1) : A(0); }); break;
        case Activation::silu:
            each([](A z)
            {
                const A s = logistic(z);
                return s*(1 + z*(1 - s));
            });
            break;
        case Activation::gelu:
            each([](A z)
            {
                return A(0.5)*(1 + errorFunction(z*A(0.70710678118654752440)))
                    + z*exponential(-A(0.5)*z*z)*A(0.39894228040143267794);
            });
            break;
        case Activation::tanh: each([](A a) { return 1 - a*a; }); break;
        case Activation::elu: each([](A a) { return a > 0 ? A(1) : a + 1; }); break;
        case Activation::leakyRelu: each([](A a) { return a > 0 ? A(1) : A(0.01); }); break;
        case Activation::sigmoid: each([](A a) { return a*(1 - a); }); break;
        case Activation::identity: break;
    }
}

}
}
