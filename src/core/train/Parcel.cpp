// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/Parcel.hpp"

#include "base/Error.hpp"
#include "sample/MeshArchive.hpp"
#include "sample/slotState.hpp"

#include <cstddef>
#include <map>
#include <string>

namespace inSitu
{
namespace
{

using Type = StateTree::Type;

constexpr Type raw = Type::float64;     // of target values as in the fields

}


StateTree saveParcels(const std::vector<const Parcel*>& parcels)
{
    std::vector<std::int64_t> isReport, ids, timeIndices, executions, nPending;
    std::vector<double> times, deltaTs, features, reportTimes, oldestPending;
    for (const Parcel* parcel : parcels)
    {
        isReport.push_back(parcel->report ? 1 : 0);
        if (parcel->report)
        {
            const Learner::ReportTime& report = *parcel->report;
            reportTimes.push_back(report.time);
            timeIndices.push_back(report.timeIndex);
            executions.push_back(report.executions);
            nPending.push_back(static_cast<std::int64_t>(report.nPending));
            oldestPending.push_back(report.oldestPending);
        }
        else
        {
            const Sample& sample = parcel->sample->sample;
            ids.push_back(sample.id);
            times.push_back(sample.time);
            deltaTs.push_back(parcel->sample->deltaT);
            features.insert(features.end(), sample.features.begin(), sample.features.end());
        }
    }

    StateTree state;
    state.put("isReport", isReport);
    state.put("id", ids);
    state.put("time", times);
    state.put("deltaT", deltaTs);
    state.put("features", features);
    state.put("report/time", reportTimes);
    state.put("report/timeIndex", timeIndices);
    state.put("report/executions", executions);
    state.put("report/nPending", nPending);
    state.put("report/oldestPending", oldestPending);
    return state;
}


StateTree saveParcelValues
(
    const std::vector<const Parcel*>& parcels,
    const SampleStream::Layout& layout,
    const std::vector<MeshState>& known
)
{
    const Type type = realType(layout.precision);
    StateTree values;
    MeshArchive meshes;
    std::vector<std::int64_t> meshNumbers;
    for (const Parcel* parcel : parcels)
    {
        if (!parcel->sample)
        {
            continue;
        }
        const PendingInputs::Completed& completed = *parcel->sample;
        const Sample& sample = completed.sample;
        const MeshGraph& graph = *sample.mesh.graph;
        const int nTargets = layout.target.nColumns;
        const std::string name = std::to_string(meshNumbers.size());
        values.putArray("input/" + name,
            slotArray(sample.input, type, graph.nNodes(), layout.input.nColumns));
        values.putArray("then/" + name,
            slotArray(completed.valueThen, raw, graph.nCells(), nTargets));
        values.putArray("now/" + name,
            slotArray(completed.valueNow, raw, graph.nCells(), nTargets));
        if (sample.edges)
        {
            values.putArray("edges/" + name,
                slotArray(sample.edges, type, graph.nEdges(), layout.edges.nColumns()));
        }
        meshNumbers.push_back(meshes.add(sample.mesh));
    }
    values.put("mesh", meshNumbers);
    values.putTree("meshes", meshes.save(known));
    return values;
}


std::vector<Parcel> loadParcels
(
    const StateTree& state,
    const StateTree& values,
    const SampleStream::Layout& layout,
    std::int64_t watermark,
    const std::vector<MeshState>& known
)
{
    const auto ids = state.get<std::int64_t>("id");
    const auto features = state.get<double>("features");
    const std::size_t nFeatures = ids.empty() ? 0 : features.size()/ids.size();
    std::vector<double> times(ids.size()), deltaTs(ids.size());
    state.get("time", Span<double>(times));
    state.get("deltaT", Span<double>(deltaTs));

    std::vector<std::int64_t> meshNumbers(ids.size(), -1);
    std::optional<MeshArchive> meshes;
    if (values.has("mesh"))
    {
        values.get("mesh", Span<std::int64_t>(meshNumbers));
        meshes = MeshArchive::load(values.subTree("meshes"), {}, known);
    }

    std::map<std::size_t, SlotPool> pools;      // by size
    const auto pool = [&](Type type, std::int64_t nRows, int nColumns) -> SlotPool&
    {
        const std::size_t bytes = static_cast<std::size_t>(nRows)*nColumns*bytesOf(type);
        return pools.try_emplace(bytes, bytes).first->second;
    };
    const auto slot = [&](const std::string& name, Type type, std::int64_t nRows, int nColumns)
        { return slotFrom(values, name, type, pool(type, nRows, nColumns)); };
    const auto completed = [&](std::size_t i)
    {
        const Type type = realType(layout.precision);
        const std::string name = std::to_string(i);
        const int nTargets = layout.target.nColumns;
        PendingInputs::Completed result;
        Sample& sample = result.sample;
        sample.id = ids[i];
        sample.time = times[i];
        sample.mesh = meshes->at(meshNumbers[i]);
        const MeshGraph& graph = *sample.mesh.graph;
        sample.input = slot("input/" + name, type, graph.nNodes(), layout.input.nColumns);
        sample.target = pool(type, graph.nCells(), nTargets).acquire();
        if (layout.edges.nColumns() > 0)
        {
            sample.edges = slot("edges/" + name, type, graph.nEdges(), layout.edges.nColumns());
        }
        sample.features.assign(features.begin() + i*nFeatures,
            features.begin() + (i + 1)*nFeatures);
        result.valueThen = slot("then/" + name, raw, graph.nCells(), nTargets);
        result.valueNow = slot("now/" + name, raw, graph.nCells(), nTargets);
        result.deltaT = deltaTs[i];
        return result;
    };

    const auto isReport = state.get<std::int64_t>("isReport");
    const std::size_t nReports = state.getArray("report/time").count();
    std::vector<double> reportTimes(nReports), oldestPending(nReports);
    std::vector<std::int64_t> timeIndices(nReports), executions(nReports), nPending(nReports);
    state.get("report/time", Span<double>(reportTimes));
    state.get("report/timeIndex", Span<std::int64_t>(timeIndices));
    state.get("report/executions", Span<std::int64_t>(executions));
    state.get("report/nPending", Span<std::int64_t>(nPending));
    state.get("report/oldestPending", Span<double>(oldestPending));

    std::vector<Parcel> parcels;
    std::size_t report = 0, sample = 0;
    for (const std::int64_t kind : isReport)
    {
        Parcel parcel;
        parcel.watermark = watermark;
        if (kind != 0 && report < nReports)
        {
            parcel.report = Learner::ReportTime{reportTimes[report], timeIndices[report],
                executions[report], static_cast<std::size_t>(nPending[report]),
                oldestPending[report], {}};
            ++report;
            parcels.push_back(std::move(parcel));
        }
        else if (sample < ids.size())
        {
            if (meshNumbers[sample] >= 0)
            {
                parcel.sample = completed(sample);
                parcels.push_back(std::move(parcel));
            }
            ++sample;
        }
    }
    return parcels;
}

}
