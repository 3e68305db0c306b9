// SPDX-License-Identifier: GPL-3.0-or-later

#include "model/Mlp.hpp"

#include "base/Error.hpp"
#include "config/SchemaReader.hpp"
#include "config/YamlFile.hpp"
#include "model/GraphBatch.hpp"
#include "model/Initialise.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/torch.h>

namespace inSitu
{
namespace
{

constexpr ModelShape shape{5, 3, 2};

struct Fixture
{
    explicit Fixture(const MlpOptions& options, int nThreads = 2,
        Precision precision = Precision::float64)
    :
        pool(nThreads),
        model(options.build(shape, precision, 9, pool))
    {
        const auto type = precision == Precision::float64 ? at::kDouble : at::kFloat;
        at::Generator generator = makeGenerator(4);
        batch.graph = std::make_shared<MeshGraph>(MeshGraph::fromEdges(1100, {}, {}));
        batch.nodes = at::randn({2, 1100, 5}, generator, at::TensorOptions().dtype(at::kDouble))
            .to(type).requires_grad_(true);
        batch.edges = at::empty({0, 3}, type);
    }

    at::Tensor flat() const { return model->parameters()[0]; }

    ThreadPool pool;
    std::unique_ptr<Model> model;
    GraphBatch batch;
};


double relative(const at::Tensor& a, const at::Tensor& b)
{
    return ((a - b).norm()/b.norm()).item<double>();
}


//- Loss with a gradient that is not constant
at::Tensor lossOf(const at::Tensor& output)
{
    return (output*output + 0.7*output).sum();
}


TEST(Mlp, OutputAndGradientsAreThoseOfTorch)
{
    MlpOptions options;
    options.layerSizes = {5, 37, 20, 2};
    options.activation = "silu";
    Fixture f(options);
    const at::Tensor output = f.model->forward(f.batch);
    lossOf(output).backward();

    torch::nn::Sequential reference(torch::nn::Linear(5, 37), torch::nn::SiLU(),
        torch::nn::Linear(37, 20), torch::nn::SiLU(), torch::nn::Linear(20, 2));
    reference->to(at::kDouble);
    const auto named = f.model->namedTensors();
    const auto own = reference->parameters();
    ASSERT_EQ(named.size(), own.size());
    for (std::size_t i = 0; i < own.size(); ++i)
    {
        at::NoGradGuard noGrad;
        own[i].copy_(named[i].second);
    }
    const at::Tensor nodes = f.batch.nodes.detach().clone().requires_grad_(true);
    const at::Tensor expected = reference->forward(nodes);
    lossOf(expected).backward();

    EXPECT_LT(relative(output, expected), 1e-14);
    EXPECT_LT(relative(f.batch.nodes.grad(), nodes.grad()), 1e-13);
    std::vector<at::Tensor> gradients;
    for (const at::Tensor& parameter : own)
    {
        gradients.push_back(parameter.grad().reshape({-1}));
    }
    EXPECT_LT(relative(f.flat().grad(), at::cat(gradients)), 1e-13);
}


TEST(Mlp, NamesAndWeightsAreThoseOfATorchSequential)
{
    MlpOptions options;
    options.hiddenSize = 6;
    options.hiddenLayers = 1;
    Fixture f(options, 1, Precision::float32);
    torch::manual_seed(9);
    torch::nn::Linear first(5, 6);
    torch::nn::Linear second(6, 2);

    const auto named = f.model->namedTensors();
    ASSERT_EQ(named.size(), 4u);
    EXPECT_EQ(named[0].first, "layers.0.weight");
    EXPECT_EQ(named[3].first, "layers.2.bias");
    EXPECT_TRUE(at::equal(named[0].second, first->weight));
    EXPECT_TRUE(at::equal(named[3].second, second->bias));
}


TEST(Mlp, NoHiddenLayerIsALinearMap)
{
    MlpOptions options;
    options.hiddenLayers = 0;
    Fixture f(options);
    const at::Tensor output = f.model->forward(f.batch);
    lossOf(output).backward();
    const auto named = f.model->namedTensors();
    const at::Tensor expected = at::linear(f.batch.nodes, named[0].second, named[1].second);

    EXPECT_LT(relative(output, expected), 1e-14);
    const at::Tensor slope = (2*expected + 0.7).reshape({-1, 2});
    EXPECT_LT(relative(f.flat().grad().slice(0, 0, 10).view({2, 5}),
        slope.t().mm(f.batch.nodes.detach().view({-1, 5}))), 1e-13);
    EXPECT_LT(relative(f.flat().grad().slice(0, 10), slope.sum(0)), 1e-13);
}


TEST(Mlp, HasTheSameBitsForAnyNumberOfThreads)
{
    MlpOptions options;
    options.dropout = 0.2;
    const auto train = [&](int nThreads)
    {
        Fixture f(options, nThreads, Precision::float32);
        for (int step = 0; step < 3; ++step)
        {
            lossOf(f.model->forward(f.batch)).div(1e4).backward();
            at::NoGradGuard noGrad;
            f.flat().sub_(f.flat().grad(), 0.1);
            f.flat().mutable_grad() = at::Tensor();
        }
        return f.flat().detach().clone();
    };
    const at::Tensor one = train(1);

    EXPECT_TRUE(at::equal(train(2), one));
    EXPECT_TRUE(at::equal(train(3), one));
}


TEST(Mlp, DropoutIsUnbiasedAndOffInEvaluation)
{
    MlpOptions options;
    options.layerSizes = {5, 64, 2};
    options.activation = "identity";
    options.dropout = 0.25;
    Fixture f(options);
    at::NoGradGuard noGrad;
    f.model->train(false);
    const at::Tensor exact = f.model->forward(f.batch);
    EXPECT_TRUE(at::equal(f.model->forward(f.batch), exact));

    f.model->train(true);
    const at::Tensor one = f.model->forward(f.batch);
    EXPECT_FALSE(at::equal(f.model->forward(f.batch), one));
    at::Tensor mean = at::zeros_like(exact);
    const int n = 400;
    for (int i = 0; i < n; ++i)
    {
        mean += f.model->forward(f.batch)/n;
    }
    // Deviation of one draw over sqrt(n), of the whole field
    EXPECT_LT(relative(mean, exact), 1.3*relative(one, exact)/std::sqrt(n));
    EXPECT_GT(relative(one, exact), 0.1);
}


TEST(Mlp, DropoutHasTheGradientOfItsOwnDraw)
{
    MlpOptions options;
    options.layerSizes = {5, 12, 9, 2};
    options.activation = "tanh";
    options.dropout = 0.4;
    Fixture f(options);
    const auto state = f.model->generatorState();
    lossOf(f.model->forward(f.batch)).backward();

    at::NoGradGuard noGrad;
    at::Generator generator = makeGenerator(77);
    const at::Tensor direction = at::randn(f.flat().sizes(), generator, f.flat().options()
        .requires_grad(false));
    const auto lossAt = [&](double step)
    {
        f.flat().add_(direction, step);
        f.model->setGeneratorState(state);
        const double loss = lossOf(f.model->forward(f.batch)).item<double>();
        f.flat().sub_(direction, step);
        return loss;
    };
    const double slope = f.flat().grad().dot(direction).item<double>();

    EXPECT_NEAR((lossAt(1e-5) - lossAt(-1e-5))/2e-5, slope, 1e-6*std::abs(slope));
}


TEST(Mlp, GeneratorStateContinuesTheDraws)
{
    MlpOptions options;
    options.dropout = 0.5;
    Fixture f(options);
    at::NoGradGuard noGrad;
    f.model->forward(f.batch);
    const auto state = f.model->generatorState();
    const at::Tensor next = f.model->forward(f.batch);
    const at::Tensor afterNext = f.model->forward(f.batch);

    f.model->setGeneratorState(state);
    EXPECT_TRUE(at::equal(f.model->forward(f.batch), next));
    EXPECT_TRUE(at::equal(f.model->forward(f.batch), afterNext));
    EXPECT_THROW(f.model->setGeneratorState({1, 2, 3}), Error);
}


TEST(Mlp, RescalingChangesOutputsAsAsked)
{
    Fixture f{MlpOptions()};
    at::NoGradGuard noGrad;
    const at::Tensor before = f.model->forward(f.batch);
    ASSERT_TRUE(f.model->rescaleOutput({2.5, -0.5}, {0.25, 3}));

    EXPECT_LT(relative(f.model->forward(f.batch), before*at::tensor({2.5, -0.5}, at::kDouble)
        + at::tensor({0.25, 3.0}, at::kDouble)), 1e-14);
}


TEST(Mlp, ScriptComputesWhatTheModelComputes)
{
    MlpOptions options;
    options.activation = "gelu";
    Fixture f(options);
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
    const at::Tensor output = module.run_method("network", f.batch.nodes[1],
        at::empty({2, 0}, at::kLong), f.batch.edges).toTensor();
    EXPECT_LT(relative(output, f.model->forward(f.batch)[1]), 1e-14);
}


TEST(Mlp, LayerSizesOfAnotherCaseAreAnErrorThatNamesBoth)
{
    MlpOptions options;
    options.layerSizes = {6, 32, 2};
    ThreadPool pool(1);
    try
    {
        options.build(shape, Precision::float32, 1, pool);
        ADD_FAILURE() << "no error";
    }
    catch (const Error& error)
    {
        EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("6 32 2"),
            testing::HasSubstr("5 input columns"), testing::HasSubstr("2 output columns")));
    }
}


TEST(Models, AreChosenByWord)
{
    std::vector<std::string> words;
    for (const auto& entry : modelRegistry())
    {
        words.push_back(entry.first);
        EXPECT_NE(entry.second(), nullptr);
    }
    EXPECT_THAT(words, testing::UnorderedElementsAre("meshGraphNet", "mlp", "torchscript"));

    const auto model = modelRegistry().at("meshGraphNet")();
    Node node = Node::block();
    node.add("processorSize", Node::scalar("3"));
    node.add("hiddenSize", Node::scalar("24"));
    node.add("hiddenLayersProcessor", Node::scalar("1"));
    readConfig(node, "model", [&](Schema& schema) { model->describe(schema); });
    ThreadPool pool(1);
    // Edge encoder 6*24 + 2*(25*24) + 48 ..., counted by hand:
    //   edge encoder (3) 96 + 600 + 600 + 48, node encoder (5) 144 + 600 + 600 + 48,
    //   decoder 600 + 600 + 50, per block edge 73*24 + 600 + 48 and node 49*24 + 600 + 48
    EXPECT_EQ(model->build(shape, Precision::float32, 1, pool)->nParameters(),
        1344 + 1392 + 1250 + 3*(2400 + 1824));
}

}


TEST(ModelRegistry, KnowsSizesWithoutMemory)
{
    const std::vector<std::pair<std::string, std::string>> configurations
    {
        {"mlp", "{hiddenSize: 7, hiddenLayers: 3}"},
        {"mlp", "{hiddenLayers: 0}"},
        {"mlp", "{layerSizes: [" + std::to_string(shape.nNodeFeatures) + ", 9, 4, "
            + std::to_string(shape.nOutputs) + "]}"},
        {"meshGraphNet", "{processorSize: 3, hiddenSize: 6}"},
        {"meshGraphNet", "{processorSize: 2, hiddenSize: 6, hiddenDimProcessor: 5,"
            " hiddenDimNodeEncoder: 7, hiddenDimEdgeEncoder: 8, hiddenDimNodeDecoder: 9,"
            " numLayersNodeProcessor: 1, numLayersEdgeProcessor: 3, numLayersNodeEncoder: 4,"
            " numLayersEdgeEncoder: 1, numLayersNodeDecoder: 5}"}
    };
    ThreadPool pool(1);
    for (const auto& [type, text] : configurations)
    {
        SCOPED_TRACE(text);
        const auto options = modelRegistry().at(type)();
        readConfig(parseYaml(text, "model.yaml"), "model",
            [&](Schema& schema) { options->describe(schema); });
        const ModelOptions::Size size = options->size(shape);
        const auto model = options->build(shape, Precision::float32, 1, pool);
        EXPECT_EQ(size.tensors, static_cast<double>(model->namedTensors().size()));
        EXPECT_EQ(size.numbers, static_cast<double>(model->nParameters()));
    }
}

}
