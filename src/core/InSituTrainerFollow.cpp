// SPDX-License-Identifier: GPL-3.0-or-later
#include "InSituTrainerImpl.hpp"

#include "base/packedTree.hpp"
#include "infer/NetworkSurrogate.hpp"
#include "model/TensorState.hpp"

#include <ATen/ATen.h>

// Copies of the network for others in the run

namespace inSitu
{
namespace
{

StateTree saved(const SurrogateScales& scales)
{
    StateTree state;
    state.put("inputShift", scales.input.nodes.shift);
    state.put("inputScale", scales.input.nodes.scale);
    state.putDouble("edgeLength", scales.input.mesh.edgeLength);
    state.putDouble("cellVolume", scales.input.mesh.cellVolume);
    state.put("edges", scales.input.edges);
    state.put("targetShift", scales.target.shift);
    state.put("targetScale", scales.target.scale);
    state.put("inputReference", scales.inputReference);
    state.put("targetReference", scales.targetReference);
    return state;
}


SurrogateScales scalesIn(const StateTree& network)
{
    const StateTree state = network.subTree("scales");
    const auto get = [&](const char* name) { return state.get<double>(name); };
    SurrogateScales scales;
    scales.input.nodes = {get("inputShift"), get("inputScale")};
    scales.input.mesh = {state.getDouble("edgeLength"), state.getDouble("cellVolume")};
    scales.input.edges = get("edges");
    scales.target = {get("targetShift"), get("targetScale")};
    scales.inputReference = get("inputReference");
    scales.targetReference = get("targetReference");
    return scales;
}


ModelCard cardIn(const StateTree& network)
{
    return ModelCard::parse(network.getText("card"), "the network of another rank");
}


std::unique_ptr<Model> build(const Settings& settings, const ModelCard& card, ThreadPool& pool)
{
    const ModelShape shape
    {
        card.nInputColumns() + static_cast<int>(card.staticColumns.size()),
        static_cast<int>(card.edgeColumns.size()),
        card.nTargetColumns()
    };
    return settings.training.model->build(shape, settings.training.arithmetic(), 0, pool);
}

}


std::int64_t InSituTrainer::revision() const
{
    const Impl& my = *impl_;
    return my.loop ? my.revision() : my.news.revision;
}


//- Where there is a loop
std::int64_t InSituTrainer::Impl::revision() const
{
    const std::int64_t nSamples = loop->normaliser().nSamples();
    return nSamples > 0 ? nSamples + loop->trainer().nUpdates() : -1;
}


//- Card, scales and tensors, from where they are to where no one trains
StateTree InSituTrainer::Impl::network()
{
    return unpackedTree(group->lead([this]
    {
        StateTree state;
        state.putText("card", card().json());
        state.putTree("scales", saved(scales()));
        for (const auto& [tensor, values] : loop->trainer().model().namedTensors())
        {
            putTensor(state, "tensors/" + tensor, values);
        }
        return packed(state);
    }));
}


std::unique_ptr<Surrogate> InSituTrainer::surrogate(ThreadPool& pool, const CountBuild& count) const
{
    Impl& my = *impl_;
    if (my.settings.training.modelType == "torchscript")
    {
        throw Error("the network of trainer " + my.name + " is a TorchScript file, which cannot be"
            " followed while it is trained; predict from its model.pt");
    }
    const StateTree state = my.group->isShared() ? my.network() : StateTree();
    const ModelCard card = my.loop ? my.card() : cardIn(state);
    auto copy = std::make_unique<NetworkSurrogate>(card, build(my.settings, card, pool),
        my.loop ? my.scales() : scalesIn(state), pool, count);
    update(*copy);
    return copy;
}


void InSituTrainer::update(Surrogate& surrogate) const
{
    Impl& my = *impl_;
    auto& copy = dynamic_cast<NetworkSurrogate&>(surrogate);
    const StateTree state = my.group->isShared() ? my.network() : StateTree();
    if (my.loop)
    {
        copy.update(my.loop->trainer().model(), my.scales(), my.card());
        return;
    }

    const ModelCard card = cardIn(state);
    if (!my.replica)
    {
        my.replica = std::make_unique<Impl::Replica>();
        my.replica->model = build(my.settings, card, my.replica->pool);
    }
    const at::NoGradGuard noGradients;
    for (const auto& [tensor, values] : my.replica->model->namedTensors())
    {
        at::Tensor(values).copy_(getTensor(state, "tensors/" + tensor, values));
    }
    copy.update(*my.replica->model, scalesIn(state), card);
}

}
