// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/StepsOnDevice.hpp"

#include "base/Error.hpp"
#include "base/Text.hpp"
#include "model/MeshGraphNet.hpp"
#include "train/TrainingConfig.hpp"
#include "train/predictPhysical.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace inSitu
{
namespace
{

CaptureRunner::Mode captureMode(const std::string& capture)
{
    return capture == "yes" ? CaptureRunner::Mode::required
        : capture == "no" ? CaptureRunner::Mode::off : CaptureRunner::Mode::automatic;
}


//- Bytes of the GPU that the rows of samples may take; 0: none stays there
std::size_t memoryForSamples(const TrainingConfig& config, const TrainerLayout::Buffer& buffer,
    std::size_t free)
{
    constexpr std::int64_t leastBatch = 4;      // below, hardly anything is sent twice
    if (buffer.location == "device")
    {
        return std::min(buffer.memory, free/2);
    }
    const std::size_t memory = std::min(buffer.memory, free/10);
    const bool fits = std::min(buffer.bytes, static_cast<double>(buffer.memory))
        <= static_cast<double>(memory);
    return buffer.location == "auto" && config.batchSize >= leastBatch && fits ? memory : 0;
}

}


template<class Work>
auto StepsOnDevice::withinMemory(Work work) const
{
    try
    {
        return work();
    }
    catch (const c10::OutOfMemoryError& error)
    {
        reportMemory(error.what_without_backtrace());
    }
}


StepsOnDevice::StepsOnDevice(const TrainingConfig& config, const ChosenDevice& where,
    const StepTools& tools)
:
    tools_(tools),
    where_(where),
    choice_(config.onDevice(where.index)),
    queue_(where.library->makeQueue(where.index, where.ranks))
{
    choice_.ranks = where.ranks;
    const at::Device device = where.library->device(where.index);
    const auto runner = [&]
    {
        return CaptureRunner(where.library, queue_, where.ranks, captureMode(config.capture),
            config.maxCaptures, tools.layout.note);
    };
    withinMemory([&]
    {
        reach([&] { tools.model.moveTo(*where.library, choice_); });
        const std::size_t memory = memoryForSamples(config, tools.layout.buffer,
            where.library->memoryOf(where.index).free);
        keepsSamples_ = memory > 0;
        castsThere_ = keepsSamples_ || config.castOn == "device";
        DeviceBatches batches = castsThere_
            ? DeviceBatches(device, queue_, where.library, memory, tools.pool)
            : DeviceBatches(device, queue_, DeviceCopies::Way::beside);
        steps_ = std::make_unique<DeviceSteps>(queue_, tools.model, device, std::move(batches),
            runner(), choice_.storage == Storage::float16, where.ranks);
        forward_ = std::make_unique<DeviceForward>(queue_, tools.model, device,
            tools.layout.shape.nOutputs, runner(), false);
    });
}


StepsOnDevice::~StepsOnDevice()
{
    // What is in flight uses what is about to go
    try
    {
        queue_->waitFor(queue_->mark());
    }
    catch (const std::exception&)
    {
        // The device has failed: nothing is in flight
    }
}


void StepsOnDevice::reportMemory(const std::string& reason) const
{
    const DeviceLibrary::Memory memory = where_.library->memoryOf(where_.index);
    std::string text = "the memory of " + where_.name + " does not do: "
        + bytesText(memory.free) + " of " + bytesText(memory.total) + " are free";
    if (const auto sizes = sizesOf(tools_.model))
    {
        constexpr double edgesPerNode = 6;      // hexahedra
        const double perNode = bytesPerNode(*sizes, edgesPerNode, choice_);
        text += ". Training takes about " + bytesText(static_cast<std::size_t>(perNode))
            + " per cell and sample of a batch, so about "
            + std::to_string(static_cast<std::int64_t>(memory.total/perNode)) + " cells fit";
    }
    const bool isShort =
        choice_.storage == Storage::bfloat16 || choice_.storage == Storage::float16;
    throw Error(text + ".\n    Remedy:" + (isShort ? "" : " precision bfloat16;")
        + (choice_.recompute ? "" : " recompute yes;")
        + (keepsSamples_ ? " buffer { location host; }" : "")
        + " a smaller batchSize, hiddenSize or processorSize; device cpu\n    ("
        + reason.substr(0, reason.find('\n')) + ')');
}


void StepsOnDevice::setLoss(const TrainingConfig& config)
{
    std::unique_ptr<Loss> next = config.loss->build(tools_.pool);
    if (config.capture == "yes" && !next->canBeRecorded())
    {
        throw Error("training.capture yes: a step with the loss of a TorchScript file cannot be"
            " recorded; choose capture auto or no");
    }
    steps_->setLoss(*next);
    loss_ = std::move(next);
}


void StepsOnDevice::start(const TrainingStep& step, const std::vector<Sample>& batch,
    const Normaliser& normaliser)
{
    withinMemory([&]
    {
        steps_->begin(step);
        const std::vector<TrainingBatches::Group> groups = TrainingBatches::byMesh(batch);
        for (const TrainingBatches::Group& group : groups)
        {
            add(group, normaliser, &group == &groups.front(), &group == &groups.back());
        }
    });
}


void StepsOnDevice::add(const TrainingBatches::Group& group, const Normaliser& normaliser,
    bool isFirst, bool isLast)
{
    {
        const ScopedTimer timer(tools_.profiler, "wait");
        steps_->waitForHost();
        forward_->waitForHost();
    }
    const CellWeights::Values& cells = tools_.batches.weights(group.samples.front().mesh);
    if (castsThere_)
    {
        const BatchParts& parts = tools_.batches.parts(group.samples, normaliser);
        const ScopedTimer timer(tools_.profiler, "launch");
        steps_->add(parts, cells, group.share, isFirst, isLast);
    }
    else
    {
        const auto [inputs, targets] = tools_.batches.tensors(group.samples, normaliser);
        const ScopedTimer timer(tools_.profiler, "launch");
        steps_->add(inputs, targets, cells, group.share, isFirst, isLast);
    }
}


std::vector<TrainingStep> StepsOnDevice::take(std::size_t maxLeft)
{
    const ScopedTimer timer(tools_.profiler, "wait");
    return withinMemory([&] { return steps_->take(maxLeft); });
}


void StepsOnDevice::predict(const Sample& sample, const Normaliser& normaliser,
    Span<double> prediction)
{
    withinMemory([&]
    {
        steps_->waitForHost();
        steps_->letGo();        // also where there is no time to train
        const GraphBatch batch = tools_.batches.inputs(sample, normaliser);
        toPhysical((*forward_)(batch), batch.graph->nCells(), normaliser.target(), tools_.pool,
            prediction);
    });
}


void StepsOnDevice::reach(const std::function<void()>& work)
{
    queue_->carryOut(work);
}

}
