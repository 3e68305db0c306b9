// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/TrainerImpl.hpp"

#include "base/Error.hpp"
#include "base/Text.hpp"
#include "model/MeshGraphNet.hpp"

#include <algorithm>

// Steps on a GPU: put into its queue, and told of later

namespace inSitu
{
namespace
{

// One that is done while the next is made ready
constexpr std::size_t maxInFlight = 2;


CaptureRunner::Mode captureMode(const std::string& capture)
{
    return capture == "yes" ? CaptureRunner::Mode::required
        : capture == "no" ? CaptureRunner::Mode::off : CaptureRunner::Mode::automatic;
}

}


//- What means nothing, or would be another training, on the CPU
void Trainer::Impl::requireNoGpu(const TrainingConfig& config) const
{
    const auto refuse = [this](const std::string& entry, const std::string& remedy)
    {
        throw Error(entry + " is for GPUs, and this run is on the " + where.name
            + (where.reason.empty() ? "" : " (" + where.reason + ')') + ".\n    Remedy: "
            + remedy);
    };
    if (choice.storage == Storage::bfloat16 || choice.storage == Storage::float16)
    {
        refuse("precision " + config.precision, "precision float32");
    }
    if (config.castOn == "device")
    {
        refuse("castOn device", "castOn host");
    }
    if (layout.buffer.location == "device")
    {
        refuse("buffer.location device", "buffer { location auto; }, or host");
    }
}


void Trainer::Impl::moveTo(const TrainingConfig& config)
{
    const at::Device device = where.library->device(where.index);
    queue = where.library->makeQueue(where.index, where.ranks);
    const auto runner = [&]
    {
        return CaptureRunner(where.library, queue, captureMode(config.capture),
            config.maxCaptures, layout.note);
    };
    try
    {
        queue->put([this] { model->moveTo(*where.library, choice); });
        queue->waitFor(queue->mark());
        const std::size_t free = where.library->memoryOf(where.index).free;
        const std::size_t memory = memoryForSamples(config, free);
        keepsSamplesThere = memory > 0;
        castsThere = keepsSamplesThere || config.castOn == "device";
        DeviceBatches batches = castsThere
            ? DeviceBatches(device, queue, where.library, memory, pool)
            : DeviceBatches(device, queue);
        steps = std::make_unique<DeviceSteps>(queue, *model, device, std::move(batches), runner(),
            choice.storage == Storage::float16, where.ranks);
        forward = std::make_unique<DeviceForward>(queue, *model, device, layout.shape.nOutputs,
            runner(), false);
    }
    catch (const c10::OutOfMemoryError& error)
    {
        reportMemory(error.what_without_backtrace());
    }
}


//- Bytes of the GPU that the rows of samples may take; 0: none stays there
std::size_t Trainer::Impl::memoryForSamples(const TrainingConfig& config, std::size_t free) const
{
    constexpr std::int64_t leastBatch = 4;      // below, hardly anything is sent twice
    const TrainerLayout::Buffer& buffer = layout.buffer;
    if (buffer.location == "device")
    {
        return std::min(buffer.memory, free/2);
    }
    const std::size_t memory = std::min(buffer.memory, free/10);
    const bool fits = std::min(buffer.bytes, static_cast<double>(buffer.memory))
        <= static_cast<double>(memory);
    return buffer.location == "auto" && config.batchSize >= leastBatch && fits ? memory : 0;
}


void Trainer::Impl::reportMemory(const std::string& reason) const
{
    const DeviceLibrary::Memory memory = where.library->memoryOf(where.index);
    std::string text = "the memory of " + where.name + " does not do: "
        + bytesText(memory.free) + " of " + bytesText(memory.total) + " are free";
    if (const auto sizes = sizesOf(*model))
    {
        constexpr double edgesPerNode = 6;      // hexahedra
        const double perNode = bytesPerNode(*sizes, edgesPerNode, choice);
        text += ". Training takes about " + bytesText(static_cast<std::size_t>(perNode))
            + " per cell and sample of a batch, so about "
            + std::to_string(static_cast<std::int64_t>(memory.total/perNode)) + " cells fit";
    }
    const bool isShort = choice.storage == Storage::bfloat16 || choice.storage == Storage::float16;
    throw Error(text + ".\n    Remedy:" + (isShort ? "" : " precision bfloat16;")
        + (choice.recompute ? "" : " recompute yes;")
        + (keepsSamplesThere ? " buffer { location host; }" : "")
        + " a smaller batchSize, hiddenSize or processorSize; device cpu\n    ("
        + reason.substr(0, reason.find('\n')) + ')');
}


//- Tell what the oldest steps gave, so that at most maxLeft stay in flight
void Trainer::Impl::settle(std::size_t maxLeft)
{
    const ScopedTimer timer(profiler, "wait");
    for (const DeviceSteps::Result& result : steps->take(maxLeft))
    {
        Step step = inFlight.front();
        inFlight.pop_front();
        step.loss = result.loss;
        step.gradientNorm = result.gradientNorm;
        step.finite = result.finite;
        step.updated = result.updated;
        step.overflow = result.overflow;
        nWaiting = static_cast<std::int64_t>(result.count);
        if (result.updated)
        {
            ++nUpdates;
            schedule->observe(result.metric);
        }
        ended.push_back(step);
    }
}


const BatchParts& Trainer::Impl::assembleThere(const std::vector<Sample>& samples,
    const Normaliser& normaliser)
{
    const ScopedTimer timer(profiler, "assemble");
    const BatchNoise drawn = drawNoise(samples, normaliser);
    return assembler.parts(samples, normaliser.inputScales(), normaliser.target(), drawn);
}


void Trainer::Impl::startOnDevice(const std::vector<Sample>& batch, const Normaliser& normaliser)
{
    settle(schedule->observes() ? 0 : maxInFlight - 1);

    // In the good case each step in flight is a pass
    const auto nInFlight = static_cast<std::int64_t>(inFlight.size());
    const std::int64_t nExpected = nUpdates + (nWaiting + nInFlight)/accumulationSteps;
    Step step;
    step.number = nSteps;
    step.learningRate = baseRate*schedule->factor(nExpected);
    steps->setLearningRate(step.learningRate);

    const std::vector<std::vector<Sample>> groups = byMesh(batch);
    for (const std::vector<Sample>& group : groups)
    {
        {
            const ScopedTimer timer(profiler, "wait");
            steps->waitForHost();
            forward->waitForHost();
        }
        const CellWeights::Values& cells = weights.on(group.front().mesh, weightedByVolume);
        const double share = groups.size() == 1 ? 1.0
            : static_cast<double>(group.size())/static_cast<double>(batch.size());
        const bool isFirst = &group == &groups.front();
        const bool isLast = &group == &groups.back();
        if (castsThere)
        {
            const BatchParts& parts = assembleThere(group, normaliser);
            const ScopedTimer timer(profiler, "launch");
            steps->add(parts, cells, share, isFirst, isLast);
        }
        else
        {
            const auto [inputs, targets] = assemble(group, normaliser);
            const ScopedTimer timer(profiler, "launch");
            steps->add(inputs, targets, cells, share, isFirst, isLast);
        }
    }
    inFlight.push_back(step);
}

}
