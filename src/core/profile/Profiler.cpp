// SPDX-License-Identifier: GPL-3.0-or-later
#include "profile/Profiler.hpp"

#include "base/Comm.hpp"
#include "base/Error.hpp"

#ifdef INSITU_NVTX
#include <nvtx3/nvToolsExt.h>
#endif

#include <algorithm>

namespace inSitu
{

std::size_t Profiler::indexOf(const char* name)
{
    const auto found = std::find_if(entries_.begin(), entries_.end(),
        [&](const Entry& entry) { return entry.name == name; });
    const auto index = static_cast<std::size_t>(found - entries_.begin());
    if (found == entries_.end())
    {
        entries_.push_back({name, 0, 0});
    }
    return index;
}


std::vector<Profiler::Stage> Profiler::stages(const Comm& comm) const
{
    const auto n = entries_.size();
    double sizes[2] = {static_cast<double>(n), -static_cast<double>(n)};
    comm.max(Span<double>(sizes, 2));
    if (sizes[0] != -sizes[1])
    {
        throw Error("the ranks have timed different stages, between "
            + std::to_string(static_cast<long>(-sizes[1])) + " and "
            + std::to_string(static_cast<long>(sizes[0]))
            + " of them; every rank must open the same ones in the same order");
    }

    std::vector<double> sum(n);
    std::vector<double> extremes(2*n);
    for (std::size_t i = 0; i < n; ++i)
    {
        sum[i] = entries_[i].seconds;
        extremes[i] = entries_[i].seconds;
        extremes[n + i] = -entries_[i].seconds;
    }
    comm.sum(sum);
    comm.max(extremes);

    std::vector<Stage> result(n);
    for (std::size_t i = 0; i < n; ++i)
    {
        result[i] = {entries_[i].name, entries_[i].calls, sum[i]/comm.size(),
            -extremes[n + i], extremes[i]};
    }
    return result;
}


double Profiler::seconds(const std::string& name) const
{
    for (const Entry& entry : entries_)
    {
        if (entry.name == name)
        {
            return entry.seconds;
        }
    }
    return 0;
}


ScopedTimer::ScopedTimer(Profiler& profiler, const char* stage)
:
    profiler_(profiler),
    stage_(profiler.indexOf(stage)),
    outer_(profiler.inner_),
    start_(Clock::now())
{
    profiler_.inner_ = &inner_;
#ifdef INSITU_NVTX
    nvtxRangePushA(stage);
#endif
}


ScopedTimer::~ScopedTimer()
{
#ifdef INSITU_NVTX
    nvtxRangePop();
#endif
    const double total = std::chrono::duration<double>(Clock::now() - start_).count();
    Profiler::Entry& entry = profiler_.entries_[stage_];
    ++entry.calls;
    entry.seconds += total - inner_;

    profiler_.inner_ = outer_;
    if (outer_)
    {
        *outer_ += total;
    }
}

}
