// SPDX-License-Identifier: GPL-3.0-or-later
#include "infer/GroupSurrogate.hpp"

#include "base/agree.hpp"

#include <algorithm>
#include <utility>

namespace inSitu
{
namespace
{

SlotPool::Handle slotOf(std::size_t bytes, std::optional<SlotPool>& pool)
{
    if (!pool || pool->bytes() != bytes)
    {
        pool.emplace(bytes);
    }
    return pool->acquire();
}

}


GroupSurrogate::GroupSurrogate
(
    std::unique_ptr<Surrogate> network,
    std::shared_ptr<RankGroup> group
)
:
    Surrogate(network->card(), network->inputReference(), network->precision()),
    network_(std::move(network)),
    group_(std::move(group)),
    alone_(group_->nTrainers() == 1)
{
    const ModelCard& card = network_->card();
    const int nInput = card.nInputColumns() - static_cast<int>(card.features.size());

    // Rows, then values on edges, which have no boundary rows, whatever there are of them
    group_->setFields({nInput, 0}, card.nTargetColumns());
    if (group_->trains())
    {
        network_->joinRanks(group_->trainers());
    }
}


bool GroupSurrogate::handlesHalo() const
{
    return alone_ || network_->handlesHalo();
}


std::string GroupSurrogate::firstStaleEntry() const
{
    return group_->trains() ? network_->firstStaleEntry() : std::string();
}


void GroupSurrogate::update(const Model& network, SurrogateScales scales, ModelCard card)
{
    network_->update(network, std::move(scales), std::move(card));
    setCard(network_->card());
}


void GroupSurrogate::predict(const Sample& sample, Span<double> prediction)
{
    precision() == Precision::float64
      ? predictAs<double>(sample, prediction) : predictAs<float>(sample, prediction);
}


template<class Value>
void GroupSurrogate::predictAs(const Sample& sample, Span<double> prediction)
{
    const MeshGraph& graph = *sample.mesh.graph;
    const ModelCard& card = network_->card();
    const std::size_t width = card.nInputColumns() - card.features.size();
    const auto nEdgeColumns = static_cast<std::size_t>(card.nEdgeInputs());

    const MeshState mesh = group_->unite(CaseMesh{sample.mesh, {}, {}}).state;
    const auto* rows = static_cast<const Value*>(sample.input.get());
    const auto* edges = static_cast<const Value*>(sample.edges.get());
    const std::size_t nCellValues = width*graph.nCells();
    const std::vector<FieldView<Value>>& all = group_->unite(std::vector<FieldView<Value>>
    {
        {{rows, nCellValues}, {{rows + nCellValues, width*graph.nBoundary()}}},
        {{edges, edges ? nEdgeColumns*graph.nEdges() : 0}, {}}
    });

    group_->lead([&]
    {
        const auto fill = [](const SlotPool::Handle& slot, Span<const Value> first,
            Span<const Value> second)
        {
            auto* values = static_cast<Value*>(slot.get());
            std::copy(second.begin(), second.end(),
                std::copy(first.begin(), first.end(), values));
        };
        const Span<const Value>& cells = all[0].cells;
        const Span<const Value>& boundary = all[0].patches[0];
        united_ = Sample();
        united_.id = sample.id;
        united_.time = sample.time;
        united_.features = sample.features;
        united_.mesh = mesh;
        united_.input = slotOf((cells.size() + boundary.size())*sizeof(Value), inputs_);
        fill(united_.input, cells, boundary);
        if (nEdgeColumns > 0)
        {
            const std::vector<Value> placed = group_->edges(all[1].cells, nEdgeColumns);
            united_.edges = slotOf(placed.size()*sizeof(Value), edges_);
            fill(united_.edges, Span<const Value>(placed), {});
        }
        predicted_.resize(static_cast<std::size_t>(mesh.graph->nCells())*card.nTargetColumns());
        network_->predict(united_, Span<double>(predicted_));
        return Comm::Bytes();
    });

    const Span<const double> own = group_->part(Span<const double>(predicted_));
    std::copy(own.begin(), own.end(), prediction.begin());
}

}
