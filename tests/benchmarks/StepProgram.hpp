// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "BlockGraph.hpp"
#include "base/Error.hpp"
#include "model/Model.hpp"
#include "model/simd/Kernels.hpp"

#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

// What the programs have in common that time a step of MeshGraphNet on the CPU, on a block of cells:
//
//     PROGRAM --width 32 --blocks 4 --size 40 40 40 --threads 2 --reps 10
//
// prints one line of JSON. With --serve it reads lines from standard input instead and answers
// each with one: "step" takes a step and says how many seconds and CPU seconds it took, "check
// FILE" writes what it computes for comparison, "memory" says resident memory and its peak in
// MiB. That lets stepPeers interleave it with its peers.

namespace inSitu
{

//- Features and outputs as in the published table of peers
constexpr ModelShape stepShape{8, 4, 4};


struct StepArguments
{
    int width = 32;
    int blocks = 4;
    int size[3] = {40, 40, 40};
    int threads = 2;
    int reps = 10;
    bool serve = false;
    std::string data;       //!< empty: random values

    StepArguments(int argc, char** argv)
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
            else if (key == "--threads") threads = std::stoi(value());
            else if (key == "--reps") reps = std::stoi(value());
            else if (key == "--data") data = value();
            else if (key == "--serve") serve = true;
            else if (key == "--size") for (int& n : size) n = std::stoi(value());
            else throw Error("unknown argument " + key);
        }
    }
};


//- Fill tensors from raw values, one behind the other
inline void readTensors(const std::string& file, const std::vector<at::Tensor>& tensors)
{
    std::ifstream in(file, std::ios::binary);
    for (const at::Tensor& tensor : tensors)
    {
        in.read(static_cast<char*>(tensor.data_ptr()), tensor.nbytes());
    }
    if (!in)
    {
        throw Error("cannot read " + file + " or it is too short");
    }
}


inline double residentMebibytes()
{
    long size = 0;
    long resident = 0;
    std::ifstream("/proc/self/statm") >> size >> resident;
    return resident*(sysconf(_SC_PAGESIZE)/1048576.0);
}


inline double peakMebibytes()
{
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss/1024.0;
}


struct StepCost
{
    double seconds;
    double cpuSeconds;

    template<class Work>
    static StepCost of(const Work& work)
    {
        const double cpu = cpuTime();
        const auto begin = std::chrono::steady_clock::now();
        work();
        const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
        return {wall.count(), cpuTime() - cpu};
    }

private:

    static double cpuTime()
    {
        timespec time;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
        return time.tv_sec + 1e-9*time.tv_nsec;
    }
};


template<class Step>
void serveSteps(Step& step)
{
    std::string word;
    while (std::cin >> word)
    {
        if (word == "step")
        {
            const StepCost cost = step.take();
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
            std::ofstream out(file, std::ios::binary);
            for (const at::Tensor& tensor : step.check())
            {
                out.write(static_cast<const char*>(tensor.const_data_ptr()), tensor.nbytes());
            }
            std::cout << "done" << std::endl;
        }
        else
        {
            throw Error("unknown request " + word);
        }
    }
}


inline double medianOf(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values[values.size()/2];
}


template<class Step>
void measureSteps(Step& step, const StepArguments& a)
{
    const double before = residentMebibytes();
    step.take();
    std::vector<double> seconds;
    std::vector<double> cpuSeconds;
    for (int rep = 0; rep < a.reps; ++rep)
    {
        const StepCost cost = step.take();
        seconds.push_back(cost.seconds);
        cpuSeconds.push_back(cost.cpuSeconds);
    }
    const auto minimum = [](const std::vector<double>& v)
    {
        return *std::min_element(v.begin(), v.end());
    };
    std::cout << "{\"width\":" << a.width << ",\"blocks\":" << a.blocks << ",\"cells\":"
        << step.graph().nNodes() << ",\"edges\":" << step.graph().nEdges() << ",\"threads\":"
        << a.threads << ",\"instructionSet\":\"" << kernels<float>().name
        << "\",\"wall_minimum_s\":" << minimum(seconds) << ",\"wall_median_s\":"
        << medianOf(seconds) << ",\"cpu_minimum_s\":" << minimum(cpuSeconds)
        << ",\"cpu_median_s\":" << medianOf(cpuSeconds)
        << ",\"memory_of_steps_MB\":" << peakMebibytes() - before << step.more() << "}"
        << std::endl;
}


//- The main() of such a program
template<class Step>
int runSteps(int argc, char** argv)
{
    try
    {
        const StepArguments arguments(argc, argv);
        torch::set_num_threads(arguments.threads);
        Step step(arguments);
        if (arguments.serve)
        {
            serveSteps(step);
        }
        else
        {
            measureSteps(step, arguments);
        }
        return 0;
    }
    catch (const std::exception& error)
    {
        std::cerr << error.what() << std::endl;
        return 1;
    }
}

}
