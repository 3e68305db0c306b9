// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/loopLayout.hpp"

#include "base/agree.hpp"
#include "config/featureWords.hpp"

#include <algorithm>
#include <numeric>
#include <unistd.h>

namespace inSitu
{
namespace
{

//- Position of each name among others; -1: not there
std::vector<int> placesOf(const std::vector<std::string>& names,
    const std::vector<std::string>& others)
{
    std::vector<int> places;
    for (const std::string& name : names)
    {
        const auto place = std::find(others.begin(), others.end(), name);
        places.push_back(place == others.end() ? -1 : static_cast<int>(place - others.begin()));
    }
    return places;
}

}



SampleStream::Layout streamLayout(const Settings& settings, const TrainingCase& theCase)
{
    const ObjectConfig& object = settings.object;

    SampleStream::Layout layout;
    layout.input = RowLayout::of(theCase.fields, theCase.inputs, object.graph.boundaryNodes);
    layout.target = RowLayout::of(theCase.fields, theCase.targets, false);
    layout.edges = EdgeLayout::of(theCase.fields, theCase.edgeInputs);
    layout.features = chosen(object.features, sampleFeatures());
    layout.horizon.steps = static_cast<int>(object.horizon);
    layout.horizon.seconds = object.horizonTime.value_or(0);
    layout.increment = settings.increment();
    layout.precision = settings.training.arithmetic();
    return layout;
}


Normaliser::Layout scalesLayout(const SampleStream::Layout& stream, const TrainingCase& theCase)
{
    Normaliser::Layout layout;
    layout.nInputColumns = stream.input.nColumns;
    layout.nTargetColumns = stream.target.nColumns;
    layout.nFeatures = static_cast<int>(stream.features.size());
    layout.increment = stream.increment;
    layout.targetField = fieldOfColumn(theCase.fields, theCase.targets);
    layout.inputField = fieldOfColumn(theCase.fields, theCase.inputs);
    layout.edgeField = fieldOfColumn(theCase.fields, theCase.edgeInputs);
    return layout;
}


TrainerLayout trainerLayout(const Settings& settings, const TrainingCase& theCase,
    const SampleStream& stream, const ReplayBuffer::Limits& limits, CountBuild count,
    std::function<void(const std::string&)> note, std::shared_ptr<DeviceLibrary> devices)
{
    TrainerLayout layout;
    layout.nInputColumns = stream.layout().input.nColumns;
    layout.nFeatures = static_cast<int>(stream.layout().features.size());
    layout.staticColumns = theCase.staticColumns;
    layout.shape.nNodeFeatures = layout.nInputColumns + layout.nFeatures
        + static_cast<int>(theCase.staticColumns.size());
    layout.nEdgeInputs = stream.layout().edges.nColumns();
    layout.shape.nEdgeFeatures = stream.mesh().geometry->nEdgeFeatures() + layout.nEdgeInputs;
    layout.shape.nOutputs = stream.layout().target.nColumns;
    layout.increment = settings.increment();
    layout.noise = settings.object.noise;
    layout.inputOfTarget = placesOf(columnNames(theCase.fields, theCase.targets),
        columnNames(theCase.fields, theCase.inputs));
    layout.countBuild = std::move(count);
    layout.note = std::move(note);
    layout.devices = std::move(devices);
    layout.buffer.location = settings.object.buffer.location;
    layout.buffer.bytes = static_cast<double>(limits.capacity)*stream.bytesPerSample();
    layout.buffer.memory = limits.memory;
    return layout;
}


std::size_t allowedMemory(const Settings& settings, const Comm& comm)
{
    const double tenthOfNode =
        static_cast<double>(sysconf(_SC_PHYS_PAGES))*sysconf(_SC_PAGESIZE)/10;
    const double ofNode = settings.object.buffer.maxMemory > 0
      ? settings.object.buffer.maxMemory*1048576
      : tenthOfNode;
    return static_cast<std::size_t>(leastOf(comm, ofNode/comm.nodeSize()));
}


MeshScales meshScales(const MeshState& mesh, const Comm& comm)
{
    const auto nEdges = static_cast<double>(mesh.graph->nEdges());
    const std::vector<double>& volumes = mesh.geometry->cellVolumes;
    double sums[4] =
    {
        nEdges*meanEdgeLength(*mesh.graph, *mesh.geometry), nEdges,
        std::accumulate(volumes.begin(), volumes.end(), 0.0), static_cast<double>(volumes.size())
    };
    comm.sum(Span<double>(sums, 4));

    MeshScales scales;
    scales.edgeLength = sums[0] > 0 ? sums[0]/sums[1] : 1;
    scales.cellVolume = sums[2] > 0 ? sums[2]/sums[3] : 1;
    return scales;
}


std::shared_ptr<Comm> commOfLearner(const Settings& settings, const std::shared_ptr<Comm>& comm)
{
    if (!settings.isAsync())
    {
        return comm;
    }
    try
    {
        return comm->forThread();
    }
    catch (const Error& fault)
    {
        throw Error("mode async: the trainer's thread cannot work with the other ranks: "
            + std::string(fault.what()) + ". 'mode sync' needs nothing, nor does 'trainerRanks 1'"
            " on one node");
    }
}

}
