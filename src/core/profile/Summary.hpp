// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "profile/Profiler.hpp"

#include <string>
#include <vector>

namespace inSitu
{

//- How often a cache was built, why, and for how long
struct CacheRecord
{
    struct Reason
    {
        std::string name;   //!< "topology" "geometry" "fields" "configuration"
        int builds = 0;
    };

    std::string cache;
    int builds = 0;
    double seconds = 0;
    std::vector<Reason> reasons;
};


//- Builds per cache, in the order first seen
class CacheLedger
{
public:

    void count(const std::string& cache, const std::string& reason, double seconds);

    const std::vector<CacheRecord>& records() const { return records_; }

private:

    std::vector<CacheRecord> records_;
};


//- The closing table. Each stage has its seconds (mean, least and most over the ranks), its
//  share of the wall time, and Amdahl's bound: how much faster the whole run would be at
//  most if the stage cost nothing. What is in no stage is the solver's. beside: stages of another
//  thread, of which the run feels nothing as long as it has a core.
std::string summaryTable(const std::vector<Profiler::Stage>& stages, double wallSeconds,
    const std::vector<CacheRecord>& caches, const std::vector<Profiler::Stage>& beside = {});

}
