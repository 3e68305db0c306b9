// SPDX-License-Identifier: GPL-3.0-or-later
#include "group/UnitedGraph.hpp"

#include "base/Error.hpp"
#include "graph/countingOrder.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <tuple>

namespace inSitu
{
namespace
{

using Index = GraphIndex;
using Indices = GraphIndices;


//- The part of a member's halo that concerns another rank
struct Segment
{
    int trainer;                //!< of the other rank
    int receiver;               //!< rank whose cells receive
    int sender;
    std::size_t member;         //!< here
    Index firstRow, nRows;      //!< of the member's halo rows
    Index firstCell, nCells;    //!< of its HaloPlan::cells
};


//- The same order on both sides of a message
auto key(const Segment& segment)
{
    return std::tie(segment.trainer, segment.receiver, segment.sender);
}


std::vector<Segment> segmentsOf(const std::vector<MeshGraph>& parts, const TrainerMap& map,
    const std::vector<int>& ranks, bool sent)
{
    std::vector<Segment> segments;
    for (std::size_t m = 0; m < parts.size(); ++m)
    {
        if (!parts[m].halo())
        {
            continue;
        }
        Segment segment{0, 0, 0, m, 0, 0, 0, 0};
        for (const HaloPlan::Neighbour& neighbour : parts[m].halo()->neighbours)
        {
            segment.trainer = map.trainerOf.at(neighbour.rank);
            segment.receiver = sent ? neighbour.rank : ranks[m];
            segment.sender = sent ? ranks[m] : neighbour.rank;
            segment.nRows = neighbour.nRows;
            segment.nCells = neighbour.nCells;
            segments.push_back(segment);
            segment.firstRow += neighbour.nRows;
            segment.firstCell += neighbour.nCells;
        }
    }
    std::sort(segments.begin(), segments.end(),
        [](const Segment& a, const Segment& b) { return key(a) < key(b); });
    return segments;
}


std::vector<Index> starts(const std::vector<MeshGraph>& parts, const char* what,
    const std::function<std::int64_t(const MeshGraph&)>& count)
{
    std::int64_t total = 0;
    std::vector<Index> result{0};
    for (const MeshGraph& part : parts)
    {
        total += count(part);
        requireIndices(total, what);
        result.push_back(static_cast<Index>(total));
    }
    return result;
}


std::int64_t nOtherFaces(const MeshGraph& graph)
{
    const auto faces = graph.faceOf();
    const auto last = std::max_element(faces.begin(), faces.end());
    return last == faces.end() ? 0 : std::max(*last + 1 - graph.nInternalFaces(), 0);
}


//- Halo rows of the members: rows of the group, or halo rows of the new graph from nNodes on
std::vector<Indices> haloSenders(const std::vector<MeshGraph>& parts, const TrainerMap& map,
    int trainer, const Indices& cellStart, Index nNodes, HaloPlan& plan)
{
    const std::vector<int>& ranks = map.members[trainer];
    const std::vector<Segment> out = segmentsOf(parts, map, ranks, true);
    const std::vector<Segment> in = segmentsOf(parts, map, ranks, false);
    std::vector<Indices> senders;
    for (const MeshGraph& part : parts)
    {
        senders.emplace_back(part.nHalo());
    }

    auto from = out.begin();
    for (const Segment& segment : in)
    {
        // Each neighbour occurs on both sides
        const Segment& match = *from++;
        if (segment.trainer == trainer)
        {
            if (key(segment) != key(match) || segment.nRows != match.nCells)
            {
                throw Error("ranks " + std::to_string(segment.receiver) + " and "
                    + std::to_string(segment.sender) + " do not agree on their common faces");
            }
            const Index* cell = &parts[match.member].halo()->cells[match.firstCell];
            for (Index row = segment.firstRow; row < segment.firstRow + segment.nRows; ++row)
            {
                senders[segment.member][row] = cellStart[match.member] + *cell++;
            }
            continue;
        }
        if (plan.neighbours.empty() || plan.neighbours.back().rank != segment.trainer)
        {
            plan.neighbours.push_back({segment.trainer, 0, 0});
        }
        plan.neighbours.back().nRows += segment.nRows;
        for (Index row = segment.firstRow; row < segment.firstRow + segment.nRows; ++row)
        {
            senders[segment.member][row] = nNodes + plan.nRows++;
        }
    }

    auto neighbour = plan.neighbours.begin();
    for (const Segment& segment : out)
    {
        if (segment.trainer == trainer)
        {
            continue;
        }
        neighbour += neighbour->rank != segment.trainer;
        neighbour->nCells += segment.nCells;
        const auto first = parts[segment.member].halo()->cells.begin() + segment.firstCell;
        std::transform(first, first + segment.nCells, std::back_inserter(plan.cells),
            [&](Index cell) { return cellStart[segment.member] + cell; });
    }
    return senders;
}

}


UnitedGraph::UnitedGraph(const std::vector<MeshGraph>& parts, const TrainerMap& map, int trainer)
:
    cellStart_(starts(parts, "cells", [](const MeshGraph& part) { return part.nCells(); })),
    boundaryStart_(starts(parts, "rows", [](const MeshGraph& part) { return part.nBoundary(); }))
{
    const Indices internalStart =
        starts(parts, "faces", [](const MeshGraph& part) { return part.nInternalFaces(); });
    const Indices otherStart = starts(parts, "faces", nOtherFaces);
    const Indices edgeStart =
        starts(parts, "edges", [](const MeshGraph& part) { return part.nEdges(); });
    const Index nCells = cellStart_.back();
    requireIndices(std::int64_t(nCells) + boundaryStart_.back(), "nodes");
    const Index nNodes = nCells + boundaryStart_.back();

    HaloPlan plan;
    const std::vector<Indices> halo =
        haloSenders(parts, map, trainer, cellStart_, nNodes, plan);

    struct Edge
    {
        Index sender, face, edge;
    };
    std::vector<Edge> row;
    Indices receiverStart, senders, faces, reverse(edgeStart.back(), -1);
    receiverStart.reserve(nNodes + std::size_t(1));
    senders.reserve(edgeStart.back());
    faces.reserve(edgeStart.back());
    for (std::size_t m = 0; m < parts.size(); ++m)
    {
        const MeshGraph& part = parts[m];
        places_.emplace_back(part.nEdges());
        for (Index cell = 0; cell < part.nCells(); ++cell)
        {
            row.clear();
            for (Index e = part.receiverStart()[cell]; e < part.receiverStart()[cell + 1]; ++e)
            {
                const Index sender = part.senders()[e];
                const Index face = part.faceOf()[e];
                const Index behind = face - part.nInternalFaces();
                row.push_back
                ({
                    sender < part.nCells() ? cellStart_[m] + sender
                  : sender < part.nNodes() ? nCells + boundaryStart_[m] + sender - part.nCells()
                  : halo[m][sender - part.nNodes()],
                    behind < 0 ? internalStart[m] + face
                  : internalStart.back() + otherStart[m] + behind,
                    e
                });
            }
            std::sort(row.begin(), row.end(), [](const Edge& a, const Edge& b)
                { return std::tie(a.sender, a.face) < std::tie(b.sender, b.face); });
            receiverStart.push_back(static_cast<Index>(senders.size()));
            for (const Edge& edge : row)
            {
                places_[m][edge.edge] = static_cast<Index>(senders.size());
                senders.push_back(edge.sender);
                faces.push_back(edge.face);
            }
        }
        for (Index e = 0; e < part.nEdges(); ++e)
        {
            const Index back = part.reverseEdge()[e];
            reverse[places_[m][e]] = back < 0 ? -1 : places_[m][back];
        }
    }
    receiverStart.resize(nNodes + std::size_t(1), static_cast<Index>(senders.size()));

    StateTree state;
    state.putInt("nCells", nCells);
    state.putInt("nBoundary", boundaryStart_.back());
    state.putInt("nInternalFaces", internalStart.back());
    state.put("receiverStart", receiverStart);
    state.put("senders", senders);
    state.put("faceOf", faces);
    state.put("reverseEdge", reverse);
    if (parts.front().halo())
    {
        state.putTree("halo", plan.save());
    }
    graph_ = MeshGraph::load(state);
}


MeshGeometry UnitedGraph::geometry(const std::vector<MeshGeometry>& parts) const
{
    MeshGeometry result;
    result.directions = parts.front().directions;
    std::vector<std::vector<double>> centres, volumes;
    std::vector<double> ways(3*static_cast<std::size_t>(graph_.nEdges()));
    for (std::size_t m = 0; m < parts.size(); ++m)
    {
        centres.push_back(parts[m].centres);
        volumes.push_back(parts[m].cellVolumes);
        const double* way = parts[m].displacements.data();
        for (const Index place : places_[m])
        {
            if (graph_.isCoupled(place))
            {
                std::copy_n(way, 3, &ways[3*static_cast<std::size_t>(place)]);
                way += 3;
            }
        }
    }
    result.centres = rows(centres, 3);
    result.cellVolumes = rows(volumes, 1);
    for (Index edge = 0; edge < graph_.nEdges(); ++edge)
    {
        if (graph_.isCoupled(edge))
        {
            const double* way = &ways[3*static_cast<std::size_t>(edge)];
            result.displacements.insert(result.displacements.end(), way, way + 3);
        }
    }
    result.requireFits(graph_);
    return result;
}

}
