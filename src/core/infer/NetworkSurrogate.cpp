// SPDX-License-Identifier: GPL-3.0-or-later
#include "infer/NetworkSurrogate.hpp"

#include "base/Error.hpp"
#include "model/chooseDevice.hpp"
#include "train/DeviceForward.hpp"
#include "train/predictPhysical.hpp"

#include <ATen/ATen.h>

namespace inSitu
{
namespace
{

BatchAssembler::Layout layoutOf(const ModelCard& card, const Model& network)
{
    BatchAssembler::Layout layout;
    layout.nFeatures = static_cast<int>(card.features.size());
    layout.nInputColumns = card.nInputColumns() - layout.nFeatures;
    layout.staticColumns = card.staticColumns;
    layout.nTargetColumns = card.nTargetColumns();
    layout.nEdgeInputs = card.nEdgeInputs();
    layout.precision = network.parameters().front().scalar_type() == at::kDouble
      ? Precision::float64 : Precision::float32;
    return layout;
}


void requireFits(const SurrogateScales& scales, const BatchAssembler::Layout& layout)
{
    const auto require = [](const std::vector<double>& values, int size, const char* what)
    {
        if (values.size() != static_cast<std::size_t>(size))
        {
            throw Error("the model has " + std::to_string(values.size()) + " entries of its "
                + what + ", its card " + std::to_string(size) + " columns");
        }
    };
    require(scales.input.nodes.shift, layout.nInputColumns + layout.nFeatures, "input shift");
    require(scales.input.nodes.scale, layout.nInputColumns + layout.nFeatures, "input scale");
    require(scales.inputReference, layout.nInputColumns, "input reference");
    require(scales.target.shift, layout.nTargetColumns, "target shift");
    require(scales.target.scale, layout.nTargetColumns, "target scale");
    require(scales.targetReference, layout.nTargetColumns, "target reference");
    require(scales.input.edges, layout.nEdgeInputs, "edge inputs' scale");
}

}


NetworkSurrogate::NetworkSurrogate
(
    ModelCard card,
    std::unique_ptr<Model> network,
    SurrogateScales scales,
    ThreadPool& pool,
    const CountBuild& count
)
:
    Surrogate(card, scales.inputReference, layoutOf(card, *network).precision),
    network_(std::move(network)),
    scales_(std::move(scales)),
    pool_(pool),
    count_(count),
    assembler_(std::make_unique<BatchAssembler>(layoutOf(card, *network_), pool, count))
{
    requireFits(scales_, layoutOf(card, *network_));
    network_->freeze();
}


NetworkSurrogate::~NetworkSurrogate() = default;


std::string NetworkSurrogate::useDevice(const std::string& entry,
    const std::shared_ptr<Comm>& comm, std::function<void(const std::string&)> note)
{
    return useDevice(entry, comm, std::move(note), nullptr);
}


std::string NetworkSurrogate::useDevice(const std::string& entry,
    const std::shared_ptr<Comm>& comm, std::function<void(const std::string&)> note,
    std::shared_ptr<DeviceLibrary> given)
{
    const ChosenDevice chosen = chooseDevice(entry, *network_, comm, std::move(given));
    if (!chosen.library)
    {
        return chosen.name + (chosen.reason.empty() ? "" : " (" + chosen.reason + ')');
    }
    DeviceChoice choice;
    choice.index = chosen.index;
    choice.ranks = chosen.ranks;
    choice.storage =
        precision() == Precision::float64 ? Storage::float64 : Storage::float32;
    const at::Device device = chosen.library->device(chosen.index);

    constexpr std::int64_t maxCaptures = 8;
    queue_ = chosen.library->makeQueue(chosen.index, chosen.ranks);
    queue_->carryOut([&] { network_->moveTo(*chosen.library, choice); });
    forward_ = std::make_unique<DeviceForward>(queue_, *network_, device,
        card().nTargetColumns(), CaptureRunner(chosen.library, queue_, chosen.ranks,
            CaptureRunner::Mode::automatic, maxCaptures, std::move(note)), true);

    BatchAssembler::Layout layout = layoutOf(card(), *network_);
    layout.pinned = !device.is_cpu();
    assembler_ = std::make_unique<BatchAssembler>(layout, pool_, count_);
    return chosen.name;
}


void NetworkSurrogate::predict(const Sample& sample, Span<double> prediction)
{
    const GraphBatch batch = assembler_->inputs(sample, scales_.input);
    if (forward_)
    {
        toPhysical((*forward_)(batch), batch.graph->nCells(), scales_.target, pool_, prediction);
    }
    else
    {
        predictPhysical(*network_, batch, scales_.target, pool_, prediction);
    }

    const std::size_t nColumns = scales_.targetReference.size();
    for (std::size_t i = 0; i < prediction.size(); ++i)
    {
        prediction[i] += scales_.targetReference[i % nColumns];
    }
}


void NetworkSurrogate::update(const Model& network, SurrogateScales scales, ModelCard card)
{
    const auto copy = [&]
    {
        const at::NoGradGuard noGradients;
        const auto from = network.namedTensors();
        const auto to = network_->namedTensors();
        for (std::size_t i = 0; i < to.size(); ++i)
        {
            at::Tensor(to[i].second).copy_(from.at(i).second);
        }
    };
    if (forward_)
    {
        queue_->carryOut(copy);
        forward_->forget();
    }
    else
    {
        copy();
    }
    scales_ = std::move(scales);
    setCard(std::move(card));
    network_->freeze();
}


std::unique_ptr<Surrogate> makeSurrogate
(
    ModelCard card,
    std::unique_ptr<Model> network,
    SurrogateScales scales,
    ThreadPool& pool,
    const CountBuild& count
)
{
    return std::make_unique<NetworkSurrogate>(std::move(card), std::move(network),
        std::move(scales), pool, count);
}

}
