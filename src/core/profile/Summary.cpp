// SPDX-License-Identifier: GPL-3.0-or-later
#include "profile/Summary.hpp"

#include <algorithm>
#include <cstdio>

namespace inSitu
{
namespace
{

template<class... Args>
std::string line(const char* format, Args... args)
{
    char text[160];
    std::snprintf(text, sizeof(text), format, args...);
    return text;
}


std::string stageLine(const Profiler::Stage& stage, double wallSeconds, bool isBeside = false)
{
    const double share = wallSeconds > 0 ? std::min(stage.seconds/wallSeconds, 1.0) : 0;
    const std::string bound = share < 1 && !isBeside
      ? line("%8.2f", 1/(1 - share)) : std::string("       -");
    return line("\n    %-14s %10.3f %10.3f %10.3f %8.2f%% ", stage.name.c_str(), stage.seconds,
        stage.minimum, stage.maximum, 100*share) + bound;
}

}


void CacheLedger::count(const std::string& cache, const std::string& reason, double seconds)
{
    auto record = std::find_if(records_.begin(), records_.end(),
        [&](const CacheRecord& r) { return r.cache == cache; });
    if (record == records_.end())
    {
        records_.push_back({cache, 0, 0, {}});
        record = records_.end() - 1;
    }
    ++record->builds;
    record->seconds += seconds;

    auto entry = std::find_if(record->reasons.begin(), record->reasons.end(),
        [&](const CacheRecord::Reason& r) { return r.name == reason; });
    if (entry == record->reasons.end())
    {
        record->reasons.push_back({reason, 0});
        entry = record->reasons.end() - 1;
    }
    ++entry->builds;
}


std::string summaryTable
(
    const std::vector<Profiler::Stage>& stages,
    double wallSeconds,
    const std::vector<CacheRecord>& caches,
    const std::vector<Profiler::Stage>& beside
)
{
    std::string text = line("    %-14s %10s %10s %10s %9s %8s", "stage", "mean [s]", "min [s]",
        "max [s]", "share", "Amdahl");

    double inside = 0;
    for (const Profiler::Stage& stage : stages)
    {
        inside += stage.seconds;
        text += stageLine(stage, wallSeconds);
    }
    const double rest = std::max(wallSeconds - inside, 0.0);
    text += stageLine({"solver", 1, rest, rest, rest}, wallSeconds);
    if (!beside.empty())
    {
        text += line("\n    %-14s %10s %10s %10s %9s", "beside", "mean [s]", "min [s]", "max [s]",
            "share");
    }
    for (const Profiler::Stage& stage : beside)
    {
        text += stageLine(stage, wallSeconds, true);
    }

    text += line("\n    %-14s %10s %10s  %s", "cache", "builds", "time [s]", "reasons");
    for (const CacheRecord& record : caches)
    {
        text += line("\n    %-14s %10d %10.4f ", record.cache.c_str(), record.builds,
            record.seconds);
        for (const CacheRecord::Reason& reason : record.reasons)
        {
            text += ' ' + reason.name + ' ' + std::to_string(reason.builds);
        }
    }
    return text;
}

}
