// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/Optimizer.hpp"

#include "TrainSupport.hpp"

#include <gmock/gmock.h>
#include <torch/torch.h>

#include <cmath>

using namespace inSitu;

namespace
{

using Entries = std::vector<std::pair<std::string, std::string>>;

//- Parameters and the optimiser on them; the gradient of step k is fixed
struct Bench
{
    Bench(const std::string& type, const Entries& entries, at::ScalarType precision = at::kDouble)
    :
        parameters{at::tensor({0.7, -1.2, 0.4}, precision).requires_grad_(),
            at::tensor({2.5}, precision).requires_grad_()},
        optimizer(optionsOf(optimizerRegistry(), type, entries)->build(parameters))
    {}

    static double gradient(int k, int i) { return std::sin(1.7*k + 0.6*i) + 0.3; }

    void step(int k)
    {
        for (at::Tensor& parameter : parameters)
        {
            at::Tensor slope = at::empty_like(parameter);
            for (int i = 0; i < parameter.numel(); ++i)
            {
                slope[i] = gradient(k, i);
            }
            parameter.mutable_grad() = slope;
        }
        optimizer->step();
    }

    double value(int i) const { return parameters[0][i].item<double>(); }

    std::vector<at::Tensor> parameters;
    std::unique_ptr<Optimizer> optimizer;
};

}


TEST(Optimizer, SgdWithMomentumDampeningAndDecayByHand)
{
    Bench bench("sgd", {{"learningRate", "0.05"}, {"momentum", "0.8"}, {"dampening", "0.3"},
        {"weightDecay", "0.01"}});

    double p = 0.7, buffer = 0;
    for (int k = 0; k < 4; ++k)
    {
        const double g = Bench::gradient(k, 0) + 0.01*p;
        buffer = k == 0 ? g : 0.8*buffer + 0.7*g;
        p -= 0.05*buffer;
        bench.step(k);
        EXPECT_NEAR(bench.value(0), p, 1e-15);
    }
}


TEST(Optimizer, SgdWithNesterovByHand)
{
    Bench bench("sgd", {{"learningRate", "0.05"}, {"momentum", "0.8"}, {"nesterov", "true"}});

    double p = -1.2, buffer = 0;
    for (int k = 0; k < 4; ++k)
    {
        const double g = Bench::gradient(k, 1);
        buffer = k == 0 ? g : 0.8*buffer + g;
        p -= 0.05*(g + 0.8*buffer);
        bench.step(k);
        EXPECT_NEAR(bench.value(1), p, 1e-15);
    }
}


TEST(Optimizer, AdamKindsByHand)
{
    for (const std::string type : {"adam", "adamw"})
    {
        for (const bool amsgrad : {false, true})
        {
            Bench bench(type, {{"learningRate", "0.02"}, {"beta1", "0.7"}, {"beta2", "0.6"},
                {"eps", "1e-3"}, {"weightDecay", "0.1"}, {"amsgrad", amsgrad ? "true" : "false"}});

            double p = 0.4, m = 0, v = 0, largest = 0;
            for (int k = 0; k < 6; ++k)
            {
                double g = Bench::gradient(k, 2);
                g += type == "adam" ? 0.1*p : 0;
                p *= type == "adamw" ? 1 - 0.02*0.1 : 1;
                m = 0.7*m + 0.3*g;
                v = 0.6*v + 0.4*g*g;
                largest = std::max(largest, v);
                const double mean = m/(1 - std::pow(0.7, k + 1));
                const double square = (amsgrad ? largest : v)/(1 - std::pow(0.6, k + 1));
                p -= 0.02*mean/(std::sqrt(square) + 1e-3);
                bench.step(k);
                EXPECT_NEAR(bench.value(2), p, 1e-14) << type << " amsgrad " << amsgrad;
            }
        }
    }
}


TEST(Optimizer, AdamWDecaysByDefault)
{
    Bench bench("adamw", {{"learningRate", "0.1"}});
    bench.parameters[0].mutable_grad() = at::zeros({3}, at::kDouble);
    bench.optimizer->step();

    EXPECT_NEAR(bench.value(0), 0.7*(1 - 0.1*0.01), 1e-15);
}


TEST(Optimizer, LearningRateCanBeSet)
{
    Bench bench("sgd", {{"learningRate", "0.5"}});
    bench.optimizer->setLearningRate(0.25);
    bench.step(0);

    EXPECT_NEAR(bench.value(0), 0.7 - 0.25*Bench::gradient(0, 0), 1e-15);
}


TEST(Optimizer, ResumesBitForBitAtEveryStep)
{
    const std::vector<std::pair<std::string, Entries>> kinds{{"sgd", {}},
        {"sgd", {{"momentum", "0.9"}}}, {"adam", {}}, {"adam", {{"amsgrad", "true"}}},
        {"adamw", {{"amsgrad", "true"}}}};
    for (const auto& [type, entries] : kinds)
    {
        Bench unbroken(type, entries, at::kFloat);
        for (int k = 0; k < 6; ++k)
        {
            unbroken.step(k);
        }
        for (int stop = 0; stop < 6; ++stop)
        {
            Bench first(type, entries, at::kFloat);
            for (int k = 0; k < stop; ++k)
            {
                first.step(k);
            }
            Bench second(type, entries, at::kFloat);
            second.optimizer->load(first.optimizer->save());
            for (std::size_t i = 0; i < 2; ++i)
            {
                second.parameters[i].detach().copy_(first.parameters[i].detach());
            }
            for (int k = stop; k < 6; ++k)
            {
                second.step(k);
            }
            EXPECT_TRUE(at::equal(second.parameters[0], unbroken.parameters[0])) << type << stop;
            EXPECT_EQ(firstDifference(second.optimizer->save(), unbroken.optimizer->save()), "");
        }
    }
}


TEST(Optimizer, AmsgradCanBeSwitchedOnLater)
{
    Bench plain("adam", {});
    plain.step(0);
    Bench withMaximum("adam", {{"amsgrad", "true"}});
    withMaximum.optimizer->load(plain.optimizer->save());
    withMaximum.step(1);

    EXPECT_TRUE(withMaximum.optimizer->save().has("0/maxExpAvgSq"));
}


TEST(Optimizer, StateOfOtherParametersIsRefusedByName)
{
    Bench other("adam", {}, at::kFloat);
    other.step(0);
    Bench bench("adam", {});
    bench.step(0);
    const StateTree before = bench.optimizer->save();

    try
    {
        bench.optimizer->load(other.optimizer->save());
        ADD_FAILURE() << "accepted";
    }
    catch (const Error& error)
    {
        EXPECT_THAT(error.what(), testing::HasSubstr("expAvg is float32 [3]"));
    }
    EXPECT_EQ(firstDifference(bench.optimizer->save(), before), "");
}


TEST(Optimizer, NesterovNeedsMomentumAndNoDampening)
{
    const std::vector<Entries> bad{{{"nesterov", "true"}},
        {{"nesterov", "true"}, {"momentum", "0.9"}, {"dampening", "0.1"}}};
    for (const Entries& entries : bad)
    {
        try
        {
            optionsOf(optimizerRegistry(), "sgd", entries);
            ADD_FAILURE() << "accepted";
        }
        catch (const ConfigError& error)
        {
            EXPECT_THAT(error.what(), testing::HasSubstr("nesterov needs momentum > 0"));
        }
    }
}
