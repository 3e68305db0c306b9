// SPDX-License-Identifier: GPL-3.0-or-later

#include "model/ParameterSet.hpp"

#include "base/Error.hpp"
#include "model/Initialise.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

namespace inSitu
{
namespace
{

ParameterSet threeParameters(at::ScalarType type)
{
    ParameterSet parameters;
    parameters.declare("first.weight", {2, 3});
    parameters.declare("first.bias", {2});
    parameters.declare("scale", {});
    parameters.allocate(type);
    return parameters;
}


TEST(ParameterSet, LiesInOneLeafInTheOrderDeclared)
{
    const ParameterSet parameters = threeParameters(at::kDouble);

    EXPECT_EQ(parameters.flat().numel(), 9);
    EXPECT_EQ(parameters.flat().scalar_type(), at::kDouble);
    EXPECT_TRUE(parameters.flat().is_leaf());
    EXPECT_TRUE(parameters.flat().requires_grad());
    std::vector<std::string> names;
    std::vector<std::int64_t> offsets;
    for (const auto& entry : parameters.entries())
    {
        names.push_back(entry.name);
        offsets.push_back(entry.offset);
    }
    EXPECT_THAT(names, testing::ElementsAre("first.weight", "first.bias", "scale"));
    EXPECT_THAT(offsets, testing::ElementsAre(0, 6, 8));
}


TEST(ParameterSet, WritingAViewWritesTheFlatTensor)
{
    const ParameterSet parameters = threeParameters(at::kFloat);
    parameters.view("first.weight")[1][2] = 2.5;
    parameters.view("scale").fill_(-7);

    EXPECT_FALSE(parameters.view("first.weight").requires_grad());
    EXPECT_EQ(parameters.flat()[5].item<float>(), 2.5f);
    EXPECT_EQ(parameters.flat()[8].item<float>(), -7.0f);
}


TEST(ParameterSet, ViewsOtherFlatTensorsTheSameWay)
{
    const ParameterSet parameters = threeParameters(at::kDouble);
    const at::Tensor gradient = at::arange(9, at::kDouble)*3;

    EXPECT_TRUE(at::equal(parameters.viewOf(gradient, "first.bias"),
        at::tensor({18.0, 21.0}, at::kDouble)));
}


TEST(ParameterSet, AnUnknownNameIsAnErrorThatNamesTheNearest)
{
    const ParameterSet parameters = threeParameters(at::kFloat);
    try
    {
        parameters.view("first.weigth");
        ADD_FAILURE() << "no error";
    }
    catch (const Error& error)
    {
        EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("'first.weigth'"),
            testing::HasSubstr("'first.weight'")));
    }
}


TEST(Initialise, LinearLayersGetTheNumbersOfTorch)
{
    // Same generator algorithm: torch's own layers after manual_seed
    torch::manual_seed(42);
    torch::nn::Linear first(7, 33);
    torch::nn::Linear second(33, 2);

    ParameterSet parameters;
    parameters.declare("a.weight", {33, 7});
    parameters.declare("a.bias", {33});
    parameters.declare("b.weight", {2, 33});
    parameters.declare("b.bias", {2});
    parameters.allocate(at::kDouble);
    at::Generator generator = makeGenerator(42);
    initialiseLinear(parameters, "a", generator);
    initialiseLinear(parameters, "b", generator);

    EXPECT_TRUE(at::equal(parameters.view("a.weight"), first->weight.to(at::kDouble)));
    EXPECT_TRUE(at::equal(parameters.view("a.bias"), first->bias.to(at::kDouble)));
    EXPECT_TRUE(at::equal(parameters.view("b.weight"), second->weight.to(at::kDouble)));
    EXPECT_TRUE(at::equal(parameters.view("b.bias"), second->bias.to(at::kDouble)));
}


TEST(Initialise, TheGlobalGeneratorIsNotTouched)
{
    torch::manual_seed(42);
    const at::Tensor expected = at::rand({5});
    torch::manual_seed(42);
    ParameterSet parameters;
    parameters.declare("a.weight", {3, 7});
    parameters.declare("a.bias", {3});
    parameters.allocate(at::kFloat);
    at::Generator generator = makeGenerator(1);
    initialiseLinear(parameters, "a", generator);

    EXPECT_TRUE(at::equal(at::rand({5}), expected));
}

}
}
