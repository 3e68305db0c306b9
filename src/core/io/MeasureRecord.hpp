// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "io/JsonLines.hpp"
#include "profile/Profiler.hpp"
#include "profile/Summary.hpp"
#include "profile/TrafficSummary.hpp"

#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace inSitu
{

//- Measures per target field over time, as files below one folder: <name>.dat (tab-separated
//  columns with a '# ' header) and metrics.jsonl. Both are flushed with every line; a fault of the
//  disk never ends a run. Layouts: docs/formats.md.
class MeasureRecord
{
public:

    //- Columns: Time, counter, then measure(target) for each measure and each target. Creates the
    //  folder; throws Error if it cannot be written to. Empty folder: nothing is written. tell gets a
    //  sentence about the first line that a file loses.
    MeasureRecord(const std::string& folder, const std::string& name, std::string counter,
        std::vector<std::string> measures, std::vector<std::string> targets,
        const std::function<void(const std::string&)>& tell = {});

    //- card: JSON of the model's card
    void start(const std::string& mode, const std::string& model, const std::string& card);

    //- values[measure][target]
    void row(double time, std::int64_t count, const std::vector<std::vector<double>>& values);

    //- The same as a block for the log
    std::string text(std::int64_t count, const std::vector<std::vector<double>>& values) const;

    void warning(const std::string& message);

    //- counts: of what was left out, and so on, by name
    void end(const std::vector<Profiler::Stage>& stages, const TrafficSummary& traffic,
        double wallSeconds, const std::vector<CacheRecord>& caches,
        const std::map<std::string, std::int64_t>& counts);

private:

    std::string counter_;
    std::vector<std::string> measures_;
    std::vector<std::string> targets_;
    JsonLines lines_;
    LineFile table_;
};

}
