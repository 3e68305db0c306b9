// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace inSitu
{

class Comm;

//- Wall time per named stage. Not thread-safe: one profiler belongs to one thread.
class Profiler
{
public:

    struct Stage
    {
        std::string name;
        std::int64_t calls = 0;
        double seconds = 0;     //!< without the time of stages opened inside
        double minimum = 0;     //!< over the ranks
        double maximum = 0;
    };

    //- Stages in the order first seen, reduced over the ranks (collective)
    std::vector<Stage> stages(const Comm& comm) const;

    //- Seconds of one stage on this rank, 0 if it never ran
    double seconds(const std::string& name) const;

private:

    friend class ScopedTimer;

    struct Entry
    {
        std::string name;
        std::int64_t calls = 0;
        double seconds = 0;
    };

    Entry& entry(const char* name);

    std::vector<Entry> entries_;
    double* inner_ = nullptr;   // seconds spent in stages inside the open one
};


//- Adds the time until its end of life to a stage; an NVTX range when built with CUDA
class ScopedTimer
{
public:

    ScopedTimer(Profiler& profiler, const char* stage);
    ~ScopedTimer();

    ScopedTimer(const ScopedTimer&) = delete;
    ScopedTimer& operator=(const ScopedTimer&) = delete;

private:

    using Clock = std::chrono::steady_clock;

    Profiler& profiler_;
    const char* stage_;
    double* outer_;
    double inner_ = 0;
    Clock::time_point start_;
};

}
