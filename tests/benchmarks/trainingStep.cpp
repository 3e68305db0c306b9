// SPDX-License-Identifier: GPL-3.0-or-later
//
// One training step of MeshGraphNet on the CPU: forward, mean square error, backward, Adam.
//
//     trainingStep --width 32 --blocks 4 --size 40 40 40 --threads 2 --reps 10
//
// prints one line of JSON. With --serve it reads lines from standard input instead and answers
// each with one: "step" takes a step and says how many seconds and CPU seconds it took, "check
// FILE" writes output and gradient for comparison, "memory" says resident memory and its peak in
// MiB. That lets trainingStepPeers interleave it with its peers.

#include "base/Error.hpp"
#include "model/GraphBatch.hpp"
#include "model/Initialise.hpp"
#include "model/MeshGraphNet.hpp"

#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

namespace
{

using namespace inSitu;

struct Arguments
{
    int width = 32;
    int blocks = 4;
    int size[3] = {40, 40, 40};
    int threads = 2;
    int reps = 10;
    bool serve = false;
    std::string data;
};


Arguments parse(int argc, char** argv)
{
    Arguments a;
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
        if (key == "--width") a.width = std::stoi(value());
        else if (key == "--blocks") a.blocks = std::stoi(value());
        else if (key == "--threads") a.threads = std::stoi(value());
        else if (key == "--reps") a.reps = std::stoi(value());
        else if (key == "--data") a.data = value();
        else if (key == "--serve") a.serve = true;
        else if (key == "--size") for (int& n : a.size) n = std::stoi(value());
        else throw Error("unknown argument " + key);
    }
    return a;
}


//- Cells of a block, faces in OpenFOAM's order
std::shared_ptr<const MeshGraph> blockGraph(const int (&size)[3])
{
    const std::int32_t nx = size[0];
    const std::int32_t ny = size[1];
    const std::int32_t nz = size[2];
    std::vector<std::int32_t> owner;
    std::vector<std::int32_t> neighbour;
    for (std::int32_t cell = 0; cell < nx*ny*nz; ++cell)
    {
        const auto add = [&](bool inside, std::int32_t other)
        {
            if (inside)
            {
                owner.push_back(cell);
                neighbour.push_back(other);
            }
        };
        add(cell % nx < nx - 1, cell + 1);
        add(cell/nx % ny < ny - 1, cell + nx);
        add(cell/(nx*ny) < nz - 1, cell + nx*ny);
    }
    return std::make_shared<MeshGraph>(MeshGraph::fromFaces(nx*ny*nz, owner, neighbour));
}


double peakMebibytes()
{
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss/1024.0;
}


double residentMebibytes()
{
    long size = 0;
    long resident = 0;
    std::ifstream("/proc/self/statm") >> size >> resident;
    return resident*(sysconf(_SC_PAGESIZE)/1048576.0);
}


double cpuSeconds()
{
    timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return time.tv_sec + 1e-9*time.tv_nsec;
}


struct Cost
{
    double seconds;
    double cpuSeconds;
};


//- Features and outputs as in the published table of peers
constexpr ModelShape shape{8, 4, 4};


class Step
{
public:

    explicit Step(const Arguments& a)
    :
        pool_(a.threads)
    {
        MeshGraphNetOptions options;
        options.processorSize = a.blocks;
        options.hiddenSize = a.width;
        model_ = options.build(shape, Precision::float32, 0, pool_);
        graph_ = blockGraph(a.size);

        if (a.data.empty())
        {
            at::Generator generator = makeGenerator(1);
            const auto draw = [&](at::IntArrayRef sizes) { return at::randn(sizes, generator); };
            batch_ = {graph_, draw({1, graph_->nNodes(), 8}), draw({graph_->nEdges(), 4})};
            target_ = draw({1, graph_->nNodes(), 4});
        }
        else
        {
            read(a.data);
        }
        optimizer_ = std::make_unique<torch::optim::Adam>(model_->parameters(),
            torch::optim::AdamOptions(1e-4));
    }

    Cost take()
    {
        const double cpu = cpuSeconds();
        const auto begin = std::chrono::steady_clock::now();
        const at::Tensor loss = at::mse_loss(model_->forward(batch_), target_);
        loss.backward();
        optimizer_->step();
        optimizer_->zero_grad();
        const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
        return {wall.count(), cpuSeconds() - cpu};
    }

    //- Raw float32: output, then the gradient in the order of the parameters
    void check(const std::string& file)
    {
        const at::Tensor output = model_->forward(batch_);
        at::mse_loss(output, target_).backward();
        const at::Tensor gradient = model_->parameters()[0].grad();
        std::ofstream out(file, std::ios::binary);
        for (const at::Tensor& tensor : {output.detach(), gradient})
        {
            out.write(static_cast<const char*>(tensor.const_data_ptr()), tensor.nbytes());
        }
        optimizer_->zero_grad();
    }

    const MeshGraph& graph() const { return *graph_; }

private:

    //- Raw float32: parameters by name in order, nodes, edges in the graph's order, target
    void read(const std::string& file)
    {
        at::NoGradGuard noGrad;
        batch_ = {graph_, at::empty({1, graph_->nNodes(), 8}), at::empty({graph_->nEdges(), 4})};
        target_ = at::empty({1, graph_->nNodes(), 4});
        std::ifstream in(file, std::ios::binary);
        for (const at::Tensor& tensor : {model_->parameters()[0].detach(), batch_.nodes,
            batch_.edges, target_})
        {
            in.read(static_cast<char*>(tensor.data_ptr()), tensor.nbytes());
        }
        if (!in)
        {
            throw Error("cannot read " + file + " or it is too short");
        }
    }

    ThreadPool pool_;
    std::shared_ptr<const MeshGraph> graph_;
    std::unique_ptr<Model> model_;
    GraphBatch batch_;
    at::Tensor target_;
    std::unique_ptr<torch::optim::Adam> optimizer_;
};


void serve(Step& step)
{
    std::string word;
    while (std::cin >> word)
    {
        if (word == "step")
        {
            const Cost cost = step.take();
            std::cout << cost.seconds << ' ' << cost.cpuSeconds << std::endl;
        }
        else if (word == "memory")
        {
            std::cout << residentMebibytes() << ' ' << peakMebibytes() << std::endl;
        }
        else if (word == "check")
        {
            std::string file;
            std::cin >> file;
            step.check(file);
            std::cout << "done" << std::endl;
        }
        else
        {
            throw Error("unknown request " + word);
        }
    }
}


void measure(Step& step, const Arguments& a)
{
    const double before = residentMebibytes();
    step.take();
    std::vector<double> seconds;
    std::vector<double> cpuSeconds;
    for (int rep = 0; rep < a.reps; ++rep)
    {
        const Cost cost = step.take();
        seconds.push_back(cost.seconds);
        cpuSeconds.push_back(cost.cpuSeconds);
    }
    std::sort(seconds.begin(), seconds.end());
    std::sort(cpuSeconds.begin(), cpuSeconds.end());
    std::cout << "{\"width\":" << a.width << ",\"blocks\":" << a.blocks << ",\"cells\":"
        << step.graph().nNodes() << ",\"edges\":" << step.graph().nEdges() << ",\"threads\":"
        << a.threads << ",\"instructionSet\":\"" << kernels<float>().name
        << "\",\"wall_minimum_s\":" << seconds.front() << ",\"wall_median_s\":"
        << seconds[seconds.size()/2] << ",\"cpu_minimum_s\":" << cpuSeconds.front()
        << ",\"cpu_median_s\":" << cpuSeconds[cpuSeconds.size()/2]
        << ",\"memory_of_steps_MB\":" << peakMebibytes() - before << "}" << std::endl;
}

}


int main(int argc, char** argv)
{
    try
    {
        const Arguments arguments = parse(argc, argv);
        torch::set_num_threads(arguments.threads);
        Step step(arguments);
        if (arguments.serve)
        {
            serve(step);
        }
        else
        {
            measure(step, arguments);
        }
        return 0;
    }
    catch (const std::exception& error)
    {
        std::cerr << error.what() << std::endl;
        return 1;
    }
}
