// SPDX-License-Identifier: GPL-3.0-or-later
#include "EagerMeshGraphNet.hpp"
#include "Hex.hpp"
#include "PassCase.hpp"

#include <ATen/autocast_mode.h>

#include <algorithm>

// What the shorter types cost, against double. The yardstick for 16 bits is LibTorch's autocast on
// the same model: no tensor of the gradient may be off by more than 1.5 times as much.

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

    //- Forward error, and each gradient against that of a yardstick, unless it is below noise
    void judge(const std::string& name, const Result& ours, const Result& yardstick,
        double forwardTolerance, double noise = 0)
    {
        const double forward = relativeError(ours.output, exact.output);
        std::cout << "  " << name << " forward " << forward << " of " << forwardTolerance
            << ", yardstick " << relativeError(yardstick.output, exact.output) << std::endl;
        EXPECT_LE(forward, forwardTolerance) << name;

        const std::vector<double> mine = gradientErrors(ours);
        const std::vector<double> theirs = gradientErrors(yardstick);
        std::vector<std::pair<double, std::string>> ratios;
        for (std::size_t i = 0; i < mine.size(); ++i)
        {
            ratios.emplace_back(mine[i]/theirs[i], c.parameters.entries()[i].name + ": "
                + std::to_string(mine[i]) + " for " + std::to_string(theirs[i]));
            EXPECT_LE(mine[i], std::max(noise, 1.5*theirs[i])) << name << ' '
                << ratios.back().second;
        }
        const auto describe = [](std::vector<double> errors)
        {
            std::sort(errors.begin(), errors.end());
            std::cout << "worst " << errors.back() << ", median " << errors[errors.size()/2];
        };
        std::cout << "  " << name << " gradients ";
        describe(mine);
        std::cout << "; yardstick ";
        describe(theirs);
        std::sort(ratios.rbegin(), ratios.rend());
        std::cout << "; ratio: median " << ratios[ratios.size()/2].first << ", largest\n";
        for (std::size_t i = 0; i < std::min<std::size_t>(ratios.size(), 5); ++i)
        {
            std::cout << "    " << ratios[i].first << ' ' << ratios[i].second << std::endl;
        }
    }

    Case c;
    Result exact;
};


// One rounding that flips the sign of a value before relu changes a tensor by up to 1e-3
TEST_F(PrecisionOfPass, float32)
{
    judge("float32", run<float>(), eager(at::kFloat), 1e-5, 1e-3);
}


TEST_F(PrecisionOfPass, bfloat16)
{
    judge("bfloat16", run<device::BFloat16>(), eager(at::kBFloat16), 3e-2);
}

#ifndef INSITU_CUDA_EMULATED

TEST_F(PrecisionOfPass, tf32)
{
    at::globalContext().setAllowTF32CuBLAS(true);
    const Result yardstick = eager(at::kFloat);
    at::globalContext().setAllowTF32CuBLAS(false);
    judge("tf32", run<float>(true), yardstick, 5e-3);
}


TEST_F(PrecisionOfPass, float16)
{
    judge("float16", run<device::Float16>(), eager(at::kHalf), 1e-2);
}

#endif

}
}
