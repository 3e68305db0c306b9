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
    Impl& my = *impl_;
    if (!my.begun)
    {
        return -1;
    }
    return my.numberThere([&my]
    {
        try
        {
            my.loop->settle();
            my.settledRevision = my.revision();
        }
        catch (const std::exception&)
        {
            // What has ended the thread is told by the trainer, at its own next call
            if (!my.loop->hasFailed())
            {
                throw;
            }
        }
        return my.settledRevision;
    });
}


//- Where there is a loop
std::int64_t InSituTrainer::Impl::revision() const
{
    const std::int64_t nSamples = loop->normaliser().nSamples();
    return nSamples > 0 ? nSamples + loop->trainer().nUpdates() : -1;
}


//- Card, scales and tensors for ranks that do not train; nothing on those that do, where they are
//  the last ones
StateTree InSituTrainer::Impl::network()
{
    if (loop)
    {
        loop->settle();
    }
    if (!group->isShared())
    {
        return {};
    }
    const Comm::Bytes bytes = group->lead([this]
    {
        StateTree state;
        state.putText("card", card().json());
        state.putTree("scales", saved(scales()));
        for (const auto& [tensor, values] : loop->trainer().model().namedTensors())
        {
            putTensor(state, "tensors/" + tensor, values);
        }
        return packed(state);
    });
    return loop ? StateTree() : unpackedTree(bytes);
}


std::unique_ptr<Surrogate> InSituTrainer::surrogate(ThreadPool& pool, const CountBuild& count) const
{
    Impl& my = *impl_;
    if (my.settings.training.modelType == "torchscript")
    {
        throw Error("the network of trainer " + my.name + " is a TorchScript file, which cannot be"
            " followed while it is trained; predict from its model.pt");
    }
    const StateTree state = my.network();
    const ModelCard card = my.loop ? my.card() : cardIn(state);
    auto copy = std::make_unique<NetworkSurrogate>(card, build(my.settings, card, pool),
        my.loop ? my.scales() : scalesIn(state), pool, count);
    my.update(*copy, state);
    return copy;
}


void InSituTrainer::update(Surrogate& surrogate) const
{
    impl_->update(surrogate, impl_->network());
}


void InSituTrainer::Impl::update(Surrogate& surrogate, const StateTree& network)
{
    if (loop)
    {
        surrogate.update(loop->trainer().model(), scales(), card());
        return;
    }

    const ModelCard cardThere = cardIn(network);
    if (!replica)
    {
        replica = std::make_unique<Replica>();
        replica->model = build(settings, cardThere, replica->pool);
    }
    const at::NoGradGuard noGradients;
    for (const auto& [tensor, values] : replica->model->namedTensors())
    {
        at::Tensor(values).copy_(getTensor(network, "tensors/" + tensor, values));
    }
    surrogate.update(*replica->model, scalesIn(network), cardThere);
}

}
