// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
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
        std::int64_t calls = 0; //!< on this rank
        double seconds = 0;     //!< mean over the ranks
        double minimum = 0;     //!< over the ranks
        double maximum = 0;
    };

    //- Stages in the order first opened, without the time of stages opened inside, so that
    //  they add up; reduced over the ranks (collective). Throws Error if the ranks have
    //  opened different numbers of stages.
    std::vector<Stage> stages(const Comm& comm) const;

    //- The same of one stage on this rank, 0 if it never ran
    double seconds(const std::string& name) const;

private:

    friend class ScopedTimer;

    struct Entry
    {
        std::string name;
        std::int64_t calls = 0;
        double seconds = 0;
    };

    std::size_t indexOf(const char* name);

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
    std::size_t stage_;
    double* outer_;
    double inner_ = 0;
    Clock::time_point start_;
};

}
