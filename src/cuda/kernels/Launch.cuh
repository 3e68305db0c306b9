// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Kernels.hpp"
#include "base/Error.hpp"

#ifdef INSITU_CUDA_EMULATED
#include "emulation/Cuda.hpp"
#else
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

#include <cstring>
#include <string>
#include <utility>

// What all kernels have in common: launching, rows of numbers, sums in a fixed order.

namespace inSitu
{
namespace device
{

constexpr int blockSize = 256;
constexpr int warpSize_ = 32;
constexpr unsigned allLanes = 0xffffffffu;


struct Grid
{
    long x;
    long y = 1;
};


template<class... Parameters, class... Arguments>
void launch(Stream stream, Grid grid, int threads, void (*kernel)(Parameters...),
    const Arguments&... arguments)
{
    if (grid.x <= 0 || grid.y <= 0)
    {
        return;
    }
#ifdef INSITU_CUDA_EMULATED
    static_cast<void>(stream);
    emulated::run(static_cast<unsigned>(grid.x), static_cast<unsigned>(grid.y),
        static_cast<unsigned>(threads), [&] { kernel(arguments...); });
#else
    const dim3 size(static_cast<unsigned>(grid.x), static_cast<unsigned>(grid.y));
    kernel<<<size, threads, 0, static_cast<cudaStream_t>(stream)>>>(arguments...);
    const cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess)
    {
        throw Error(std::string("a kernel cannot be started on the GPU: ")
            + cudaGetErrorString(status) + ". Its memory may be full, or it is older than Ampere;"
            " device cpu does without it");
    }
#endif
}


inline long quotientUp(long n, long by)
{
    return (n + by - 1)/by;
}


// ---- numbers

__device__ inline double widen(double x) { return x; }
__device__ inline float widen(float x) { return x; }

__device__ inline float widen(BFloat16 x)
{
    return __uint_as_float(static_cast<unsigned>(x.bits) << 16);
}

template<class T> __device__ inline T narrow(Accumulator<T> x);
template<> __device__ inline double narrow<double>(double x) { return x; }
template<> __device__ inline float narrow<float>(float x) { return x; }

#ifdef INSITU_CUDA_EMULATED

template<> inline BFloat16 narrow<BFloat16>(float x)
{
    const unsigned bits = __float_as_uint(x);
    const unsigned rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    return {static_cast<std::uint16_t>(x != x ? 0x7fc0 : rounded)};
}

#else

template<> __device__ inline BFloat16 narrow<BFloat16>(float x)
{
    return {__bfloat16_as_ushort(__float2bfloat16_rn(x))};
}

__device__ inline float widen(Float16 x)
{
    return __half2float(__ushort_as_half(x.bits));
}

template<> __device__ inline Float16 narrow<Float16>(float x)
{
    return {__half_as_ushort(__float2half_rn(x))};
}

#endif


//- 16 bytes at once
template<class T>
struct Vector
{
    static constexpr int size = vectorSize<T>;

    Accumulator<T> v[size];

    __device__ static Vector load(const T* from)
    {
        const uint4 raw = *reinterpret_cast<const uint4*>(from);
        T stored[size];
        memcpy(stored, &raw, 16);
        Vector result;
#pragma unroll
        for (int k = 0; k < size; ++k)
        {
            result.v[k] = widen(stored[k]);
        }
        return result;
    }

    __device__ void store(T* to) const
    {
        T stored[size];
#pragma unroll
        for (int k = 0; k < size; ++k)
        {
            stored[k] = narrow<T>(v[k]);
        }
        uint4 raw;
        memcpy(&raw, stored, 16);
        *reinterpret_cast<uint4*>(to) = raw;
    }

    //- As many parameters
    __device__ static Vector of(const Accumulator<T>* from)
    {
        Vector result;
#pragma unroll
        for (int k = 0; k < size; ++k)
        {
            result.v[k] = from[k];
        }
        return result;
    }
};


// ---- rows: a group of G lanes has one, C vectors to a lane

template<class T, int G, int C>
struct Row
{
    using A = Accumulator<T>;
    static constexpr int V = vectorSize<T>;
    static constexpr int rowsOfBlock = blockSize/G;

    A v[C][V];

    __device__ static int lane() { return static_cast<int>(threadIdx.x) % G; }
    __device__ static int group() { return static_cast<int>(threadIdx.x)/G; }

    //- First column of a vector
    __device__ static int column(int c) { return (c*G + lane())*V; }

    __device__ static Row zero()
    {
        Row row;
#pragma unroll
        for (int c = 0; c < C; ++c)
        {
#pragma unroll
            for (int k = 0; k < V; ++k)
            {
                row.v[c][k] = 0;
            }
        }
        return row;
    }

    template<class Load>
    __device__ static Row filled(int ld, const Load& load)
    {
        Row row = zero();
#pragma unroll
        for (int c = 0; c < C; ++c)
        {
            if (column(c) < ld)
            {
                const Vector<T> vector = load(column(c));
#pragma unroll
                for (int k = 0; k < V; ++k)
                {
                    row.v[c][k] = vector.v[k];
                }
            }
        }
        return row;
    }

    __device__ static Row load(const T* from, int ld)
    {
        return filled(ld, [&](int column) { return Vector<T>::load(from + column); });
    }

    __device__ static Row ofParameters(const A* from, int ld)
    {
        return filled(ld, [&](int column) { return Vector<T>::of(from + column); });
    }

    __device__ void store(T* to, int ld) const
    {
#pragma unroll
        for (int c = 0; c < C; ++c)
        {
            if (column(c) < ld)
            {
                Vector<T> vector;
#pragma unroll
                for (int k = 0; k < V; ++k)
                {
                    vector.v[k] = v[c][k];
                }
                vector.store(to + column(c));
            }
        }
    }

    //- work(value, column) for each
    template<class Work>
    __device__ void each(const Work& work)
    {
#pragma unroll
        for (int c = 0; c < C; ++c)
        {
#pragma unroll
            for (int k = 0; k < V; ++k)
            {
                work(v[c][k], c, k, column(c) + k);
            }
        }
    }

    __device__ void add(const Row& other)
    {
        each([&](A& value, int c, int k, int) { value += other.v[c][k]; });
    }
};


//- Sum over the lanes of a group; all lanes of the warp call it
template<int G, class A>
__device__ A groupSum(A value)
{
#pragma unroll
    for (int offset = G/2; offset > 0; offset /= 2)
    {
        value += __shfl_xor_sync(allLanes, value, offset);
    }
    return value;
}


//- Sums of the rows of all groups of the block, to partial [ld]; the whole block calls it
template<class T, int G, int C>
__device__ void sumOverBlock(Row<T, G, C> row, int ld, Accumulator<T>* partial)
{
    using A = Accumulator<T>;
    constexpr int V = vectorSize<T>;
    constexpr int nWarps = blockSize/warpSize_;
    __shared__ A shared[nWarps][G*V];

    const int warp = static_cast<int>(threadIdx.x)/warpSize_;
    const bool first = static_cast<int>(threadIdx.x) % warpSize_ < G;
#pragma unroll
    for (int c = 0; c < C; ++c)
    {
#pragma unroll
        for (int k = 0; k < V; ++k)
        {
            A value = row.v[c][k];
#pragma unroll
            for (int offset = G; offset < warpSize_; offset *= 2)
            {
                value += __shfl_xor_sync(allLanes, value, offset);
            }
            if (first)
            {
                shared[warp][(row.lane())*V + k] = value;
            }
        }
        __syncthreads();
        for (int i = static_cast<int>(threadIdx.x); i < G*V; i += blockSize)
        {
            A sum = 0;
#pragma unroll
            for (int w = 0; w < nWarps; ++w)
            {
                sum += shared[w][i];
            }
            if (c*G*V + i < ld)
            {
                partial[c*G*V + i] = sum;
            }
        }
        __syncthreads();
    }
}


//- work(lanes of a group, vectors of a lane) as constants that fit rows of ld columns of T
template<class T, class Work>
void forWidth(int ld, const Work& work)
{
    using std::integral_constant;
    const int n = ld/vectorSize<T>;
    if (n <= 8) work(integral_constant<int, 8>(), integral_constant<int, 1>());
    else if (n <= 16) work(integral_constant<int, 16>(), integral_constant<int, 1>());
    else if (n <= 32) work(integral_constant<int, 32>(), integral_constant<int, 1>());
    else if (n <= 64) work(integral_constant<int, 32>(), integral_constant<int, 2>());
    else if (n <= 128) work(integral_constant<int, 32>(), integral_constant<int, 4>());
    else if (n <= 256) work(integral_constant<int, 32>(), integral_constant<int, 8>());
    else
    {
        throw Error("a layer of " + std::to_string(ld) + " columns is too wide for the GPU; choose"
            " hiddenSize up to " + std::to_string(256*vectorSize<T>) + " in this precision, or"
            " device cpu");
    }
}

#ifdef INSITU_CUDA_EMULATED
#define INSITU_FOR_STORAGE(macro) macro(double) macro(float) macro(BFloat16)
#else
#define INSITU_FOR_STORAGE(macro) macro(double) macro(float) macro(BFloat16) macro(Float16)
#endif

}
}
