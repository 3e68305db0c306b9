// SPDX-License-Identifier: GPL-3.0-or-later
//
// A training step (forward, mean square error, backward, clipping, Adam) and a prediction of
// MeshGraphNet on a GPU, eager and as one CUDA graph. Each reading is a line of JSON.
//
//     deviceStep --size 40 40 40 --storage bfloat16 [--tf32] [--recompute] [--tuned] [--kernels]

#include "BlockGraph.hpp"
#include "DeviceReadings.hpp"

#include "base/Error.hpp"
#include "base/ThreadPool.hpp"
#include "model/DeviceLibrary.hpp"
#include "model/GraphBatch.hpp"
#include "model/Initialise.hpp"
#include "model/MeshGraphNet.hpp"

#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/torch.h>

#include <functional>
#include <iostream>
#include <map>
#include <memory>

namespace inSitu
{
namespace
{

constexpr int nSets = 4;
constexpr int nWarmUp = 3;


struct Arguments
{
    int width = 128;
    int blocks = 15;
    int size[3] = {40, 40, 40};
    int reps = 30;
    std::string storage = "bfloat16";
    DeviceChoice choice;
    bool kernels = false;
    bool eager = true;

    Arguments(int argc, char** argv)
    {
        for (int i = 1; i < argc; ++i)
        {
            const std::string key = argv[i];
            const auto value = [&]() -> std::string
            {
                if (++i >= argc)
                {
                    throw Error(key + " needs a value");
                }
                return argv[i];
            };
            if (key == "--width") width = std::stoi(value());
            else if (key == "--blocks") blocks = std::stoi(value());
            else if (key == "--reps") reps = std::stoi(value());
            else if (key == "--storage") storage = value();
            else if (key == "--tf32") choice.tf32 = true;
            else if (key == "--recompute") choice.recompute = true;
            else if (key == "--tuned") choice.tuned = true;
            else if (key == "--kernels") kernels = true;
            else if (key == "--captured-only") eager = false;
            else if (key == "--size") for (int& n : size) n = std::stoi(value());
            else throw Error("unknown argument " + key);
        }
        const std::map<std::string, Storage> storages{{"float64", Storage::float64},
            {"float32", Storage::float32}, {"bfloat16", Storage::bfloat16},
            {"float16", Storage::float16}};
        const auto found = storages.find(storage);
        if (found == storages.end())
        {
            throw Error("unknown storage " + storage + "; one of float64 float32 bfloat16 float16");
        }
        choice.storage = found->second;
    }
};


//- Model, inputs in rotation, and an optimiser whose state is on the device
class Program
{
public:

    explicit Program(const Arguments& a)
    :
        pool_(1),
        graph_(blockGraph(a.size)),
        type_(a.choice.storage == Storage::float64 ? at::kDouble : at::kFloat)
    {
        MeshGraphNetOptions options;
        options.processorSize = a.blocks;
        options.hiddenSize = a.width;
        model_ = options.build({8, 4, 4},
            type_ == at::kDouble ? Precision::float64 : Precision::float32, 0, pool_);
        model_->moveTo(*DeviceLibrary::open(), a.choice);
        flat_ = model_->parameters()[0];

        at::Generator generator = makeGenerator(1);
        const auto draw = [&](at::IntArrayRef sizes)
        {
            return at::randn(sizes, generator, at::TensorOptions().dtype(type_)).to(flat_.device());
        };
        for (int set = 0; set < nSets; ++set)
        {
            sets_.push_back({draw({1, graph_->nNodes(), 8}), draw({graph_->nEdges(), 4}),
                draw({1, graph_->nNodes(), 4})});
        }
        for (const at::Tensor& tensor : sets_.front())
        {
            static_.push_back(tensor.clone());
        }
        for (at::Tensor* moment : {&mean_, &square_})
        {
            *moment = at::zeros_like(flat_.detach());
        }
        step_ = at::zeros({1}, at::dtype(at::kFloat).device(flat_.device()));
        rate_ = at::full({}, 1e-4, at::dtype(at::kFloat).device(flat_.device()));
    }

    const MeshGraph& graph() const { return *graph_; }

    void load(int rep)
    {
        for (std::size_t i = 0; i < static_.size(); ++i)
        {
            static_[i].copy_(sets_[rep % nSets][i]);
        }
    }

    at::Tensor train()
    {
        const at::Tensor loss = at::mse_loss(model_->forward(batch()), static_[2]);
        at::Tensor gradient = torch::autograd::grad({loss}, {flat_})[0];
        const at::NoGradGuard noGrad;
        const at::Tensor norm = at::linalg_vector_norm(gradient);
        gradient.mul_((1/(norm + 1e-6)).clamp_max_(1));
        step_.add_(1);
        at::_fused_adam_({flat_.detach()}, {gradient}, {mean_}, {square_}, {}, {step_}, rate_,
            0.9, 0.999, 0, 1e-8, false, false);
        return loss.detach();
    }

    at::Tensor predict()
    {
        const at::NoGradGuard noGrad;
        return model_->forward(batch());
    }

private:

    GraphBatch batch() const { return {graph_, static_[0], static_[1]}; }

    ThreadPool pool_;
    std::shared_ptr<const MeshGraph> graph_;
    at::ScalarType type_;
    std::unique_ptr<Model> model_;
    at::Tensor flat_;
    std::vector<std::vector<at::Tensor>> sets_;
    std::vector<at::Tensor> static_;
    at::Tensor mean_, square_, step_, rate_;
};


//- Bytes that the passes over rows read and write, and operations of the products, per step:
//  every tensor once per kernel, gathered rows of nodes as cache hits
struct Counted
{
    double bytes;
    double flops;

    static Counted of(const Arguments& a, const MeshGraph& graph, bool training)
    {
        const double itemSize = a.choice.storage == Storage::float64 ? 8
            : a.choice.storage == Storage::float32 ? 4 : 2;
        const double edges = graph.nEdges();
        const double nodes = graph.nNodes();
        const double square = double(a.width)*a.width;
        const double perBlock = 6*edges + 12*nodes;
        const double passes = training ? (a.choice.recompute ? 4 : 3) : 1;
        const double edgeUnits = training ? 11 + 25 + (a.choice.recompute ? 8 : 0) : 11;
        const double nodeUnits = training ? 14 + 36 + (a.choice.recompute ? 10 : 0) : 14;
        return {itemSize*a.width*a.blocks*(edgeUnits*edges + nodeUnits*nodes),
            passes*square*(perBlock*a.blocks + 4*edges + 8*nodes)};
    }
};


void report(const Arguments& a, const Program& program, const std::string& what,
    const std::string& how, const Readings& readings)
{
    const Counted counted = Counted::of(a, program.graph(), what == "train");
    const double seconds = readings.gpu.median*1e-3;
    std::cout << "{\"what\":\"" << what << "\",\"how\":\"" << how << "\",\"storage\":\""
        << a.storage << "\",\"tf32\":" << a.choice.tf32 << ",\"recompute\":" << a.choice.recompute
        << ",\"tuned\":" << a.choice.tuned << ",\"width\":" << a.width << ",\"blocks\":" << a.blocks
        << ",\"cells\":" << program.graph().nNodes() << ",\"edges\":" << program.graph().nEdges()
        << ",\"reps\":" << a.reps << ",\"gpu_ms\":" << readings.gpu << ",\"host_ms\":"
        << readings.host << ",\"pipelined_ms\":" << readings.pipelined
        << ",\"counted_GB\":" << counted.bytes*1e-9 << ",\"counted_GBps\":"
        << counted.bytes*1e-9/seconds << ",\"TFLOPps\":" << counted.flops*1e-12/seconds
        << ",\"bytes_per_cell\":" << readings.peakBytes/program.graph().nNodes()
        << ",\"last\":" << readings.last << ",\"kernels\":" << readings.kernels << "}" << std::endl;
}


void measureAll(const Arguments& a)
{
    const c10::cuda::CUDAStream stream = c10::cuda::getStreamFromPool(true);
    const c10::cuda::CUDAStreamGuard onStream(stream);
    Program program(a);

    for (const std::string what : {"train", "predict"})
    {
        const std::function<at::Tensor()> step = [&]
            { return what == "train" ? program.train() : program.predict(); };
        at::Tensor result;
        const auto eager = [&](int rep)
        {
            program.load(rep);
            result = step();
        };
        const Measure measure(a.reps, a.kernels);
        const auto warmUp = [&]
        {
            for (int rep = 0; rep < nWarmUp; ++rep)
            {
                eager(rep);
            }
        };
        Readings readings = measure.setUp(warmUp);
        if (a.eager)
        {
            measure.run(readings, eager, [&] { return result; });
            report(a, program, what, "eager", readings);
        }

        at::cuda::CUDAGraph captured;
        captured.capture_begin();
        result = step();
        captured.capture_end();
        measure.run(readings, [&](int rep)
        {
            program.load(rep);
            captured.replay();
        }, [&] { return result; });
        report(a, program, what, "captured", readings);
    }
}

}
}


int main(int argc, char** argv)
{
    try
    {
        inSitu::measureAll(inSitu::Arguments(argc, argv));
        return 0;
    }
    catch (const std::exception& error)
    {
        std::cerr << error.what() << std::endl;
        return 1;
    }
}
