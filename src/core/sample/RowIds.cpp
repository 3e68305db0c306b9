// SPDX-License-Identifier: GPL-3.0-or-later
#include "sample/RowIds.hpp"

#include "base/packed.hpp"

#include <numeric>

namespace inSitu
{

RowIds RowIds::asNumbered(const MeshGraph& graph)
{
    RowIds ids;
    ids.undecomposed = true;
    ids.cells.resize(graph.nCells());
    std::iota(ids.cells.begin(), ids.cells.end(), 0);

    ids.faces.resize(graph.nBoundary());
    for (std::int32_t edge = 0; edge < graph.nEdges(); ++edge)
    {
        const std::int32_t sender = graph.senders()[edge];
        if (sender >= graph.nCells() && sender < graph.nNodes())
        {
            ids.faces[sender - graph.nCells()] = graph.faceOf()[edge];
        }
    }
    return ids;
}


bool RowIds::operator==(const RowIds& other) const
{
    return undecomposed == other.undecomposed && cells == other.cells && faces == other.faces;
}


StateTree RowIds::save() const
{
    StateTree state;
    state.put("cells", cells);
    state.put("faces", faces);
    state.putInt("undecomposed", undecomposed);
    return state;
}


RowIds RowIds::load(const StateTree& state)
{
    return
    {
        state.get<std::int64_t>("cells"),
        state.get<std::int64_t>("faces"),
        state.getInt("undecomposed") != 0
    };
}


std::vector<std::int64_t> haloIds(const MeshGraph& graph, const RowIds& ids, const Comm& comm)
{
    std::vector<std::int64_t> result;
    if (comm.size() == 1)
    {
        return result;
    }
    std::vector<Comm::Bytes> outgoing(comm.size());
    if (graph.halo())
    {
        auto cell = graph.halo()->cells.begin();
        for (const HaloPlan::Neighbour& neighbour : graph.halo()->neighbours)
        {
            std::vector<std::int64_t> names;
            for (const auto last = cell + neighbour.nCells; cell != last; ++cell)
            {
                names.push_back(ids.cells[*cell]);
            }
            outgoing[neighbour.rank] = packed(names);
        }
    }

    // Halo rows ascend with the rank that they come from
    for (const Comm::Bytes& names : comm.swap(outgoing))
    {
        const std::vector<std::int64_t> ofRank = unpacked<std::int64_t>(names);
        result.insert(result.end(), ofRank.begin(), ofRank.end());
    }
    return result;
}

}
