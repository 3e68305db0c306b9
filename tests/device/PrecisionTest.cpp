// SPDX-License-Identifier: GPL-3.0-or-later
#include "EagerMeshGraphNet.hpp"
#include "Hex.hpp"
#include "PassCase.hpp"

#include <ATen/autocast_mode.h>

#include <algorithm>
#include <cmath>
#include <functional>

// What the shorter types cost, against double. The yardstick for 16 bits is LibTorch's autocast on
// the same model: no tensor of the gradient may be off by more than 1.5 times as much, 1.75 times in
// float16. Which of two codes rounds a given tensor better is a matter of luck, and there are 300 of
// them: errors are root mean squares over four draws of inputs.

namespace inSitu
{
namespace
{

using namespace test;

//- As in the published tables of peers; small where it is emulated
MeshGraphNetSizes usualSizes()
{
    MeshGraphNetSizes s;
    s.nodeFeatures = 8;
    s.edgeFeatures = 4;
    s.outputs = 4;
    if (isEmulated)
    {
        s.blocks = 3;
        s.width = s.nodeEncoderWidth = s.edgeEncoderWidth = s.decoderWidth = 32;
    }
    return s;
}


std::shared_ptr<const MeshGraph> usualGraph()
{
    const Hex hex(isEmulated ? 5 : 16, isEmulated ? 4 : 16, isEmulated ? 3 : 16);
    return std::make_shared<MeshGraph>(MeshGraph::fromFaces(hex.nCells(), hex.owner,
        hex.neighbour));
}


class PrecisionOfPass : public testing::Test
{
protected:

    PrecisionOfPass()
    :
        c(usualSizes(), 1, usualGraph())
    {}

    void SetUp() override
    {
        INSITU_NEEDS_DEVICE();
        // Initial weights as they are, as in a training's first step
        at::Generator generator = makeGenerator(3);
        c.sizes.initialise(c.parameters, generator);
        c.flat = c.parameters.flat().detach().clone();
    }

    //- Inputs and loss number k
    void drawInputs(std::uint64_t k)
    {
        c.nodes = draw(c.nodes.sizes(), 11 + 100*k);
        c.edges = draw(c.edges.sizes(), 13 + 100*k);
        c.weight = draw(c.weight.sizes(), 17 + 100*k);
        exact = runPass<double>(*devicePass<double>(c), c, testDevice());
        const Result cpu = onCpu(c);
        expectClose("usual size, double", c, exact, cpu, 1e-11, 1e-11);
    }

    template<class T>
    Result run(bool tf32 = false)
    {
        return runPass<Accumulator<T>>(*devicePass<T>(c, false, tf32), c, testDevice());
    }

    //- Operator by operator, under autocast to type unless it is float
    Result eager(at::ScalarType type)
    {
        const at::Device where = testDevice();
        const auto there = [&](const at::Tensor& t) { return t.to(where, at::kFloat); };
        EagerMeshGraphNet model(c.sizes, there(c.flat));
        const at::Tensor nodes = there(c.nodes).requires_grad_(true);
        const at::Tensor edges = there(c.edges).requires_grad_(true);
        at::autocast::set_autocast_enabled(where.type(), type != at::kFloat);
        if (type != at::kFloat)
        {
            at::autocast::set_autocast_dtype(where.type(), type);
        }
        const at::Tensor output = model.forward(*c.graph, nodes, edges).to(at::kFloat);
        at::autocast::clear_cache();
        at::autocast::set_autocast_enabled(where.type(), false);
        (there(c.weight)*output + 0.3*output*output).sum().backward();
        return {output, model.flatGradient(), nodes.grad(), edges.grad()};
    }

    std::vector<double> gradientErrors(const Result& result)
    {
        std::vector<double> errors;
        for (const auto& entry : c.parameters.entries())
        {
            errors.push_back(relativeError(c.parameters.viewOf(result.parameters, entry.name),
                c.parameters.viewOf(exact.parameters, entry.name)));
        }
        return errors;
    }

    //- Root mean squares over the draws of the forward error and of each gradient's
    struct Errors
    {
        double forward = 0;
        std::vector<double> gradients;
    };

    void count(Errors& errors, const Result& result)
    {
        const auto add = [](double& mean, double error)
            { mean = std::sqrt(mean*mean + error*error/nDraws); };
        const std::vector<double> gradients = gradientErrors(result);
        errors.gradients.resize(gradients.size());
        add(errors.forward, relativeError(result.output, exact.output));
        for (std::size_t i = 0; i < gradients.size(); ++i)
        {
            add(errors.gradients[i], gradients[i]);
        }
    }

    //- Forward error, and each gradient against that of a yardstick, unless it is below noise
    void judge(const std::string& name, const std::function<Result()>& ours,
        const std::function<Result()>& yardstick, double forwardTolerance, double factor,
        double noise = 0)
    {
        Errors mine, theirs;
        for (int k = 0; k < nDraws; ++k)
        {
            drawInputs(k);
            count(mine, ours());
            count(theirs, yardstick());
        }
        std::cout << "  " << name << " forward " << mine.forward << " of " << forwardTolerance
            << ", yardstick " << theirs.forward << std::endl;
        EXPECT_LE(mine.forward, forwardTolerance) << name;

        std::vector<std::pair<double, std::string>> ratios;
        for (std::size_t i = 0; i < mine.gradients.size(); ++i)
        {
            const double error = mine.gradients[i];
            const double bar = theirs.gradients[i];
            ratios.emplace_back(error/bar, c.parameters.entries()[i].name + ": "
                + std::to_string(error) + " for " + std::to_string(bar));
            EXPECT_LE(error, std::max(noise, factor*bar)) << name << ' ' << ratios.back().second;
        }
        const auto describe = [](std::vector<double> errors)
        {
            std::sort(errors.begin(), errors.end());
            std::cout << "worst " << errors.back() << ", median " << errors[errors.size()/2];
        };
        std::cout << "  " << name << " gradients ";
        describe(mine.gradients);
        std::cout << "; yardstick ";
        describe(theirs.gradients);
        std::sort(ratios.rbegin(), ratios.rend());
        std::cout << "; ratio: median " << ratios[ratios.size()/2].first << ", largest\n";
        for (std::size_t i = 0; i < std::min<std::size_t>(ratios.size(), 5); ++i)
        {
            std::cout << "    " << ratios[i].first << ' ' << ratios[i].second << std::endl;
        }
    }

    static constexpr int nDraws = 4;

    Case c;
    Result exact;
};


// One rounding that flips the sign of a value before relu changes a tensor by up to 1e-3
TEST_F(PrecisionOfPass, float32)
{
    judge("float32", [this] { return run<float>(); }, [this] { return eager(at::kFloat); }, 1e-5,
        1.5, 1e-3);
}


TEST_F(PrecisionOfPass, bfloat16)
{
    judge("bfloat16", [this] { return run<device::BFloat16>(); },
        [this] { return eager(at::kBFloat16); }, 3e-2, 1.5);
}

#ifndef INSITU_CUDA_EMULATED

TEST_F(PrecisionOfPass, tf32)
{
    const auto yardstick = [this]
    {
        at::globalContext().setAllowTF32CuBLAS(true);
        const Result result = eager(at::kFloat);
        at::globalContext().setAllowTF32CuBLAS(false);
        return result;
    };
    judge("tf32", [this] { return run<float>(true); }, yardstick, 5e-3, 1.5);
}


TEST_F(PrecisionOfPass, float16)
{
    judge("float16", [this] { return run<device::Float16>(); },
        [this] { return eager(at::kHalf); }, 1e-2, 1.75);
}

#endif

}
}
