// SPDX-License-Identifier: GPL-3.0-or-later
#include "graph/HaloPlan.hpp"

#include "base/packed.hpp"
#include "graph/countingOrder.hpp"

#include <string>

namespace inSitu
{
namespace
{

void requireCells(const GraphIndices& cells, GraphIndex nCells, int rank)
{
    for (const GraphIndex cell : cells)
    {
        if (!inside(cell, nCells))
        {
            throw Error("rank " + std::to_string(rank) + " asks for cell " + std::to_string(cell)
                + " of a rank with " + std::to_string(nCells) + " cells");
        }
    }
}

}


std::size_t HaloPlan::bytes() const
{
    return neighbours.size()*sizeof(Neighbour) + cells.size()*sizeof(std::int32_t);
}


bool HaloPlan::operator==(const HaloPlan& other) const
{
    const auto numbers = [](const std::vector<Neighbour>& neighbours)
    {
        GraphIndices values;
        for (const Neighbour& neighbour : neighbours)
        {
            values.insert(values.end(), {neighbour.rank, neighbour.nRows, neighbour.nCells});
        }
        return values;
    };
    return nRows == other.nRows && cells == other.cells
        && numbers(neighbours) == numbers(other.neighbours);
}


StateTree HaloPlan::save() const
{
    GraphIndices ranks, rows, sent;
    for (const Neighbour& neighbour : neighbours)
    {
        ranks.push_back(neighbour.rank);
        rows.push_back(neighbour.nRows);
        sent.push_back(neighbour.nCells);
    }
    StateTree state;
    state.put("ranks", ranks);
    state.put("rows", rows);
    state.put("sent", sent);
    state.put("cells", cells);
    return state;
}


HaloPlan HaloPlan::load(const StateTree& state, std::int32_t nCells)
{
    const GraphIndices ranks = state.get<std::int32_t>("ranks");
    const GraphIndices rows = state.get<std::int32_t>("rows");
    const GraphIndices sent = state.get<std::int32_t>("sent");

    HaloPlan plan;
    plan.cells = state.get<std::int32_t>("cells");
    std::int64_t nRows = 0;
    std::int64_t nSent = 0;
    bool good = rows.size() == ranks.size() && sent.size() == ranks.size();
    for (std::size_t i = 0; good && i < ranks.size(); ++i)
    {
        plan.neighbours.push_back({ranks[i], rows[i], sent[i]});
        good = rows[i] >= 0 && sent[i] >= 0 && ranks[i] > (i == 0 ? -1 : ranks[i - 1]);
        nRows += rows[i];
        nSent += sent[i];
    }
    requireIndices(nRows, "halo rows");
    if (!good || nSent != static_cast<std::int64_t>(plan.cells.size()))
    {
        throw Error("a saved halo of " + std::to_string(nRows) + " rows contradicts itself");
    }
    plan.nRows = static_cast<std::int32_t>(nRows);
    requireCells(plan.cells, nCells, -1);
    return plan;
}


HaloPlan makeHaloPlan(const std::vector<HaloLink>& links, std::int32_t nCells, const Comm& comm)
{
    requireIndices(static_cast<std::int64_t>(links.size()), "halo rows");
    std::vector<GraphIndices> wanted(comm.size());
    int previous = 0;
    for (const HaloLink& link : links)
    {
        if (link.rank < previous || link.rank >= comm.size())
        {
            throw Error("halo links are given in ascending order of their rank, below "
                + std::to_string(comm.size()) + "; rank " + std::to_string(link.rank)
                + " follows " + std::to_string(previous));
        }
        wanted[link.rank].push_back(link.remoteCell);
        previous = link.rank;
    }

    std::vector<Comm::Bytes> asked;
    for (const GraphIndices& cells : wanted)
    {
        asked.push_back(packed(cells));
    }
    const std::vector<Comm::Bytes> asking = comm.swap(asked);

    HaloPlan plan;
    plan.nRows = static_cast<std::int32_t>(links.size());
    for (int rank = 0; rank < comm.size(); ++rank)
    {
        const GraphIndices cells = unpacked<GraphIndex>(asking[rank]);
        requireCells(cells, nCells, rank);
        if (!cells.empty() || !wanted[rank].empty())
        {
            plan.neighbours.push_back({rank, static_cast<std::int32_t>(wanted[rank].size()),
                static_cast<std::int32_t>(cells.size())});
        }
        plan.cells.insert(plan.cells.end(), cells.begin(), cells.end());
    }
    requireIndices(static_cast<std::int64_t>(plan.cells.size()), "cells sent to other ranks");
    return plan;
}

}
