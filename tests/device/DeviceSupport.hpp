// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "DevicePass.hpp"
#include "graph/MeshGraph.hpp"
#include "model/Initialise.hpp"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <iostream>
#include <random>
#include <string>
#include <vector>

// The tests of this folder run twice: on a GPU, where there is one, and everywhere on the CPU with
// an emulation of CUDA's threads and plain loops for the products.

namespace inSitu
{
namespace test
{

#ifdef INSITU_CUDA_EMULATED
constexpr bool isEmulated = true;
#else
constexpr bool isEmulated = false;
#endif

inline at::Device testDevice()
{
    return isEmulated ? at::Device(at::kCPU) : at::Device(at::kCUDA, 0);
}


//- Skips with the reason where there is nothing to run on
#define INSITU_NEEDS_DEVICE() \
    if (!isEmulated && !at::hasCUDA()) \
    { \
        GTEST_SKIP() << "no GPU with a driver that LibTorch can use"; \
    }


template<class T> constexpr at::ScalarType typeOf();
template<> constexpr at::ScalarType typeOf<double>() { return at::kDouble; }
template<> constexpr at::ScalarType typeOf<float>() { return at::kFloat; }
template<> constexpr at::ScalarType typeOf<device::BFloat16>() { return at::kBFloat16; }
template<> constexpr at::ScalarType typeOf<device::Float16>() { return at::kHalf; }

template<class T> constexpr Storage storageOf();
template<> constexpr Storage storageOf<double>() { return Storage::float64; }
template<> constexpr Storage storageOf<float>() { return Storage::float32; }
template<> constexpr Storage storageOf<device::BFloat16>() { return Storage::bfloat16; }
template<> constexpr Storage storageOf<device::Float16>() { return Storage::float16; }


inline at::Tensor draw(at::IntArrayRef shape, std::uint64_t seed)
{
    at::Generator generator = makeGenerator(seed);
    return at::randn(shape, generator, at::TensorOptions().dtype(at::kDouble));
}


//- 2-norm of the difference over that of what is expected
inline double relativeError(const at::Tensor& got, const at::Tensor& expected)
{
    const at::Tensor a = got.detach().to(at::kCPU, at::kDouble);
    const at::Tensor b = expected.detach().to(at::kCPU, at::kDouble).reshape(a.sizes());
    const double norm = b.norm().item<double>();
    return (a - b).norm().item<double>()/(norm > 0 ? norm : 1);
}


//- Prints the error and where it is largest; fails if it is beyond the tolerance
inline void expectClose(const std::string& name, const at::Tensor& got,
    const at::Tensor& expected, double tolerance)
{
    const double error = relativeError(got, expected);
    const at::Tensor difference = (got.detach().to(at::kCPU, at::kDouble)
        - expected.detach().to(at::kCPU, at::kDouble).reshape(got.sizes())).abs().reshape({-1});
    const bool good = error <= tolerance;      // not if it is not a number
    std::cout << (good ? "  ok    " : "  WRONG ") << name << ' ' << got.sizes() << ' '
        << got.scalar_type() << ": error " << error << " of " << tolerance;
    if (!good && difference.numel() > 0)
    {
        const auto at = difference.argmax().item<std::int64_t>();
        std::cout << ", largest at " << at << ": "
            << got.detach().to(at::kCPU, at::kDouble).reshape({-1})[at].item<double>() << " for "
            << expected.detach().to(at::kCPU, at::kDouble).reshape({-1})[at].item<double>();
    }
    std::cout << std::endl;
    EXPECT_TRUE(good) << name;
}


//- 137 nodes: one receives 230 edges, some receive none, some send none, with self edges and
//  repeated edges
inline std::shared_ptr<const MeshGraph> oddGraph()
{
    std::vector<std::int32_t> senders;
    std::vector<std::int32_t> receivers;
    std::mt19937 random(7);
    for (int i = 0; i < 600; ++i)
    {
        senders.push_back(random() % 120);
        receivers.push_back(5 + random() % 130);
    }
    for (int i = 0; i < 230; ++i)
    {
        senders.push_back(i % 90);
        receivers.push_back(61);
    }
    for (const int node : {3, 3, 77})
    {
        senders.push_back(node);
        receivers.push_back(node);
    }
    return std::make_shared<MeshGraph>(MeshGraph::fromEdges(137, senders, receivers));
}

}
}
