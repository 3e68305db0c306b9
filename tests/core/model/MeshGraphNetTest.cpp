// SPDX-License-Identifier: GPL-3.0-or-later

#include "EagerMeshGraphNet.hpp"
#include "base/Error.hpp"
#include "model/GraphBatch.hpp"
#include "model/Initialise.hpp"
#include "model/MeshGraphNet.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/torch.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <random>

namespace
{

//- Calls of aligned_alloc: the work memory of models and graphs comes from it, tensors do not
std::atomic<long> alignedAllocations{0};

}

extern "C" void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept
{
    ++alignedAllocations;
    void* memory = nullptr;
    return posix_memalign(&memory, alignment, size) == 0 ? memory : nullptr;
}

namespace inSitu
{
namespace
{

using test::EagerMeshGraphNet;

//- 137 nodes: one receives 230 edges (more than two tiles), some receive none, some send none,
//  with self edges and repeated edges
MeshGraph oddGraph()
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
    return MeshGraph::fromEdges(137, senders, receivers);
}


//- A block of nx x ny cells
std::shared_ptr<const MeshGraph> gridGraph(std::int32_t nx, std::int32_t ny)
{
    std::vector<std::int32_t> owner;
    std::vector<std::int32_t> neighbour;
    for (std::int32_t cell = 0; cell < nx*ny; ++cell)
    {
        for (const std::int32_t other : {cell % nx < nx - 1 ? cell + 1 : 0, cell + nx})
        {
            if (other > cell && other < nx*ny)
            {
                owner.push_back(cell);
                neighbour.push_back(other);
            }
        }
    }
    return std::make_shared<MeshGraph>(MeshGraph::fromFaces(nx*ny, owner, neighbour));
}


at::Tensor draw(at::IntArrayRef shape, at::ScalarType type, std::uint64_t seed)
{
    at::Generator generator = makeGenerator(seed);
    return at::randn(shape, generator, at::TensorOptions().dtype(at::kDouble)).to(type);
}


struct Case
{
    MeshGraphNetOptions options;
    ModelShape shape{5, 3, 2};
    Precision precision = Precision::float64;
    std::int64_t samples = 3;
    int nThreads = 2;
    std::shared_ptr<const MeshGraph> graph = std::make_shared<MeshGraph>(oddGraph());

    Case()
    {
        options.processorSize = 2;
        options.hiddenSize = 20;
        options.hiddenDimNodeEncoder = 11;
        options.hiddenDimEdgeEncoder = 23;
        options.hiddenDimNodeDecoder = 9;
    }
};


//- A model with disturbed parameters and its input
struct Fixture
{
    explicit Fixture(const Case& c)
    :
        pool(c.nThreads),
        model(c.options.build(c.shape, c.precision, 3, pool))
    {
        at::set_num_threads(1);     // torch's own, for what the model is compared with
        const auto type = c.precision == Precision::float64 ? at::kDouble : at::kFloat;
        at::Tensor flat = model->parameters()[0];
        {
            at::NoGradGuard noGrad;
            flat.add_(draw({flat.numel()}, type, 5), 0.1);
        }
        batch.graph = c.graph;
        batch.nodes = draw({c.samples, c.graph->nNodes(), c.shape.nNodeFeatures}, type, 11)
            .requires_grad_(true);
        batch.edges = draw({c.graph->nEdges(), c.shape.nEdgeFeatures}, type, 13)
            .requires_grad_(true);
        weight = draw({c.samples, c.graph->nNodes(), c.shape.nOutputs}, type, 17);
    }

    //- A loss with a gradient that is not constant
    at::Tensor loss(const at::Tensor& output) const
    {
        return (weight*output + 0.3*output*output).sum();
    }

    at::Tensor flat() const { return model->parameters()[0]; }

    ThreadPool pool;
    std::unique_ptr<Model> model;
    GraphBatch batch;
    at::Tensor weight;
};


double relative(const at::Tensor& a, const at::Tensor& b)
{
    return ((a - b).norm()/b.norm()).to(at::kDouble).item<double>();
}


void compareWithAutograd(const Case& c)
{
    Fixture f(c);
    const at::Tensor output = f.model->forward(f.batch);
    f.loss(output).backward();

    EagerMeshGraphNet eager(c.options.sizes(c.shape), f.flat());
    const at::Tensor nodes = f.batch.nodes.detach().clone().requires_grad_(true);
    const at::Tensor edges = f.batch.edges.detach().clone().requires_grad_(true);
    const at::Tensor expected = eager.forward(*c.graph, nodes, edges);
    f.loss(expected).backward();

    EXPECT_LT(relative(output, expected), 1e-13);
    EXPECT_LT(relative(f.batch.nodes.grad(), nodes.grad()), 1e-12);
    EXPECT_LT(relative(f.batch.edges.grad(), edges.grad()), 1e-12);
    const ParameterSet layout = c.options.sizes(c.shape).declare();
    for (const auto& entry : layout.entries())
    {
        EXPECT_LT(relative(layout.viewOf(f.flat().grad(), entry.name),
            eager.parameters.at(entry.name).grad()), 1e-11) << entry.name;
    }
}


class Activations : public testing::TestWithParam<std::string>
{
};

TEST_P(Activations, GradientsAreThoseOfAutograd)
{
    Case c;
    c.options.activation = GetParam();
    compareWithAutograd(c);
}

INSTANTIATE_TEST_SUITE_P(MeshGraphNet, Activations, testing::Values("relu", "silu", "gelu",
    "tanh", "elu", "leaky_relu", "sigmoid", "identity"),
    [](const auto& info) { return info.param; });


TEST(MeshGraphNet, MeanAggregationHasTheGradientsOfAutograd)
{
    Case c;
    c.options.aggregation = "mean";
    compareWithAutograd(c);
}


TEST(MeshGraphNet, AnyNumberOfLayersHasTheGradientsOfAutograd)
{
    Case c;
    c.options.numLayersEdgeProcessor = 1;
    c.options.numLayersNodeProcessor = 4;
    c.options.numLayersNodeEncoder = 3;
    c.options.numLayersEdgeEncoder = 1;
    c.options.numLayersNodeDecoder = 5;
    compareWithAutograd(c);
}


TEST(MeshGraphNet, WidthsOfWholeVectorsHaveTheGradientsOfAutograd)
{
    for (const std::int64_t width : {16, 32, 72})
    {
        Case c;
        c.options.hiddenSize = width;
        c.options.hiddenDimNodeEncoder.reset();
        c.options.hiddenDimEdgeEncoder.reset();
        c.options.hiddenDimNodeDecoder.reset();
        c.samples = 1;
        compareWithAutograd(c);
    }
}


TEST(MeshGraphNet, AMeshOfManyChunksHasTheGradientsOfAutograd)
{
    Case c;
    c.graph = gridGraph(47, 31);
    c.samples = 2;
    compareWithAutograd(c);
}


TEST(MeshGraphNet, AGraphWithoutEdgesHasTheGradientsOfAutogradForNodes)
{
    Case c;
    c.graph = std::make_shared<MeshGraph>(MeshGraph::fromEdges(7, {}, {}));
    Fixture f(c);
    const at::Tensor output = f.model->forward(f.batch);
    f.loss(output).backward();

    EagerMeshGraphNet eager(c.options.sizes(c.shape), f.flat());
    const at::Tensor nodes = f.batch.nodes.detach().clone().requires_grad_(true);
    f.loss(eager.forward(*c.graph, nodes, f.batch.edges.detach())).backward();

    EXPECT_LT(relative(f.batch.nodes.grad(), nodes.grad()), 1e-12);
}


TEST(MeshGraphNet, EveryParameterHasTheGradientOfFiniteDifferences)
{
    Case c;
    c.options.activation = "silu";      // smooth: no kink between the two evaluations
    Fixture f(c);
    f.loss(f.model->forward(f.batch)).backward();

    at::NoGradGuard noGrad;
    const ParameterSet layout = c.options.sizes(c.shape).declare();
    for (const auto& entry : layout.entries())
    {
        const at::Tensor direction = draw({entry.count}, at::kDouble, entry.offset + 1);
        const at::Tensor part = f.flat().narrow(0, entry.offset, entry.count);
        const double step = 3e-6;
        part.add_(direction, step);
        const double above = f.loss(f.model->forward(f.batch)).item<double>();
        part.add_(direction, -2*step);
        const double below = f.loss(f.model->forward(f.batch)).item<double>();
        part.add_(direction, step);

        const double slope = f.flat().grad().narrow(0, entry.offset, entry.count)
            .dot(direction).item<double>();
        EXPECT_NEAR((above - below)/(2*step), slope, 1e-6*(1 + std::abs(slope))) << entry.name;
    }
}


TEST(MeshGraphNet, Float32AgreesWithFloat64ToItsRounding)
{
    Case c;
    c.options.activation = "tanh";      // no kinks: gradients are continuous in rounding
    Fixture exact(c);
    c.precision = Precision::float32;
    Fixture single(c);
    const at::Tensor expected = exact.model->forward(exact.batch);
    exact.loss(expected).backward();
    const at::Tensor output = single.model->forward(single.batch);
    single.loss(output).backward();

    EXPECT_EQ(output.scalar_type(), at::kFloat);
    EXPECT_LT(relative(output.to(at::kDouble), expected), 2e-6);
    EXPECT_LT(relative(single.flat().grad().to(at::kDouble), exact.flat().grad()), 2e-5);
}


//- Parameters after some steps of gradient descent
at::Tensor train(const Case& c)
{
    Fixture f(c);
    for (int step = 0; step < 4; ++step)
    {
        f.loss(f.model->forward(f.batch)).div(1e3).backward();
        at::NoGradGuard noGrad;
        f.flat().sub_(f.flat().grad(), 0.01);
        f.flat().mutable_grad() = at::Tensor();
    }
    return f.flat().detach().clone();
}


TEST(MeshGraphNet, TrainingHasTheSameBitsForAnyNumberOfThreads)
{
    for (const Precision precision : {Precision::float32, Precision::float64})
    {
        Case c;
        c.precision = precision;
        c.graph = gridGraph(60, 43);
        c.nThreads = 1;
        const at::Tensor one = train(c);

        EXPECT_TRUE(at::isfinite(one).all().item<bool>());
        for (const int nThreads : {1, 2, 3, 7})
        {
            c.nThreads = nThreads;
            EXPECT_TRUE(at::equal(train(c), one)) << nThreads << " threads";
        }
    }
}


TEST(MeshGraphNet, PredictionHasTheBitsOfTheRecordedForwardPass)
{
    Case c;
    c.options.processorSize = 3;
    for (const std::int64_t samples : {1, 3})
    {
        c.samples = samples;
        Fixture f(c);
        const at::Tensor recorded = f.model->forward(f.batch);
        at::NoGradGuard noGrad;
        EXPECT_TRUE(at::equal(f.model->forward(f.batch), recorded));
    }
}


TEST(MeshGraphNet, OtherPassesMayComeBetweenForwardAndBackward)
{
    const Case c;
    Fixture alone(c);
    alone.loss(alone.model->forward(alone.batch)).backward();

    Fixture f(c);
    const at::Tensor loss = f.loss(f.model->forward(f.batch));
    GraphBatch other{gridGraph(9, 4), draw({2, 36, 5}, at::kDouble, 23),
        draw({2*(8*4 + 9*3), 3}, at::kDouble, 29)};
    const at::Tensor otherLoss = f.model->forward(other).sum();
    {
        at::NoGradGuard noGrad;
        f.model->forward(other);
    }
    loss.backward();
    EXPECT_TRUE(at::equal(f.flat().grad(), alone.flat().grad()));

    otherLoss.backward();
    EXPECT_FALSE(at::equal(f.flat().grad(), alone.flat().grad()));
}


TEST(MeshGraphNet, WorkMemoryIsAllocatedInTheFirstStepOnly)
{
    const Case c;
    const long before = alignedAllocations;
    Fixture f(c);
    const auto step = [&]
    {
        {
            at::NoGradGuard noGrad;
            f.model->forward(f.batch);
        }
        f.loss(f.model->forward(f.batch)).backward();
    };
    step();
    const long afterOne = alignedAllocations;
    EXPECT_GT(afterOne, before);

    for (int i = 0; i < 5; ++i)
    {
        step();
    }
    EXPECT_EQ(alignedAllocations, afterOne);
}


TEST(MeshGraphNet, ChangingParametersBeforeBackwardIsAnError)
{
    Fixture f{Case()};
    const at::Tensor loss = f.loss(f.model->forward(f.batch));
    f.model->rescaleOutput({2, 3}, {0, 0});

    EXPECT_THROW(loss.backward(), c10::Error);
}


TEST(MeshGraphNet, RescalingChangesOutputsAsAsked)
{
    Fixture f{Case()};
    at::NoGradGuard noGrad;
    const at::Tensor before = f.model->forward(f.batch);
    ASSERT_TRUE(f.model->rescaleOutput({2.5, -0.5}, {0.25, 3}));

    const at::Tensor expected = before*at::tensor({2.5, -0.5}, at::kDouble)
        + at::tensor({0.25, 3.0}, at::kDouble);
    EXPECT_LT(relative(f.model->forward(f.batch), expected), 1e-14);
}


TEST(MeshGraphNet, ScriptComputesWhatTheModelComputes)
{
    for (const std::string aggregation : {"sum", "mean"})
    {
        Case c;
        c.options.aggregation = aggregation;
        c.options.activation = aggregation == "sum" ? "relu" : "leaky_relu";
        c.samples = 1;
        Fixture f(c);
        torch::jit::Module module("network");
        for (const auto& [name, tensor] : f.model->namedTensors())
        {
            std::string attribute;
            for (const char letter : name)
            {
                attribute += letter == '.' ? "__" : std::string(1, letter);
            }
            module.register_parameter(attribute, tensor, false);
        }
        module.define(f.model->torchScript());

        at::NoGradGuard noGrad;
        const auto index = [](Span<const std::int32_t> values)
        {
            return at::tensor(std::vector<std::int64_t>(values.begin(), values.end()), at::kLong);
        };
        const at::Tensor output = module.run_method("network", f.batch.nodes[0],
            at::stack({index(c.graph->senders()), index(c.graph->receivers())}),
            f.batch.edges).toTensor();
        EXPECT_LT(relative(output, f.model->forward(f.batch)[0]), 1e-13) << aggregation;
    }
}


TEST(MeshGraphNet, InputOfAnotherShapeOrTypeIsAnErrorThatNamesBoth)
{
    Fixture f{Case()};
    const auto message = [&](const GraphBatch& batch) -> std::string
    {
        try
        {
            f.model->forward(batch);
        }
        catch (const Error& error)
        {
            return error.what();
        }
        return "no error";
    };
    GraphBatch wrong = f.batch;
    wrong.nodes = draw({3, 137, 4}, at::kDouble, 1);
    EXPECT_THAT(message(wrong), testing::AllOf(testing::HasSubstr("[3, 137, 4]"),
        testing::HasSubstr("[3, 137, 5]")));

    wrong = f.batch;
    wrong.edges = f.batch.edges.to(at::kFloat);
    EXPECT_THAT(message(wrong), testing::AllOf(testing::HasSubstr("edges"),
        testing::HasSubstr("Float"), testing::HasSubstr("Double")));
}


TEST(MeshGraphNet, SecondDerivativesAreAnError)
{
    Fixture f{Case()};
    const at::Tensor loss = f.loss(f.model->forward(f.batch));

    EXPECT_THROW(torch::autograd::grad({loss}, {f.flat()}, {}, true, true), Error);
}


TEST(MeshGraphNet, InstructionSetsAgreeToRounding)
{
    Case c;
    c.options.activation = "tanh";
    const auto results = [&](const char* level)
    {
        setenv("INSITU_SIMD", level, 1);
        Fixture f(c);
        unsetenv("INSITU_SIMD");
        const at::Tensor output = f.model->forward(f.batch);
        f.loss(output).backward();
        return std::make_pair(output.detach(), f.flat().grad());
    };
    const auto expected = results("baseline");

    int nCompared = 0;
    for (const char* level : {"avx2", "avx512"})
    {
        try
        {
            const auto found = results(level);
            EXPECT_LT(relative(found.first, expected.first), 1e-13) << level;
            EXPECT_LT(relative(found.second, expected.second), 1e-12) << level;
            ++nCompared;
        }
        catch (const Error& error)
        {
            EXPECT_THAT(error.what(), testing::HasSubstr("this machine and build offer"));
        }
    }
    unsetenv("INSITU_SIMD");
    if (nCompared == 0)
    {
        GTEST_SKIP() << "this machine has no other instruction set";
    }
}


TEST(MeshGraphNet, AnUnknownInstructionSetIsAnErrorThatNamesTheChoices)
{
    setenv("INSITU_SIMD", "avx9000", 1);
    try
    {
        Fixture f{Case()};
        ADD_FAILURE() << "no error";
    }
    catch (const Error& error)
    {
        EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("avx9000"),
            testing::HasSubstr("baseline")));
    }
    unsetenv("INSITU_SIMD");
}


TEST(MeshGraphNet, HiddenSizeSetsAllWidthsThatAreNotGiven)
{
    MeshGraphNetOptions options;
    options.processorSize = 8;
    options.hiddenSize = 64;
    ThreadPool pool(1);

    // Count of PhysicsNeMo 2.2.2 for (3, 4, 1)
    EXPECT_EQ(options.build({3, 4, 1}, Precision::float32, 0, pool)->nParameters(), 325889);
}

}
}
