// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/FusedOptimizer.hpp"

#include "TrainSupport.hpp"
#include "train/GradScaler.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

using namespace inSitu;

namespace
{

using Entries = std::vector<std::pair<std::string, std::string>>;

//- Two parameters and the gradients of step k
struct Leaves
{
    Leaves()
    {
        for (int i = 0; i < 2; ++i)
        {
            tensors.push_back(at::linspace(-0.7, 1.3 + i, 5 + i, at::kDouble));
            tensors.back().requires_grad_(true);
        }
    }

    void differentiate(int k)
    {
        for (std::size_t i = 0; i < tensors.size(); ++i)
        {
            const at::NoGradGuard noGradients;
            tensors[i].mutable_grad() = at::sin(tensors[i].detach()*(1.7 + 0.3*k)) + 0.1*i;
        }
    }

    double distance(const Leaves& other) const
    {
        double sum = 0;
        for (std::size_t i = 0; i < tensors.size(); ++i)
        {
            sum += (tensors[i] - other.tensors[i]).norm().item<double>();
        }
        return sum;
    }

    std::vector<at::Tensor> tensors;
};


struct Kind
{
    const char* type;
    Entries entries;
};

const std::vector<Kind> kinds
{
    {"adam", {}},
    {"adam", {{"weightDecay", "0.03"}, {"amsgrad", "yes"}, {"beta1", "0.8"}, {"beta2", "0.95"}}},
    {"adamw", {{"weightDecay", "0.2"}, {"eps", "1e-3"}}},
    {"sgd", {}},
    {"sgd", {{"momentum", "0.9"}, {"weightDecay", "0.05"}}},
    {"sgd", {{"momentum", "0.7"}, {"dampening", "0.4"}, {"weightDecay", "0.05"}}},
    {"sgd", {{"momentum", "0.7"}, {"nesterov", "yes"}}}
};

}


TEST(FusedOptimizer, StepsAsTheOneOfTheHost)
{
    for (const Kind& kind : kinds)
    {
        const auto options = optionsOf(optimizerRegistry(), kind.type, kind.entries);
        Leaves here, there;
        const auto host = options->build(here.tensors);
        const auto fused = options->buildFused(there.tensors);
        for (int k = 0; k < 8; ++k)
        {
            const double rate = k < 4 ? 0.015625 : 0.0078125;
            host->setLearningRate(rate);
            fused->setLearningRate(rate);
            here.differentiate(k);
            there.differentiate(k);
            host->step();
            fused->step();
            EXPECT_LT(here.distance(there), 1e-12) << kind.type << " step " << k;
        }
        EXPECT_GT(here.distance(Leaves()), 1e-2);
    }
}


TEST(FusedOptimizer, SkippedStepsLeaveNoTrace)
{
    for (const Kind& kind : kinds)
    {
        const auto options = optionsOf(optimizerRegistry(), kind.type, kind.entries);
        Leaves plain, skipping;
        const auto one = options->buildFused(plain.tensors);
        const auto other = options->buildFused(skipping.tensors);
        one->setLearningRate(0.03125);
        other->setLearningRate(0.03125);
        for (int k = 0; k < 5; ++k)
        {
            at::Tensor(other->skip()).fill_(1);
            skipping.differentiate(100 + k);
            other->step();
            at::Tensor(other->skip()).fill_(0);
            for (Leaves* leaves : {&plain, &skipping})
            {
                leaves->differentiate(k);
            }
            one->step();
            other->step();
        }
        EXPECT_EQ(plain.distance(skipping), 0) << kind.type;
        EXPECT_EQ(firstDifference(one->save(), other->save()), "");
    }
}


//- Either goes on from the state of the other
TEST(FusedOptimizer, SharesItsStateWithTheOneOfTheHost)
{
    for (const Kind& kind : kinds)
    {
        const auto options = optionsOf(optimizerRegistry(), kind.type, kind.entries);
        Leaves here, there;
        std::unique_ptr<Optimizer> host = options->build(here.tensors);
        std::unique_ptr<Optimizer> fused = options->buildFused(there.tensors);
        EXPECT_EQ(firstDifference(host->save(), fused->save()), "") << kind.type;
        for (int k = 0; k < 6; ++k)
        {
            if (k == 3)
            {
                const StateTree ofHost = host->save();
                const StateTree ofFused = fused->save();
                host = options->build(here.tensors);
                fused = options->buildFused(there.tensors);
                host->load(ofFused);
                fused->load(ofHost);
            }
            host->setLearningRate(0.015625);
            fused->setLearningRate(0.015625);
            here.differentiate(k);
            there.differentiate(k);
            host->step();
            fused->step();
        }
        EXPECT_LT(here.distance(there), 1e-12) << kind.type;
    }
}


TEST(FusedOptimizer, RefusesTheStateOfOtherParameters)
{
    const auto options = optionsOf(optimizerRegistry(), "adam");
    Leaves leaves;
    const auto whole = options->buildFused(leaves.tensors);
    const auto part = options->buildFused({leaves.tensors.front()});
    EXPECT_ANY_THROW(part->load(whole->save()));
}


// Numbers of torch.amp.GradScaler
TEST(GradScaler, HalvesOnOverflowAndDoublesAfter2000Steps)
{
    GradScaler scaler(at::kCPU);
    const auto step = [&](double gradient)
    {
        at::Tensor slope = at::full({3}, gradient, at::kFloat);
        slope[1] = 32768.0f;
        scaler.unscale({slope});
        scaler.update();
        return slope[1].item<double>();
    };
    EXPECT_EQ(scaler.scale().item<double>(), 65536);
    EXPECT_EQ(step(1), 0.5);
    step(std::numeric_limits<double>::infinity());
    EXPECT_EQ(scaler.scale().item<double>(), 32768);
    EXPECT_EQ(step(1), 1);
    step(std::numeric_limits<double>::quiet_NaN());
    EXPECT_EQ(scaler.scale().item<double>(), 16384);

    const StateTree state = scaler.save();
    for (int k = 0; k < 1999; ++k)
    {
        step(1);
    }
    EXPECT_EQ(scaler.scale().item<double>(), 16384);
    const StateTree almost = scaler.save();
    step(1);
    EXPECT_EQ(scaler.scale().item<double>(), 32768);

    GradScaler other(at::kCPU);
    other.load(almost);
    at::Tensor slope = at::ones({2}, at::kFloat);
    other.unscale({slope});
    other.update();
    EXPECT_EQ(other.scale().item<double>(), 32768);
    other.load(state);
    EXPECT_EQ(other.scale().item<double>(), 16384);
    EXPECT_EQ(scaler.scaled(at::full({}, 3.0, at::kDouble)).item<double>(), 3.0*32768);
}
