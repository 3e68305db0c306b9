// SPDX-License-Identifier: GPL-3.0-or-later
//
// What an execution of the trainer costs the solver, with mode sync and async: a host without a
// solver, which is busy for a while between executions.
//
//     besideStep --nx 320 --ny 200 --width 32 --blocks 4 --threads 1 --steps 60 --busy 0.3
//         --device cpu --precision float32
//
// prints a line of JSON per mode: median, 99th percentile and minimum, of executions behind those
// that fill the buffer; the bytes that the solver's thread writes for the trainer, and how many
// executions ask for memory, and are put to sleep. busy: seconds between executions. It needs a core
// more than threads.

#include "AllocationCounter.hpp"
#include "InSituTrainer.hpp"
#include "WaveCase.hpp"
#include "config/YamlFile.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include <sys/resource.h>

namespace
{

using namespace inSitu;
using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point begin)
{
    return std::chrono::duration<double>(Clock::now() - begin).count();
}


//- How often this thread has waited for something so far
long nSleeps()
{
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
}


struct Quiet final : LogSink
{
    void info(const std::string&) override {}
    void warning(const std::string& text) override { std::cerr << text << std::endl; }
};


struct Arguments
{
    int nx = 320;
    int ny = 200;
    int width = 32;
    int blocks = 4;
    int threads = 1;
    int steps = 60;
    double busy = 0.3;
    int capacity = 16;
    std::string device = "cpu";
    std::string precision = "float32";

    Arguments(int argc, char** argv)
    {
        for (int i = 1; i + 1 < argc; i += 2)
        {
            const std::string key = argv[i], value = argv[i + 1];
            if (key == "--nx") nx = std::stoi(value);
            else if (key == "--ny") ny = std::stoi(value);
            else if (key == "--width") width = std::stoi(value);
            else if (key == "--blocks") blocks = std::stoi(value);
            else if (key == "--threads") threads = std::stoi(value);
            else if (key == "--steps") steps = std::stoi(value);
            else if (key == "--busy") busy = std::stod(value);
            else if (key == "--capacity") capacity = std::stoi(value);
            else if (key == "--device") device = value;
            else if (key == "--precision") precision = value;
            else throw Error("unknown argument " + key);
        }
    }
};


void measure(const Arguments& a, const std::string& mode)
{
    const std::string folder =
        (std::filesystem::temp_directory_path()/("besideStep" + mode)).string();
    WaveCase host(a.nx, a.ny);
    InSituTrainer trainer(parseYaml("inputs: [U, p]\ntargets: [U, p]\nmode: " + mode
        + "\nnThreads: " + std::to_string(a.threads) + "\nbuffer: {watermark: 1, capacity: "
        + std::to_string(a.capacity) + "}\n"
          "training: {device: '" + a.device + "', precision: " + a.precision
        + ", model: {type: meshGraphNet, processorSize: " + std::to_string(a.blocks)
        + ", hiddenSize: " + std::to_string(a.width) + "}}\n", "besideStep"), "surrogate", folder,
        {}, std::make_shared<SerialComm>(), std::make_shared<Quiet>());
    TrainingCase theCase = host.theCase();
    theCase.outputFolder = theCase.stableFolder = folder;
    trainer.begin(theCase, host.mesh());

    std::vector<double> seconds;
    seconds.reserve(static_cast<std::size_t>(a.steps));
    long memory = 0;
    long sleeps = 0;
    for (int step = 1; step <= a.capacity + 3 + a.steps; ++step)
    {
        const auto& fields = host.fields(0.1*step);
        const long memoryBefore = allocationsHere;
        const long sleepsBefore = nSleeps();
        const auto begin = Clock::now();
        trainer.execute({0.1*step, step, 0.1}, fields);
        if (step > a.capacity + 3)
        {
            seconds.push_back(secondsSince(begin));
            memory += allocationsHere > memoryBefore;
            sleeps += nSleeps() > sleepsBefore;
        }
        for (const auto wait = Clock::now(); secondsSince(wait) < a.busy;)
        {}
    }
    trainer.finish();
    std::filesystem::remove_all(folder);

    std::sort(seconds.begin(), seconds.end());
    const auto quantile = [&](double q)
        { return seconds[std::min(seconds.size() - 1, std::size_t(q*seconds.size()))]; };
    // Rows of U, in two dimensions, and p in float32, and their targets as they are
    const CaseMesh mesh = host.mesh();
    const std::size_t bytes = 3*(mesh.state.graph->nNodes()*sizeof(float)
        + mesh.state.graph->nCells()*sizeof(double));
    std::cout << "{\"mode\":\"" << mode << "\",\"cells\":" << host.nCells() << ",\"median_s\":"
        << quantile(0.5) << ",\"p99_s\":" << quantile(0.99) << ",\"minimum_s\":" << seconds.front()
        << ",\"bytes\":" << bytes << ",\"executions\":" << a.steps
        << ",\"allocate\":" << memory << ",\"sleep\":" << sleeps << "}" << std::endl;
}

}


int main(int argc, char** argv)
{
    try
    {
        const Arguments arguments(argc, argv);
        measure(arguments, "sync");
        measure(arguments, "async");
        return 0;
    }
    catch (const std::exception& error)
    {
        std::cerr << error.what() << std::endl;
        return 1;
    }
}
