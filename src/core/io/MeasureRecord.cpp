// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/MeasureRecord.hpp"

#include "base/Error.hpp"
#include "base/Text.hpp"
#include "inSituVersion.hpp"
#include "io/Disk.hpp"
#include "io/buildsJson.hpp"
#include "io/trafficJson.hpp"

#include <cstdio>

namespace inSitu
{

MeasureRecord::MeasureRecord
(
    const std::string& folder,
    const std::string& name,
    std::string counter,
    std::vector<std::string> measures,
    std::vector<std::string> targets,
    const std::function<void(const std::string&)>& tell
)
:
    counter_(std::move(counter)),
    measures_(std::move(measures)),
    targets_(std::move(targets)),
    lines_(folder.empty() ? folder : createdFolder(folder) + "/metrics.jsonl", tell),
    table_(folder.empty() ? folder : folder + '/' + name + ".dat", LineFile::Start::anew, tell)
{
    if (folder.empty())
    {
        return;
    }
    if (!table_.good() || !lines_.good())
    {
        throw Error("cannot write " + name + ".dat and metrics.jsonl in " + folder
            + "; check the permissions of the folder and the space on its disk");
    }
    std::string head = "# Time\t" + counter_;
    for (const std::string& measure : measures_)
    {
        for (const std::string& target : targets_)
        {
            head += '\t' + measure + '(' + target + ')';
        }
    }
    table_.write(head);
}


void MeasureRecord::start(const std::string& mode, const std::string& model,
    const std::string& card)
{
    lines_.write(JsonObject()
        .add("event", "start")
        .add("version", INSITU_VERSION)
        .add("mode", mode)
        .add("model", model)
        .addRaw("card", card));
}


void MeasureRecord::row(double time, std::int64_t count,
    const std::vector<std::vector<double>>& values)
{
    JsonObject object;
    object.add("event", "report").add("time", time).add(counter_, static_cast<long long>(count));
    std::string row = numberText(time) + '\t' + std::to_string(count);
    for (std::size_t m = 0; m < measures_.size(); ++m)
    {
        JsonObject byTarget;
        for (std::size_t t = 0; t < targets_.size(); ++t)
        {
            row += '\t' + numberText(values[m][t]);
            byTarget.add(targets_[t], values[m][t]);
        }
        object.addRaw(measures_[m], byTarget.text());
    }
    table_.write(row);
    lines_.write(object);
}


std::string MeasureRecord::text(std::int64_t count,
    const std::vector<std::vector<double>>& values) const
{
    std::string block = "    " + counter_ + " = " + std::to_string(count);
    for (std::size_t t = 0; t < targets_.size(); ++t)
    {
        block += "\n    " + targets_[t] + ':';
        for (std::size_t m = 0; m < measures_.size(); ++m)
        {
            char number[64];
            std::snprintf(number, sizeof(number), "%s %s = %.4g", m > 0 ? "," : "",
                measures_[m].c_str(), values[m][t]);
            block += number;
        }
    }
    return block;
}


void MeasureRecord::warning(const std::string& message)
{
    lines_.write(JsonObject().add("event", "warning").add("message", message));
}


void MeasureRecord::end
(
    const std::vector<Profiler::Stage>& stages,
    const TrafficSummary& traffic,
    double wallSeconds,
    const std::vector<CacheRecord>& caches,
    const std::map<std::string, std::int64_t>& counts
)
{
    JsonObject record, seconds, numbers;
    addBuilds(record.add("event", "end"), caches);
    addTraffic(record, traffic);
    for (const Profiler::Stage& stage : stages)
    {
        seconds.add(stage.name, stage.seconds);
    }
    for (const auto& [name, count] : counts)
    {
        numbers.add(name, static_cast<long long>(count));
    }
    lines_.write(record
        .addRaw("seconds", seconds.text())
        .add("wallSeconds", wallSeconds)
        .addRaw("counts", numbers.text()));
}

}
