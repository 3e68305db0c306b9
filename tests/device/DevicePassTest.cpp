// SPDX-License-Identifier: GPL-3.0-or-later
#include "EagerMeshGraphNet.hpp"
#include "PassCase.hpp"
#include "ThreadComm.hpp"
#include "base/Error.hpp"

#include <gmock/gmock.h>

namespace inSitu
{
namespace
{

using namespace test;

TEST(DevicePass, agreesWithTheCpuInDouble)
{
    INSITU_NEEDS_DEVICE();
    const Case c(oddSizes());
    expectClose("odd", c, onDevice<double>(c), onCpu(c), 1e-11, 1e-11);
}


TEST(DevicePass, agreesWithAutograd)
{
    INSITU_NEEDS_DEVICE();
    const Case c(oddSizes());
    const Result got = onDevice<double>(c);

    EagerMeshGraphNet eager(c.sizes, c.flat);
    const at::Tensor nodes = c.nodes.clone().requires_grad_(true);
    const at::Tensor edges = c.edges.clone().requires_grad_(true);
    const at::Tensor output = eager.forward(*c.graph, nodes, edges);
    (c.weight*output + 0.3*output*output).sum().backward();
    expectClose("autograd", c, got, {output, eager.flatGradient(), nodes.grad(), edges.grad()},
        1e-11, 1e-11);
}


template<class T>
void expectTheSameAgain(Activation activation)
{
    MeshGraphNetSizes sizes = oddSizes();
    sizes.activation = activation;
    const Case c(sizes);
    const Result kept = onDevice<T>(c, false);
    const Result again = onDevice<T>(c, true);
    EXPECT_TRUE(at::equal(kept.output, again.output));
    EXPECT_TRUE(at::equal(kept.parameters, again.parameters));
    EXPECT_TRUE(at::equal(kept.nodes, again.nodes));
    EXPECT_TRUE(at::equal(kept.edges, again.edges));
}


TEST(DevicePass, computesActivationsAgain)
{
    INSITU_NEEDS_DEVICE();
    for (const Activation activation : {Activation::relu, Activation::silu})
    {
        expectTheSameAgain<double>(activation);
        expectTheSameAgain<float>(activation);
        expectTheSameAgain<device::BFloat16>(activation);
    }
}


TEST(DevicePass, takesAllActivations)
{
    INSITU_NEEDS_DEVICE();
    for (const Activation activation : {Activation::silu, Activation::gelu, Activation::tanh,
        Activation::elu, Activation::leakyRelu, Activation::sigmoid, Activation::identity})
    {
        MeshGraphNetSizes sizes = oddSizes();
        sizes.activation = activation;
        const bool recompute = static_cast<int>(activation) % 2;
        const Case c(sizes);
        expectClose("activation " + std::to_string(static_cast<int>(activation)), c,
            onDevice<double>(c, recompute), onCpu(c), 1e-11, 1e-11);
    }
}


TEST(DevicePass, takesAnyNumberOfLayers)
{
    INSITU_NEEDS_DEVICE();
    MeshGraphNetSizes sizes = oddSizes();
    sizes.edgeProcessorLayers = 1;
    sizes.nodeProcessorLayers = 3;
    sizes.edgeEncoderLayers = 3;
    sizes.nodeEncoderLayers = 1;
    sizes.decoderLayers = 1;
    sizes.mean = true;
    for (const bool recompute : {false, true})
    {
        const Case c(sizes, 3);
        expectClose("layers, mean", c, onDevice<double>(c, recompute), onCpu(c), 1e-11, 1e-11);
    }
}


TEST(DevicePass, takesWidths)
{
    INSITU_NEEDS_DEVICE();
    for (const int width : {7, 40, 128, 136, 264})
    {
        MeshGraphNetSizes sizes = oddSizes();
        sizes.width = width;
        sizes.blocks = 1;
        if (isEmulated && width > 40)
        {
            continue;
        }
        const Case c(sizes, 1);
        expectClose("width " + std::to_string(width), c, onDevice<double>(c), onCpu(c), 1e-11,
            1e-11);
    }
}


TEST(DevicePass, takesGraphsWithoutEdgesAndASingleNode)
{
    INSITU_NEEDS_DEVICE();
    const std::vector<std::int32_t> none;
    for (const int nNodes : {1, 5})
    {
        const auto graph = std::make_shared<MeshGraph>(MeshGraph::fromEdges(nNodes, none, none));
        const Case c(oddSizes(), 2, graph);
        expectClose("no edges", c, onDevice<double>(c), onCpu(c), 1e-11, 1e-11);
    }
    const std::vector<std::int32_t> self{0};
    const Case c(oddSizes(), 1, std::make_shared<MeshGraph>(MeshGraph::fromEdges(1, self, self)));
    expectClose("one edge", c, onDevice<double>(c), onCpu(c), 1e-11, 1e-11);
}


TEST(DevicePass, givesTheSameBitsTwice)
{
    INSITU_NEEDS_DEVICE();
    MeshGraphNetSizes sizes = oddSizes();
    sizes.width = isEmulated ? 24 : 128;
    const Case c(sizes, 1);
    const auto pass = devicePass<device::BFloat16>(c);
    const Result first = runPass<float>(*pass, c, testDevice());
    const Result second = runPass<float>(*pass, c, testDevice());
    const Result other = onDevice<device::BFloat16>(c);
    for (const Result* r : {&second, &other})
    {
        EXPECT_TRUE(at::equal(first.output, r->output));
        EXPECT_TRUE(at::equal(first.parameters, r->parameters));
        EXPECT_TRUE(at::equal(first.nodes, r->nodes));
        EXPECT_TRUE(at::equal(first.edges, r->edges));
    }
}


//- A model that was driven with another mesh before, and with a prediction between
TEST(DevicePass, forgetsEarlierMeshes)
{
    INSITU_NEEDS_DEVICE();
    const Case large(oddSizes(), 3);
    const std::vector<std::int32_t> senders{0, 1, 2, 2, 1};
    const std::vector<std::int32_t> receivers{1, 2, 0, 1, 0};
    const Case small(oddSizes(), 1,
        std::make_shared<MeshGraph>(MeshGraph::fromEdges(4, senders, receivers)));
    const auto pass = devicePass<double>(large);
    for (const Case* c : {&large, &small, &large})
    {
        expectClose("mesh", *c, runPass<double>(*pass, *c, testDevice()), onCpu(*c), 1e-11, 1e-11);
    }
}


TEST(DevicePass, predictsAsItTrains)
{
    INSITU_NEEDS_DEVICE();
    for (const std::int64_t samples : {1, 2})
    {
        const Case c(oddSizes(), samples);
        const Result expected = onDevice<double>(c);
        const auto pass = devicePass<double>(c);
        const at::Tensor flat = c.flat.to(testDevice());
        const at::Tensor nodes = c.nodes.to(testDevice());
        const at::Tensor edges = c.edges.to(testDevice());
        const at::Tensor unread = at::full_like(edges, 777);
        using Encoding = GraphPass<double>::Encoding;
        const auto predict = [&](Encoding encoding)
        {
            at::Tensor output = at::full(c.weight.sizes(), 777, nodes.options());
            pass->forward(flat.const_data_ptr<double>(), {c.graph, samples,
                nodes.const_data_ptr<double>(),
                (encoding == Encoding::kept ? unread : edges).const_data_ptr<double>()},
                nullptr, output.mutable_data_ptr<double>(), encoding);
            return output;
        };
        EXPECT_TRUE(at::equal(predict(Encoding::fresh), expected.output));
        if (samples == 1)
        {
            EXPECT_TRUE(at::equal(predict(Encoding::keep), expected.output));
            EXPECT_TRUE(at::equal(predict(Encoding::kept), expected.output));
            EXPECT_TRUE(at::equal(predict(Encoding::kept), expected.output));
        }
    }
}


TEST(DevicePass, isForTheRanksItWasMadeWith)
{
    INSITU_NEEDS_DEVICE();
    const Case c(oddSizes());
    const auto pass = devicePass<double>(c);
    pass->joinRanks(std::make_shared<SerialComm>());
    onRanks(2, [&](Comm& comm)
    {
        EXPECT_THAT([&] { pass->joinRanks(borrowed(comm)); },
            testing::ThrowsMessage<Error>(testing::HasSubstr("GPUs of 1 ranks")));
    });
}

}
}
