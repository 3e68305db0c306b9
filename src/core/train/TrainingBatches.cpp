// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/TrainingBatches.hpp"

#include "model/FlatModel.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <utility>

namespace inSitu
{
namespace
{

// Streams of one seed must differ: the weights take the seed itself
constexpr std::uint64_t noiseStream = 0x9e3779b97f4a7c15ULL;

}


TrainingBatches::TrainingBatches(const TrainerLayout& layout, Precision precision,
    std::uint64_t seed, bool pinned, std::shared_ptr<Comm> comm, ThreadPool& pool,
    Profiler& profiler)
:
    layout_(layout),
    precision_(precision),
    isPinned_(pinned),
    pool_(pool),
    profiler_(profiler),
    assembler_
    (
        {
            layout.nInputColumns,
            layout.nFeatures,
            layout.staticColumns,
            layout.shape.nOutputs,
            precision,
            layout.nEdgeInputs,
            pinned
        },
        pool,
        layout.countBuild
    ),
    weights_(std::move(comm), layout.countBuild),
    noise_(seed ^ noiseStream)
{}


std::vector<TrainingBatches::Group> TrainingBatches::byMesh(const std::vector<Sample>& batch)
{
    std::vector<Group> groups;
    for (const Sample& sample : batch)
    {
        auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& g)
            { return !sample.edges && g.samples.front().mesh == sample.mesh; });
        if (group == groups.end())
        {
            group = groups.emplace(group);
        }
        group->samples.push_back(sample);
    }
    for (Group& group : groups)
    {
        group.share =
            static_cast<double>(group.samples.size())/static_cast<double>(batch.size());
    }
    return groups;
}


TrainingBatches::Tensors TrainingBatches::tensors(const std::vector<Sample>& group,
    const Normaliser& normaliser)
{
    const ScopedTimer timer(profiler_, "assemble");
    const BatchNoise noise = drawNoise(group, normaliser);
    const GraphBatch inputs = assembler_.inputs(group, normaliser.inputScales(), noise.inputs);
    return {inputs, assembler_.targets(group, normaliser.target(), noise.targets)};
}


const BatchParts& TrainingBatches::parts(const std::vector<Sample>& group,
    const Normaliser& normaliser)
{
    const ScopedTimer timer(profiler_, "assemble");
    const BatchNoise noise = drawNoise(group, normaliser);
    return assembler_.parts(group, normaliser.inputScales(), normaliser.target(), noise);
}


std::string TrainingBatches::firstStaleEntry() const
{
    const std::string text = weights_.firstStaleEntry();
    return text.empty() ? assembler_.firstStaleEntry() : text;
}


BatchNoise TrainingBatches::drawNoise(const std::vector<Sample>& group,
    const Normaliser& normaliser)
{
    if (!(layout_.noise > 0))
    {
        return {};
    }
    const std::int64_t nCells = group.front().mesh.graph->nCells();
    const auto batchSize = static_cast<std::int64_t>(group.size());
    at::Tensor drawn = at::empty({batchSize, nCells, layout_.nInputColumns}, at::kDouble);
    const std::size_t perSample = static_cast<std::size_t>(nCells)*layout_.nInputColumns;
    double* values = drawn.mutable_data_ptr<double>();
    for (const Sample& sample : group)
    {
        noise_.draw(sample.mesh.ids ? Span<const std::int64_t>(sample.mesh.ids->cells)
            : Span<const std::int64_t>(), layout_.nInputColumns, {values, perSample}, pool_);
        values += perSample;
    }
    const auto type = at::dtype(scalarType(precision_)).pinned_memory(isPinned_);
    BatchNoise result;
    result.inputs = at::empty(drawn.sizes(), type).copy_(drawn.mul_(layout_.noise));
    if (!layout_.increment)
    {
        return result;
    }

    const Scaling input = normaliser.input();
    const Scaling target = normaliser.target();
    for (std::size_t c = 0; c < layout_.inputOfTarget.size(); ++c)
    {
        const int from = layout_.inputOfTarget[c];
        if (from >= 0)
        {
            if (!result.targets.defined())
            {
                result.targets = at::zeros({batchSize, nCells, layout_.shape.nOutputs}, type);
            }
            result.targets.select(2, static_cast<std::int64_t>(c)).copy_(
                result.inputs.select(2, from).mul(-input.scale[from]/target.scale[c]));
        }
    }
    return result;
}

}
