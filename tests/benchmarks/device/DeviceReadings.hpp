// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ATen/ATen.h>
#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <torch/csrc/autograd/profiler_kineto.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace inSitu
{

//- Median and quartiles
struct Quartiles
{
    double q1 = 0;
    double median = 0;
    double q3 = 0;

    explicit Quartiles(std::vector<double> values = {})
    {
        if (!values.empty())
        {
            std::sort(values.begin(), values.end());
            q1 = values[values.size()/4];
            median = values[values.size()/2];
            q3 = values[3*values.size()/4];
        }
    }
};

inline std::ostream& operator<<(std::ostream& out, const Quartiles& q)
{
    return out << "{\"median\":" << q.median << ",\"q1\":" << q.q1 << ",\"q3\":" << q.q3 << '}';
}


struct Readings
{
    Quartiles gpu;              //!< milliseconds between two events around a step
    Quartiles host;             //!< until everything is queued
    double pipelined = 0;       //!< per step, steps queued without waiting
    double peakBytes = 0;       //!< of tensors, beyond those before the first step
    double last = 0;            //!< mean of the last result
    std::string kernels = "null";
};


//- Readings of a step on the current stream; the device is idle before and after each
class Measure
{
public:

    Measure(int reps, bool kernels)
    :
        reps_(reps),
        kernels_(kernels)
    {}

    //- The first steps, and the memory that they took
    template<class Work>
    Readings setUp(const Work& work) const
    {
        namespace allocator = c10::cuda::CUDACachingAllocator;
        const auto bytes = []
            { return allocator::getDeviceStats(0).allocated_bytes[0]; };
        const double before = bytes().current;
        allocator::resetPeakStats(0);
        work();
        c10::cuda::device_synchronize();
        Readings readings;
        readings.peakBytes = bytes().peak - before;
        return readings;
    }

    template<class Step, class Result>
    void run(Readings& readings, const Step& step, const Result& result) const
    {
        using Clock = std::chrono::steady_clock;
        const auto milliseconds = [](Clock::time_point from)
            { return std::chrono::duration<double, std::milli>(Clock::now() - from).count(); };

        std::vector<double> gpu;
        std::vector<double> host;
        step(0);
        for (int rep = 0; rep < reps_; ++rep)
        {
            at::cuda::CUDAEvent begin(cudaEventDefault);
            at::cuda::CUDAEvent end(cudaEventDefault);
            c10::cuda::device_synchronize();
            const auto from = Clock::now();
            begin.record();
            step(rep);
            end.record();
            host.push_back(milliseconds(from));
            c10::cuda::device_synchronize();
            gpu.push_back(begin.elapsed_time(end));
        }
        readings.gpu = Quartiles(gpu);
        readings.host = Quartiles(host);

        const auto from = Clock::now();
        for (int rep = 0; rep < reps_; ++rep)
        {
            step(rep);
        }
        c10::cuda::device_synchronize();
        readings.pipelined = milliseconds(from)/reps_;
        readings.last = result().mean().template item<double>();
        if (kernels_)
        {
            readings.kernels = profile(step);
        }
    }

private:

    //- Kernels of one step: their number, time and the heaviest, as JSON
    template<class Step>
    static std::string profile(const Step& step)
    {
        namespace profiler = torch::autograd::profiler;
        using torch::profiler::impl::ActivityType;
        const std::set<ActivityType> activities{ActivityType::CUDA};
        const profiler::ProfilerConfig config(profiler::ProfilerState::KINETO);
        try
        {
            profiler::prepareProfiler(config, activities);
            profiler::enableProfiler(config, activities);
            step(0);
            c10::cuda::device_synchronize();
            const auto result = profiler::disableProfiler();
            std::map<std::string, std::pair<int, double>> byName;
            for (const auto& event : result->events())
            {
                if (event.deviceType() == c10::DeviceType::CUDA)
                {
                    auto& entry = byName[event.name()];
                    ++entry.first;
                    entry.second += 1e-3*event.durationNs();
                }
            }
            return asJson({byName.begin(), byName.end()});
        }
        catch (const std::exception& error)
        {
            return "\"" + std::string(error.what()).substr(0, 80) + "\"";
        }
    }

    using Entry = std::pair<std::string, std::pair<int, double>>;

    static std::string asJson(std::vector<Entry> entries)
    {
        std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b)
            { return a.second.second > b.second.second; });
        int count = 0;
        double total = 0;
        std::ostringstream text;
        for (std::size_t i = 0; i < entries.size(); ++i)
        {
            count += entries[i].second.first;
            total += entries[i].second.second;
            if (i < 24)
            {
                std::string name = entries[i].first.substr(0, 120);
                std::replace(name.begin(), name.end(), '"', '\'');
                text << (i ? "," : "") << "[\"" << name << "\"," << entries[i].second.first << ','
                    << entries[i].second.second << ']';
            }
        }
        return "{\"count\":" + std::to_string(count) + ",\"device_us\":" + std::to_string(total)
            + ",\"top\":[" + text.str() + "]}";
    }

    int reps_;
    bool kernels_;
};

}
