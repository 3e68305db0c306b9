// SPDX-License-Identifier: GPL-3.0-or-later
#include "sample/WholeGraph.hpp"

#include "base/agree.hpp"
#include "base/packed.hpp"
#include "sample/EdgeGather.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace inSitu
{
namespace
{

using Numbers = std::vector<std::int64_t>;

//- Of each rank, where its rows or edges go; on the master
using Places = std::vector<Numbers>;


//- Values [rows here, width] of each rank → [nRows, width] on the master
template<class T>
std::vector<T> gathered(const std::vector<T>& here, std::size_t width, std::int64_t nRows,
    const Places& places, const Comm& comm)
{
    const std::vector<Comm::Bytes> parts = comm.gather(packed(here));
    std::vector<T> whole;
    together(comm, [&]
    {
        whole.resize(comm.isMaster() ? static_cast<std::size_t>(nRows)*width : 0);
        for (std::size_t rank = 0; rank < parts.size(); ++rank)
        {
            const std::size_t bytesPerRow = width*sizeof(T);
            for (std::size_t i = 0; (i + 1)*bytesPerRow <= parts[rank].size(); ++i)
            {
                std::memcpy(&whole[places[rank][i]*width], &parts[rank][i*bytesPerRow],
                    bytesPerRow);
            }
        }
    });
    return whole;
}


void requireCount(const Numbers& cells, std::vector<bool>& found)
{
    for (const std::int64_t cell : cells)
    {
        if (cell < 0 || cell >= static_cast<std::int64_t>(found.size()) || found[cell])
        {
            throw Error("the names of " + std::to_string(found.size()) + " cells do not count"
                " them: " + std::to_string(cell) + " is outside, or there twice");
        }
        found[cell] = true;
    }
}


//- Of cells and boundary rows; faces: the names of the latter in their order
Places rowPlaces(const RowIds& ids, std::int64_t& nCells, Numbers& faces, const Comm& comm)
{
    const std::vector<Comm::Bytes> cells = comm.gather(packed(ids.cells));
    const std::vector<Comm::Bytes> boundary = comm.gather(packed(ids.faces));
    Places places;
    together(comm, [&]
    {
        for (std::size_t rank = 0; rank < cells.size(); ++rank)
        {
            places.push_back(unpacked<std::int64_t>(cells[rank]));
            nCells += static_cast<std::int64_t>(places.back().size());
            const Numbers names = unpacked<std::int64_t>(boundary[rank]);
            faces.insert(faces.end(), names.begin(), names.end());
        }
        std::vector<bool> found(static_cast<std::size_t>(nCells), false);
        for (const Numbers& ofRank : places)
        {
            requireCount(ofRank, found);
        }

        Numbers order(faces.size()), rowOf(faces.size());
        std::iota(order.begin(), order.end(), 0);
        std::sort(order.begin(), order.end(),
            [&](std::int64_t a, std::int64_t b) { return faces[a] < faces[b]; });
        for (std::size_t i = 0; i < order.size(); ++i)
        {
            rowOf[order[i]] = nCells + static_cast<std::int64_t>(i);
        }
        auto row = rowOf.begin();
        for (std::size_t rank = 0; rank < places.size(); ++rank)
        {
            const auto n = static_cast<std::ptrdiff_t>(boundary[rank].size()/sizeof(*row));
            places[rank].insert(places[rank].end(), row, row + n);
            row += n;
        }
        std::sort(faces.begin(), faces.end());
    });
    return places;
}


//- Senders as rows of this rank, or -1 - name for cells of other ranks
Numbers sendersOf(const MeshGraph& graph, const RowIds& ids, const Comm& comm)
{
    const Numbers halo = haloIds(graph, ids, comm);
    Numbers senders(graph.senders().begin(), graph.senders().end());
    for (std::int64_t& sender : senders)
    {
        if (sender >= graph.nNodes())
        {
            sender = -1 - halo[sender - graph.nNodes()];
        }
    }
    return senders;
}


//- Senders and receivers of all edges in their order; returns where the edges of the ranks go
Places placeEdges(WholeGraph& whole, const Places& rows, const MeshGraph& graph,
    const RowIds& ids, const Comm& comm)
{
    const std::vector<Comm::Bytes> starts = comm.gather(packed(std::vector<std::int32_t>
        (graph.receiverStart().begin(), graph.receiverStart().end())));
    const std::vector<Comm::Bytes> parts = comm.gather(packed(sendersOf(graph, ids, comm)));
    Places places(parts.size());
    together(comm, [&]
    {
        // Where the edges of each receiver begin
        Numbers begin(static_cast<std::size_t>(comm.isMaster() ? whole.nNodes() : 0) + 1, 0);
        std::vector<std::vector<std::int32_t>> startOf;
        for (std::size_t rank = 0; rank < parts.size(); ++rank)
        {
            startOf.push_back(unpacked<std::int32_t>(starts[rank]));
            for (std::size_t row = 0; row < rows[rank].size(); ++row)
            {
                begin[rows[rank][row] + 1] = startOf[rank][row + 1] - startOf[rank][row];
            }
        }
        std::partial_sum(begin.begin(), begin.end(), begin.begin());
        whole.senders.resize(static_cast<std::size_t>(begin.back()));
        whole.receivers.resize(whole.senders.size());

        for (std::size_t rank = 0; rank < parts.size(); ++rank)
        {
            Numbers senders = unpacked<std::int64_t>(parts[rank]);
            for (std::int64_t& sender : senders)
            {
                sender = sender < 0 ? -1 - sender : rows[rank][sender];
            }
            places[rank].resize(senders.size());
            Numbers order(senders.size());
            std::iota(order.begin(), order.end(), 0);
            for (std::size_t row = 0; row < rows[rank].size(); ++row)
            {
                const auto first = order.begin() + startOf[rank][row];
                const auto last = order.begin() + startOf[rank][row + 1];
                std::stable_sort(first, last, [&](std::int64_t a, std::int64_t b)
                    { return senders[a] < senders[b]; });
                std::int64_t place = begin[rows[rank][row]];
                for (auto edge = first; edge != last; ++edge, ++place)
                {
                    places[rank][*edge] = place;
                    whole.senders[place] = senders[*edge];
                    whole.receivers[place] = rows[rank][row];
                }
            }
        }
    });
    return places;
}

}


WholeGraph WholeGraph::of(const MeshState& mesh, std::size_t nStaticColumns, const Comm& comm)
{
    const MeshGraph& graph = *mesh.graph;
    const MeshGeometry& geometry = *mesh.geometry;
    const std::shared_ptr<const RowIds> ids = mesh.names();

    WholeGraph whole;
    whole.undecomposed = ids->undecomposed;
    whole.complete = !mesh.ids || graph.halo();

    const Places rows = rowPlaces(*ids, whole.nCells, whole.faces, comm);
    whole.staticFeatures =
        gathered(*mesh.staticFeatures, nStaticColumns, whole.nNodes(), rows, comm);
    whole.centres = gathered(geometry.centres, 3, whole.nNodes(), rows, comm);
    whole.cellVolumes = gathered(geometry.cellVolumes, 1, whole.nCells, rows, comm);

    const Places edges = placeEdges(whole, rows, graph, *ids, comm);
    whole.edges = gathered(edgeFeatures(graph, geometry),
        static_cast<std::size_t>(geometry.nEdgeFeatures()), whole.nEdges(), edges, comm);
    if (!mesh.ids)
    {
        whole.edgeFaces.resize(edges.front().size());
        whole.edgeSigns.resize(edges.front().size());
        for (std::int32_t edge = 0; edge < graph.nEdges(); ++edge)
        {
            const std::int64_t place = edges.front()[edge];
            whole.edgeFaces[place] = graph.faceOf()[edge];
            whole.edgeSigns[place] = runsBackward(graph, edge, graph.receivers()[edge]) ? -1 : 1;
        }
    }
    return whole;
}

}
