// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/TrainingRecord.hpp"

#include "base/Error.hpp"
#include "base/Text.hpp"
#include "io/buildsJson.hpp"
#include "io/Disk.hpp"
#include "io/trafficJson.hpp"

#include <cstdio>

namespace inSitu
{
namespace
{

JsonObject byName(const std::vector<std::string>& names, const std::vector<double>& values)
{
    JsonObject object;
    for (std::size_t i = 0; i < names.size(); ++i)
    {
        object.add(names[i], values[i]);
    }
    return object;
}

}


TrainingRecord::TrainingRecord(const std::string& folder, std::vector<std::string> targets,
    const std::function<void(const std::string&)>& tell)
:
    targets_(std::move(targets)),
    lines_(folder.empty() ? folder : createdFolder(folder) + "/metrics.jsonl", tell),
    table_(folder.empty() ? folder : folder + "/training.dat", LineFile::Start::anew, tell)
{
    if (folder.empty())
    {
        return;
    }
    if (!table_.good() || !lines_.good())
    {
        throw Error("cannot write training.dat and metrics.jsonl in " + folder
            + "; check the permissions of the folder and the space on its disk");
    }

    std::string head = "# Time\tstep\tsamples\tloss\tlearningRate\tgradientNorm";
    for (const char* measure : {"rmse", "skill"})
    {
        for (const std::string& target : targets_)
        {
            head += '\t' + std::string(measure) + '(' + target + ')';
        }
    }
    table_.write(head);
}


void TrainingRecord::start(const Start& start)
{
    lines_.write(JsonObject()
        .add("event", "start")
        .add("version", start.version)
        .add("device", start.device)
        .add("precision", start.precision)
        .add("nCells", static_cast<long long>(start.nCells))
        .add("nNodes", static_cast<long long>(start.nNodes))
        .add("nEdges", static_cast<long long>(start.nEdges))
        .add("parameters", static_cast<long long>(start.nParameters))
        .addRaw("configuration", start.configuration));
}


void TrainingRecord::report(const Report& report)
{
    lines_.write(JsonObject()
        .add("event", "report")
        .add("time", report.time)
        .add("timeIndex", static_cast<long long>(report.timeIndex))
        .add("step", static_cast<long long>(report.step))
        .add("samples", static_cast<long long>(report.samples))
        .add("loss", report.loss)
        .add("learningRate", report.learningRate)
        .add("gradientNorm", report.gradientNorm)
        .addRaw("rmse", byName(targets_, report.rmse).text())
        .addRaw("skill", byName(targets_, report.skill).text()));

    std::string row = numberText(report.time) + '\t' + std::to_string(report.step) + '\t'
        + std::to_string(report.samples);
    for (const double value : {report.loss, report.learningRate, report.gradientNorm})
    {
        row += '\t' + numberText(value);
    }
    for (const auto* values : {&report.rmse, &report.skill})
    {
        for (const double value : *values)
        {
            row += '\t' + numberText(value);
        }
    }
    table_.write(row);
}


void TrainingRecord::rebuild(double time, const std::string& cache, const std::string& reason,
    int builds)
{
    lines_.write(JsonObject()
        .add("event", "rebuild")
        .add("time", time)
        .add("cache", cache)
        .add("reason", reason)
        .add("builds", builds));
}


void TrainingRecord::checkpoint(double time, const std::string& path, std::size_t bytes)
{
    lines_.write(JsonObject()
        .add("event", "checkpoint")
        .add("time", time)
        .add("path", path)
        .add("bytes", static_cast<long long>(bytes)));
}


void TrainingRecord::warning(const std::string& message)
{
    lines_.write(JsonObject().add("event", "warning").add("message", message));
}


void TrainingRecord::end(const End& end)
{
    JsonObject record, seconds, beside, lost;
    addBuilds(record.add("event", "end"), end.caches);
    addTraffic(record, end.traffic);
    for (const Profiler::Stage& stage : end.stages)
    {
        seconds.add(stage.name, stage.seconds);
    }
    for (const Profiler::Stage& stage : end.beside)
    {
        beside.add(stage.name, stage.seconds);
    }
    for (const auto& [reason, count] : end.dropped)
    {
        lost.add(reason, static_cast<long long>(count));
    }

    lines_.write(record
        .addRaw("seconds", seconds.text())
        .addRaw("secondsBeside", beside.text())
        .add("wallSeconds", end.wallSeconds)
        .add("mapped", static_cast<long long>(end.mapped))
        .addRaw("dropped", lost.text()));
}


std::string TrainingRecord::text(const Report& report) const
{
    char text[160];
    std::snprintf(text, sizeof(text),
        "    step = %lld, samples = %lld, loss = %.4g, learningRate = %.4g",
        static_cast<long long>(report.step), static_cast<long long>(report.samples),
        report.loss, report.learningRate);

    std::string block = text;
    for (std::size_t i = 0; i < targets_.size(); ++i)
    {
        std::snprintf(text, sizeof(text), "\n    %s: rmse = %.4g, skill = %.4g",
            targets_[i].c_str(), report.rmse[i], report.skill[i]);
        block += text;
    }
    return block;
}

}
