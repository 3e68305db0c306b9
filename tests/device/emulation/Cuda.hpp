// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>

// The part of CUDA's language that the kernels use, on the CPU: the threads of a block are
// coroutines that take turns at barriers and shuffles, blocks run one after the other. Slow, and
// meant for tests where no GPU is.

#define __global__
#define __device__
#define __shared__ static
#define __launch_bounds__(...)

struct alignas(16) uint4
{
    std::uint32_t x, y, z, w;
};

struct Dim3
{
    unsigned x = 1, y = 1, z = 1;
};

namespace emulated
{

extern Dim3 thread, block, threads, blocks;

//- body runs once for each thread of each block. Throws if threads wait for each other for ever.
void run(unsigned blocksX, unsigned blocksY, unsigned nThreads, const std::function<void()>& body);

void waitForBlock();
void waitForWarp();

//- 16 bytes of each lane of the present warp
void* slot(unsigned lane);

template<class T>
T shuffle(T value, unsigned lane)
{
    static_assert(sizeof(T) <= 16, "a slot is too small");
    std::memcpy(slot(thread.x % 32), &value, sizeof(T));
    waitForWarp();
    T result;
    std::memcpy(&result, slot(lane % 32), sizeof(T));
    waitForWarp();
    return result;
}

}

#define threadIdx emulated::thread
#define blockIdx emulated::block
#define blockDim emulated::threads
#define gridDim emulated::blocks

inline void __syncthreads() { emulated::waitForBlock(); }
inline void __syncwarp() { emulated::waitForWarp(); }

template<class T>
T __shfl_xor_sync(unsigned, T value, int mask)
{
    return emulated::shuffle(value, (threadIdx.x % 32) ^ static_cast<unsigned>(mask));
}

template<class T>
T __shfl_sync(unsigned, T value, int lane)
{
    return emulated::shuffle(value, static_cast<unsigned>(lane));
}

inline float __uint_as_float(std::uint32_t bits)
{
    float value;
    std::memcpy(&value, &bits, 4);
    return value;
}

inline std::uint32_t __float_as_uint(float value)
{
    std::uint32_t bits;
    std::memcpy(&bits, &value, 4);
    return bits;
}
