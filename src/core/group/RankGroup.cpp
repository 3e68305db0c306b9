// SPDX-License-Identifier: GPL-3.0-or-later
#include "group/RankGroup.hpp"

#include "base/Error.hpp"
#include "base/packed.hpp"

#include <algorithm>
#include <utility>

namespace inSitu
{
namespace
{

std::vector<int> nodesOf(const Comm& comm)
{
    std::vector<double> nodes(comm.size(), 0.0);
    nodes[comm.rank()] = comm.node();
    comm.sum(Span<double>(nodes));
    return {nodes.begin(), nodes.end()};
}

}


RankGroup::RankGroup(std::shared_ptr<Comm> all, std::int64_t trainersPerNode)
:
    all_(std::move(all)),
    trainers_(all_),
    nTrainers_(all_->size())
{
    if (trainersPerNode == 0 || all_->size() == 1)
    {
        return;
    }
    const std::vector<int> nodes = nodesOf(*all_);
    const TrainerMap map = TrainerMap::of(nodes, trainersPerNode);
    for (const int node : nodes)
    {
        if (std::count(nodes.begin(), nodes.end(), node) < trainersPerNode)
        {
            text_ = "trainerRanks " + std::to_string(trainersPerNode)
                + " is more than a node has ranks: all of them train there";
        }
    }
    nTrainers_ = map.nTrainers();
    shared_ = nTrainers_ < map.nRanks();
    if (!shared_)
    {
        return;
    }
    std::size_t largest = 0;
    for (const std::vector<int>& members : map.members)
    {
        largest = std::max(largest, members.size());
    }
    text_ += std::string(text_.empty() ? "" : "\n    ") + "the network works on "
        + std::to_string(map.nTrainers()) + " of " + std::to_string(map.nRanks())
        + " ranks, each for the cells of up to " + std::to_string(largest);

    const std::vector<int>& members = map.members[map.trainerOf[all_->rank()]];
    trainers_ = all_->part(members.front() == all_->rank() ? 0 : -1, Comm::Waiting::busy);
    group_ = all_->part(members.front(), Comm::Waiting::patient);
    mesh_.emplace(all_, group_, map);
}


void RankGroup::setFields(const std::vector<int>& nComponents, int resultColumns)
{
    if (shared_)
    {
        fields_.emplace(group_, nComponents, resultColumns);
        fieldsAreNew_ = true;
    }
}


CaseMesh RankGroup::unite(CaseMesh mesh)
{
    if (!shared_)
    {
        return mesh;
    }
    CaseMesh united = mesh_->unite(mesh);
    const bool fieldsAreNew = std::exchange(fieldsAreNew_, false);
    if (mesh_->rowsAreNew() || fieldsAreNew)
    {
        fields_->setRows(mesh.state.graph->nCells(), mesh.state.graph->nBoundary());
    }
    return united;
}


void RankGroup::check()
{
    if (shared_)
    {
        mesh_->check();
    }
}


template<class Scalar>
const std::vector<FieldView<Scalar>>& RankGroup::unite(const std::vector<FieldView<Scalar>>& views)
{
    return shared_ ? fields_->share(views) : views;
}


std::vector<PendingAccess::Pending> RankGroup::unite(std::vector<PendingAccess::Pending> pending,
    std::size_t inputColumns, std::size_t targetColumns)
{
    if (!shared_)
    {
        return pending;
    }
    for (PendingAccess::Pending& one : pending)
    {
        const auto gather = [&](std::vector<double>& values, std::size_t width)
        {
            std::vector<std::vector<double>> parts;
            for (const Comm::Bytes& part : group_->gather(packed(values)))
            {
                parts.push_back(unpacked<double>(part));
            }
            if (trains())
            {
                values = mesh_->rows().rows(parts, width);
            }
        };
        gather(one.input, inputColumns);
        gather(one.target, targetColumns);
    }
    return pending;
}


void RankGroup::part(PendingAccess::Pending& pending, std::size_t inputColumns,
    std::size_t targetColumns)
{
    if (!shared_)
    {
        return;
    }
    const auto scatter = [&](std::vector<double>& values, std::size_t width, bool boundary)
    {
        std::vector<Comm::Bytes> outgoing(group_->size());
        for (std::size_t member = 0; trains() && member < outgoing.size(); ++member)
        {
            outgoing[member] = packed(mesh_->rows().part(member, values, width, boundary));
        }
        values = unpacked<double>(group_->swap(outgoing).front());
    };
    scatter(pending.input, inputColumns, true);
    scatter(pending.target, targetColumns, false);
}


Span<const double> RankGroup::part(Span<const double> results)
{
    if (!shared_)
    {
        return results;
    }
    if (trains() && !results.empty())
    {
        if (results.size() != fields_->results().size())
        {
            throw Error(std::to_string(results.size()) + " results for "
                + std::to_string(fields_->results().size()) + " places in the group");
        }
        std::copy(results.begin(), results.end(), fields_->results().begin());
    }
    return fields_->meet();
}


Comm::Bytes RankGroup::lead(const std::function<Comm::Bytes()>& body)
{
    Comm::Bytes bytes;
    if (trains())
    {
        bytes = body();
    }
    if (shared_)
    {
        group_->broadcast(bytes);
    }
    return bytes;
}


template const std::vector<FieldView<float>>& RankGroup::unite(
    const std::vector<FieldView<float>>&);
template const std::vector<FieldView<double>>& RankGroup::unite(
    const std::vector<FieldView<double>>&);

}
