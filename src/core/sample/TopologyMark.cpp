// SPDX-License-Identifier: GPL-3.0-or-later
#include "sample/TopologyMark.hpp"

namespace inSitu
{
namespace
{

//- Interfaces that slide are no part of the topology; halos are there without them only
const MeshGraph& topologyOf(const MeshState& mesh)
{
    return mesh.graph->halo() ? *mesh.graph : *mesh.rows();
}


//- The finaliser of SplitMix64 (Steele, Lea and Flood, Fast splittable pseudorandom number
//  generators, OOPSLA 2014)
std::uint64_t mix(std::uint64_t z)
{
    z += 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30))*0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27))*0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}


std::uint64_t mix(std::int64_t a, std::int64_t b)
{
    return mix(mix(static_cast<std::uint64_t>(a)) ^ static_cast<std::uint64_t>(b));
}


//- Modulo 2^64, over the ranks
std::int64_t sumOf(std::uint64_t here, const Comm& comm)
{
    double halves[2] = {static_cast<double>(here & 0xffffffffULL), static_cast<double>(here >> 32)};
    comm.sum(Span<double>(halves, 2));
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(halves[0])
        + (static_cast<std::uint64_t>(halves[1]) << 32));
}

}


TopologyMark TopologyMark::of(const MeshState& mesh, const RowIds& ids, const Comm& comm)
{
    const MeshGraph& graph = topologyOf(mesh);
    const std::vector<std::int64_t> halo = haloIds(graph, ids, comm);
    std::uint64_t rows = 0;
    std::uint64_t edges = 0;
    for (std::int32_t cell = 0; cell < graph.nCells(); ++cell)
    {
        const std::int64_t receiver = ids.cells[cell];
        rows += mix(static_cast<std::uint64_t>(receiver));
        for (auto e = graph.receiverStart()[cell]; e < graph.receiverStart()[cell + 1]; ++e)
        {
            const std::int32_t sender = graph.senders()[e];
            if (sender < graph.nCells())
            {
                edges += mix(ids.cells[sender], receiver);
            }
            else if (sender < graph.nNodes())
            {
                rows += mix(ids.faces[sender - graph.nCells()], receiver);
            }
            else
            {
                edges += mix(halo[sender - graph.nNodes()], receiver);
            }
        }
    }
    return
    {
        sumOf(rows, comm),
        sumOf(edges, comm),
        !mesh.ids || graph.halo() != nullptr,
        ids.undecomposed
    };
}


bool TopologyMark::isSame(const TopologyMark& other) const
{
    return rows == other.rows && (edges == other.edges || !complete || !other.complete);
}


StateTree TopologyMark::save() const
{
    StateTree state;
    state.putInt("rows", rows);
    state.putInt("edges", edges);
    state.putInt("complete", complete);
    state.putInt("undecomposed", undecomposed);
    return state;
}


TopologyMark TopologyMark::load(const StateTree& state)
{
    return {state.getInt("rows"), state.getInt("edges"), state.getInt("complete") != 0,
        state.getInt("undecomposed") != 0};
}


std::int64_t topologyChecksum(const MeshState& mesh)
{
    const MeshGraph& graph = topologyOf(mesh);
    std::uint64_t sum = 0;
    const auto add = [&](Span<const std::int32_t> values)
    {
        for (const std::int32_t value : values)
        {
            sum = mix(sum ^ static_cast<std::uint64_t>(value));
        }
    };
    add(graph.receiverStart());
    add(graph.senders());
    add(graph.faceOf());
    if (graph.halo())
    {
        add(graph.halo()->cells);
        for (const HaloPlan::Neighbour& neighbour : graph.halo()->neighbours)
        {
            const std::int32_t numbers[3] = {neighbour.rank, neighbour.nRows, neighbour.nCells};
            add(Span<const std::int32_t>(numbers, 3));
        }
    }
    return static_cast<std::int64_t>(sum);
}

}
