// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/TrainerImpl.hpp"

#include "base/Error.hpp"
#include "base/Text.hpp"
#include "model/MeshGraphNet.hpp"

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
        steps = std::make_unique<DeviceSteps>(queue, *model, device, runner(),
            choice.storage == Storage::float16, where.ranks);
        forward = std::make_unique<DeviceForward>(queue, *model, device, layout.shape.nOutputs,
            runner(), false);
    }
    catch (const c10::OutOfMemoryError& error)
    {
        reportMemory(error.what_without_backtrace());
    }
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
        + (choice.recompute ? "" : " recompute yes;") + " a smaller batchSize, hiddenSize or"
        " processorSize; device cpu\n    (" + reason.substr(0, reason.find('\n')) + ')');
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
        const auto [inputs, targets] = assemble(group, normaliser);
        const ScopedTimer timer(profiler, "launch");
        steps->add(inputs, targets, weights.on(group.front().mesh, weightedByVolume),
            groups.size() == 1 ? 1.0
                : static_cast<double>(group.size())/static_cast<double>(batch.size()),
            &group == &groups.front(), &group == &groups.back());
    }
    inFlight.push_back(step);
}

}
