// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/Loss.hpp"

#include "TemporaryFolder.hpp"
#include "TrainSupport.hpp"

#include <gmock/gmock.h>
#include <torch/torch.h>

using namespace inSitu;
using testing::HasSubstr;

namespace
{

using Entries = std::vector<std::pair<std::string, std::string>>;

std::unique_ptr<Loss> loss(ThreadPool& pool, const std::string& type, const Entries& entries = {})
{
    return optionsOf(lossRegistry(), type, entries)->build(pool);
}


//- 2 samples of 3 cells (and 2 rows that carry no loss), 2 columns
struct Small
{
    at::Tensor prediction =
        at::sin(at::arange(20, at::kDouble)).reshape({2, 5, 2}).requires_grad_();
    at::Tensor target = at::cos(at::arange(12, at::kDouble)*1.3).reshape({2, 3, 2});
    at::Tensor weight = at::tensor({1.0, 2.0, 0.5}, at::kDouble);

    //- prediction − target of the cells
    at::Tensor difference() const { return prediction.narrow(1, 0, 3) - target; }
};


std::string savedModule(const TemporaryFolder& folder, const std::string& source)
{
    torch::jit::Module module("userLoss");
    module.register_buffer("factor", at::tensor({1.5f}));
    module.define(source);
    module.save(folder / "loss.pt");
    return folder / "loss.pt";
}


template<class Call>
std::string complaintOf(Call call)
{
    try
    {
        call();
    }
    catch (const Error& error)
    {
        return error.what();
    }
    return "nothing was thrown";
}

}


TEST(Loss, MeanSquareByHand)
{
    ThreadPool pool(1);
    const at::Tensor prediction = at::tensor({1.5, -0.25, 9.0}).reshape({1, 3, 1});
    const at::Tensor target = at::tensor({1.0, 0.5}).reshape({1, 2, 1});
    const at::Tensor weight = at::tensor({1.0, 3.0}, at::kDouble);

    const at::Tensor mse = (*loss(pool, "mse"))(prediction.to(at::kDouble),
        target.to(at::kDouble), weight, 4);
    const at::Tensor l1 = (*loss(pool, "l1"))(prediction.to(at::kDouble),
        target.to(at::kDouble), weight, 4);

    EXPECT_DOUBLE_EQ(mse.item<double>(), 0.484375);     // (1·0.25 + 3·0.5625)/4
    EXPECT_DOUBLE_EQ(l1.item<double>(), 0.6875);        // (1·0.5 + 3·0.75)/4
}


TEST(Loss, ValueAndGradientAreThoseOfTorch)
{
    ThreadPool pool(2);
    for (const std::string type : {"mse", "l1"})
    {
        for (const std::string reduction : {"mean", "sum"})
        {
            const Small data;
            const at::Tensor terms =
                type == "mse" ? data.difference().square() : data.difference().abs();
            const double count = reduction == "mean" ? 2*2*3.5 : 1;
            const at::Tensor expected = (terms*data.weight.reshape({1, 3, 1})).sum()/count;
            const at::Tensor value = (*loss(pool, type, {{"reduction", reduction}}))(
                data.prediction, data.target, data.weight, 3.5);

            const at::Tensor slope = torch::autograd::grad({7*value}, {data.prediction})[0];
            const at::Tensor expectedSlope =
                torch::autograd::grad({7*expected}, {data.prediction})[0];
            EXPECT_NEAR(value.item<double>(), expected.item<double>(), 1e-14) << type;
            EXPECT_LT((slope - expectedSlope).abs().max().item<double>(), 1e-14) << type;
            EXPECT_EQ(slope.narrow(1, 3, 2).abs().max().item<double>(), 0) << type;
        }
    }
}


TEST(Loss, SameBitsForAnyNumberOfThreads)
{
    const at::Tensor prediction = at::sin(at::arange(3*7001*2, at::kFloat)).reshape({2, 7001, 3})
        .requires_grad_();
    const at::Tensor target = at::cos(at::arange(3*6000*2, at::kFloat)).reshape({2, 6000, 3});
    const at::Tensor weight = at::arange(1, 6001, at::kDouble).sqrt();

    std::vector<double> values;
    std::vector<at::Tensor> slopes;
    for (const int nThreads : {1, 2, 3})
    {
        ThreadPool pool(nThreads);
        const at::Tensor value = (*loss(pool, "mse"))(prediction, target, weight, 1.7e5);
        values.push_back(value.item<double>());
        slopes.push_back(torch::autograd::grad({value}, {prediction})[0]);
    }
    EXPECT_EQ(values[1], values[0]);
    EXPECT_EQ(values[2], values[0]);
    EXPECT_TRUE(at::equal(slopes[1], slopes[0]));
    EXPECT_TRUE(at::equal(slopes[2], slopes[0]));
}


TEST(Loss, UnreducedLossIsRefusedWithARemedy)
{
    ThreadPool pool(1);
    EXPECT_THAT(complaintOf([&] { loss(pool, "mse", {{"reduction", "none"}}); }),
        HasSubstr("use mean or sum"));
}


TEST(Loss, TorchScriptTakesTwoOrThreeArguments)
{
    const TemporaryFolder folder;
    ThreadPool pool(1);
    const Small data;

    const std::string two = savedModule(folder, R"(
def forward(self, prediction: Tensor, target: Tensor) -> Tensor:
    return self.factor*((prediction - target)**4).mean()
)");
    const at::Tensor even = at::full({3}, 0.25, at::kDouble);
    const at::Tensor ofTwo =
        (*loss(pool, "torchscript", {{"filename", two}}))(data.prediction, data.target, even, 0.75);
    EXPECT_NEAR(ofTwo.item<double>(), (1.5*data.difference().pow(4).mean()).item<double>(), 1e-14);
    const at::Tensor slope = torch::autograd::grad({ofTwo}, {data.prediction})[0];
    EXPECT_NEAR(slope[1][2][0].item<double>(),
        (1.5*4/12*data.difference()[1][2][0].pow(3)).item<double>(), 1e-14);

    const std::string three = savedModule(folder, R"(
def forward(self, prediction: Tensor, target: Tensor, weight: Tensor) -> Tensor:
    return ((prediction - target)[:, :, 1]*weight).sum()
)");
    const at::Tensor ofThree = (*loss(pool, "torchscript", {{"filename", three}}))(
        data.prediction, data.target, data.weight, 3.5);
    EXPECT_NEAR(ofThree.item<double>(),
        (data.difference().select(2, 1)*data.weight).sum().item<double>(), 1e-14);
}


TEST(Loss, TorchScriptWithoutWeightsRefusesUnequalOnes)
{
    const TemporaryFolder folder;
    ThreadPool pool(1);
    const Small data;
    const std::string file = savedModule(folder, R"(
def forward(self, prediction: Tensor, target: Tensor) -> Tensor:
    return (prediction - target).abs().mean()
)");

    const auto tested = loss(pool, "torchscript", {{"filename", file}, {"weights", "volume"}});

    EXPECT_THAT(complaintOf([&] { (*tested)(data.prediction, data.target, data.weight, 3.5); }),
        HasSubstr("third argument"));
}


TEST(Loss, TorchScriptFaultsNameFileAndRemedy)
{
    const TemporaryFolder folder;
    ThreadPool pool(1);
    const Small data;
    const auto build = [&](const std::string& file)
    {
        return loss(pool, "torchscript", {{"filename", file}});
    };

    EXPECT_THAT(complaintOf([&] { build(folder / "absent.pt"); }),
        testing::AllOf(HasSubstr("loss.filename"), HasSubstr("absent.pt"), HasSubstr("existing")));

    folder.write("text.pt", "not a module");
    EXPECT_THAT(complaintOf([&] { build(folder / "text.pt"); }),
        testing::AllOf(HasSubstr("text.pt"), HasSubstr("torch.jit.script")));

    const std::string one = savedModule(folder,
        "def forward(self, x: Tensor) -> Tensor:\n    return x.sum()\n");
    EXPECT_THAT(complaintOf([&] { build(one); }), HasSubstr("1 arguments"));

    const std::string field = savedModule(folder, R"(
def forward(self, prediction: Tensor, target: Tensor) -> Tensor:
    return prediction - target
)");
    const auto tested = build(field);
    const at::Tensor even = at::ones({3}, at::kDouble);
    EXPECT_THAT(complaintOf([&] { (*tested)(data.prediction, data.target, even, 3); }),
        HasSubstr("12 numbers"));
}
