// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "io/JsonLines.hpp"
#include "profile/Summary.hpp"
#include "profile/TrafficSummary.hpp"

#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace inSitu
{

//- The course of a training as files below one folder: training.dat (tab-separated columns
//  with a '# ' header, for gnuplot and foamMonitor) and metrics.jsonl. Both are flushed with
//  every line; a fault of the disk never ends a run. Layouts: docs/formats.md.
class TrainingRecord
{
public:

    //- targets: names of the target fields, in the order of all vectors below.
    //  Creates the folder; throws Error if it cannot be written to. Empty folder: nothing is
    //  written.
    TrainingRecord(const std::string& folder, std::vector<std::string> targets,
        const std::function<void(const std::string&)>& tell = {});

    struct Start
    {
        std::string version;
        std::string device;
        std::string precision;
        std::int64_t nCells = 0;
        std::int64_t nNodes = 0;
        std::int64_t nEdges = 0;
        std::int64_t nParameters = 0;
        std::string configuration;      //!< JSON
    };

    void start(const Start& start);

    struct Report
    {
        double time = 0;
        std::int64_t timeIndex = 0;
        std::int64_t step = 0;          //!< passes over a batch so far
        std::int64_t samples = 0;       //!< completed so far
        double loss = 0;                //!< mean since the last report; NaN: nothing trained
        double learningRate = 0;
        double gradientNorm = 0;        //!< of the last step
        std::vector<double> rmse;
        std::vector<double> skill;
    };

    void report(const Report& report);

    //- Builds of caches since the record before
    void rebuild(double time, const std::string& cache, const std::string& reason, int builds);
    void checkpoint(double time, const std::string& path, std::size_t bytes);
    void warning(const std::string& message);

    struct End
    {
        std::vector<Profiler::Stage> stages;
        TrafficSummary traffic;
        double wallSeconds = 0;
        std::vector<CacheRecord> caches;
        std::int64_t mapped = 0;        //!< inputs that went on on another mesh
        std::map<std::string, std::int64_t> dropped;    //!< samples and steps by reason
        std::vector<Profiler::Stage> beside = {};       //!< stages of the trainer's own thread
    };

    void end(const End& end);

    //- The log block of a report
    std::string text(const Report& report) const;

private:

    std::vector<std::string> targets_;
    JsonLines lines_;
    LineFile table_;
};

}
