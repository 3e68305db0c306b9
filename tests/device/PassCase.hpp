// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "DeviceSupport.hpp"
#include "base/ThreadPool.hpp"
#include "model/MeshGraphNetPass.hpp"

namespace inSitu
{
namespace test
{

using device::Accumulator;

//- Sizes that betray a mixed-up width
inline MeshGraphNetSizes oddSizes()
{
    MeshGraphNetSizes s;
    s.nodeFeatures = 5;
    s.edgeFeatures = 3;
    s.outputs = 2;
    s.blocks = 2;
    s.width = 20;
    s.nodeEncoderWidth = 11;
    s.edgeEncoderWidth = 23;
    s.decoderWidth = 9;
    return s;
}


//- A model, its input and the gradient of a loss, in double on the CPU
struct Case
{
    explicit Case(const MeshGraphNetSizes& theSizes, std::int64_t samples = 2,
        std::shared_ptr<const MeshGraph> theGraph = oddGraph())
    :
        sizes(theSizes),
        graph(std::move(theGraph)),
        parameters(sizes.declare())
    {
        parameters.allocate(at::kDouble);
        at::Generator generator = makeGenerator(3);
        sizes.initialise(parameters, generator);
        flat = parameters.flat().detach().clone();
        flat.add_(draw({flat.numel()}, 5), 0.1);
        nodes = draw({samples, graph->nNodes(), sizes.nodeFeatures}, 11);
        edges = draw({graph->nEdges(), sizes.edgeFeatures}, 13);
        weight = draw({samples, graph->nNodes(), sizes.outputs}, 17);
    }

    MeshGraphNetSizes sizes;
    std::shared_ptr<const MeshGraph> graph;
    ParameterSet parameters;
    at::Tensor flat, nodes, edges, weight;
};


struct Result
{
    at::Tensor output, parameters, nodes, edges;
};


//- Forward and backward of weight*output + 0.3*output^2, in memory that stays where it is
template<class A>
class PassRun
{
public:

    PassRun(GraphPass<A>& pass, const Case& c, const at::Device& where, bool inputs = true)
    :
        pass_(pass),
        inputs_(inputs),
        tape_(pass.makeTape())
    {
        constexpr at::ScalarType type = std::is_same_v<A, double> ? at::kDouble : at::kFloat;
        const auto there = [&](const at::Tensor& t) { return t.to(where, type).contiguous(); };
        flat_ = there(c.flat);
        nodes_ = there(c.nodes);
        edges_ = there(c.edges);
        weight_ = there(c.weight);
        input_ = {c.graph, c.nodes.size(0), nodes_.const_data_ptr<A>(),
            edges_.const_data_ptr<A>()};
        result = {at::full_like(weight_, 777), at::full_like(flat_, 777),
            at::full_like(nodes_, 777), at::full_like(edges_, 777)};
    }

    void operator()()
    {
        const auto data = [](const at::Tensor& t) { return t.mutable_data_ptr<A>(); };
        pass_.forward(flat_.const_data_ptr<A>(), input_, tape_.get(), data(result.output),
            GraphPass<A>::Encoding::fresh);
        const at::Tensor gradient = (weight_ + 0.6*result.output).contiguous();
        pass_.backward(flat_.const_data_ptr<A>(), input_, *tape_, gradient.const_data_ptr<A>(),
            data(result.parameters), inputs_ ? data(result.nodes) : nullptr,
            inputs_ ? data(result.edges) : nullptr);
    }

    Result result;

private:

    GraphPass<A>& pass_;
    bool inputs_;
    std::unique_ptr<typename GraphPass<A>::Tape> tape_;
    typename GraphPass<A>::Input input_;
    at::Tensor flat_, nodes_, edges_, weight_;
};


template<class A>
Result runPass(GraphPass<A>& pass, const Case& c, const at::Device& where, bool inputs = true)
{
    PassRun<A> run(pass, c, where, inputs);
    run();
    return run.result;
}


inline Result onCpu(const Case& c)
{
    ThreadPool pool(2);
    MeshGraphNetPass<double> pass(c.sizes, c.parameters, pool);
    return runPass<double>(pass, c, at::kCPU);
}


template<class T>
std::unique_ptr<device::DevicePass<T>> devicePass(const Case& c, bool recompute = false,
    bool tf32 = false, const std::shared_ptr<DeviceRanks>& ranks = nullptr,
    const at::Device& where = testDevice())
{
    DeviceChoice choice;
    choice.storage = storageOf<T>();
    choice.recompute = recompute;
    choice.tf32 = tf32;
    choice.ranks = ranks;
    return std::make_unique<device::DevicePass<T>>(c.sizes, c.parameters, where, choice);
}


template<class T>
Result onDevice(const Case& c, bool recompute = false)
{
    return runPass<Accumulator<T>>(*devicePass<T>(c, recompute), c, testDevice());
}


//- Of each parameter by itself
inline void expectClose(const std::string& name, const Case& c, const Result& got,
    const Result& expected, double tolerance, double gradientTolerance)
{
    test::expectClose(name + " output", got.output, expected.output, tolerance);
    test::expectClose(name + " d nodes", got.nodes, expected.nodes, gradientTolerance);
    test::expectClose(name + " d edges", got.edges, expected.edges, gradientTolerance);
    double worst = 0;
    std::string where = "none";
    for (const auto& entry : c.parameters.entries())
    {
        const double error = relativeError(c.parameters.viewOf(got.parameters, entry.name),
            c.parameters.viewOf(expected.parameters, entry.name));
        if (!(error <= worst))
        {
            worst = error;
            where = entry.name;
        }
        EXPECT_LE(error, gradientTolerance) << name << ": " << entry.name;
    }
    std::cout << "  " << (worst <= gradientTolerance ? "ok    " : "WRONG ") << name
        << " worst gradient " << worst << " of " << gradientTolerance << ": " << where << std::endl;
}

}
}
