// SPDX-License-Identifier: GPL-3.0-or-later
#include "PassCase.hpp"

// What only a GPU shows: the library as a solver opens it, and steps that are captured.

#ifndef INSITU_CUDA_EMULATED

#include "base/Error.hpp"
#include "model/GraphBatch.hpp"
#include "model/MeshGraphNet.hpp"

#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <gmock/gmock.h>

namespace inSitu
{
namespace
{

using namespace test;

struct Trained
{
    explicit Trained(Storage storage, bool onDevice = true)
    :
        pool(1),
        graph(oddGraph())
    {
        MeshGraphNetOptions options;
        options.processorSize = 2;
        options.hiddenSize = 40;
        const bool isDouble = storage == Storage::float64;
        model = options.build({5, 3, 2}, isDouble ? inSitu::Precision::float64
            : inSitu::Precision::float32, 3, pool);
        if (onDevice)
        {
            DeviceChoice choice;
            choice.storage = storage;
            model->moveTo(*DeviceLibrary::open(), choice);
        }
        flat = model->parameters()[0];
        const auto there = [&](const at::Tensor& t)
            { return t.to(flat.device(), flat.scalar_type()).contiguous(); };
        batch = {graph, there(draw({2, graph->nNodes(), 5}, 1)),
            there(draw({graph->nEdges(), 3}, 2))};
        target = there(draw({2, graph->nNodes(), 2}, 3));
    }

    //- Loss and gradient
    std::vector<at::Tensor> step()
    {
        const at::Tensor loss = at::mse_loss(model->forward(batch), target);
        return {loss.detach(), torch::autograd::grad({loss}, {flat})[0]};
    }

    ThreadPool pool;
    std::shared_ptr<const MeshGraph> graph;
    std::unique_ptr<Model> model;
    at::Tensor flat;
    GraphBatch batch;
    at::Tensor target;
};


TEST(Library, trainsAsTheCpu)
{
    INSITU_NEEDS_DEVICE();
    const auto library = DeviceLibrary::open();
    ASSERT_GE(library->nDevices(), 1);
    EXPECT_FALSE(library->nameOf(0).empty());
    Trained there(Storage::float64);
    Trained here(Storage::float64, false);
    const auto got = there.step();
    const auto expected = here.step();
    expectClose("loss", got[0], expected[0], 1e-12);
    expectClose("gradient", got[1], expected[1], 1e-11);
}


TEST(Library, refusesAMissingGpu)
{
    INSITU_NEEDS_DEVICE();
    Trained here(Storage::float32, false);
    DeviceChoice choice;
    choice.index = 99;
    EXPECT_THAT([&] { here.model->moveTo(*DeviceLibrary::open(), choice); },
        testing::ThrowsMessage<Error>(testing::HasSubstr("no GPU number 99")));
    choice = {};
    choice.storage = Storage::float64;
    EXPECT_THAT([&] { here.model->moveTo(*DeviceLibrary::open(), choice); },
        testing::ThrowsMessage<Error>(testing::HasSubstr("is not stored in float64")));
}


TEST(Library, rescalesTheOutput)
{
    INSITU_NEEDS_DEVICE();
    Trained there(Storage::float64);
    Trained here(Storage::float64, false);
    std::vector<double> factor, shift;
    for (std::int64_t c = 0; c < here.target.size(2); ++c)
    {
        factor.push_back(1.5 - 0.25*c);
        shift.push_back(-0.75 + 0.5*c);
    }
    for (Trained* trained : {&there, &here})
    {
        ASSERT_TRUE(trained->model->rescaleOutput(factor, shift));
    }
    expectClose("loss", there.step()[0], here.step()[0], 1e-12);
}


//- Replayed on other inputs, and behind a prediction of fewer samples, it gives the bits of an
//  eager step; eager steps take no memory either
TEST(Library, capturesAStep)
{
    INSITU_NEEDS_DEVICE();
    for (const Storage storage : {Storage::float64, Storage::float32, Storage::bfloat16,
        Storage::float16})
    {
        const c10::cuda::CUDAStream stream = c10::cuda::getStreamFromPool();
        const c10::cuda::CUDAStreamGuard guard(stream);
        Trained t(storage);
        for (int i = 0; i < 3; ++i)
        {
            t.step();
        }
        at::cuda::CUDAGraph captured;
        captured.capture_begin();
        const auto result = t.step();
        captured.capture_end();

        t.batch.nodes.mul_(-0.7);
        t.target.mul_(0.3);
        {
            const at::NoGradGuard noGrad;
            t.flat.mul_(1.1);
        }
        const auto predict = [&]
        {
            const at::NoGradGuard noGrad;
            t.model->forward({t.batch.graph, t.batch.nodes.narrow(0, 0, 1), t.batch.edges});
        };
        predict();
        captured.replay();
        const at::Tensor loss = result[0].clone();
        const at::Tensor gradient = result[1].clone();
        c10::cuda::device_synchronize();
        const auto eager = t.step();
        EXPECT_TRUE(at::equal(loss, eager[0])) << static_cast<int>(storage);
        EXPECT_TRUE(at::equal(gradient, eager[1])) << static_cast<int>(storage);
    }
}

}
}

#endif
