// SPDX-License-Identifier: GPL-3.0-or-later
#include "group/UnitedGraph.hpp"

#include "base/Error.hpp"
#include "SplitMesh.hpp"
#include "ThreadComm.hpp"

#include <gmock/gmock.h>

#include <mutex>
#include <optional>

using namespace inSitu;

namespace
{

FaceMesh meshWithCyclics(std::mt19937& generator)
{
    FaceMesh mesh = randomFaceMesh(generator, true);
    for (FaceMesh::Patch& patch : mesh.patches)
    {
        if (patch.slides())
        {
            patch = {patch.firstFace, patch.cells};
        }
    }
    return mesh;
}


//- A mesh on ranks, of which some train
struct Groups
{
    Groups(std::mt19937& generator, int nRanks, const TrainerMap& theMap)
    :
        mesh(meshWithCyclics(generator)),
        whole(mesh.graph()),
        map(theMap)
    {
        FaceMesh::Indices ranks(mesh.nCells);
        for (std::int32_t& rank : ranks)
        {
            rank = static_cast<std::int32_t>(generator() % nRanks);
        }
        graphs.resize(nRanks);
        parts.resize(nRanks);
        onRanks(nRanks, [&](Comm& comm)
        {
            parts[comm.rank()] = std::make_unique<MeshPart>(mesh, ranks, comm.rank());
            graphs[comm.rank()] = parts[comm.rank()]->graph(comm);
        });
        for (int trainer = 0; trainer < map.nTrainers(); ++trainer)
        {
            std::vector<MeshGraph> members;
            for (const int rank : map.members[trainer])
            {
                members.push_back(*graphs[rank]);
            }
            united.emplace_back(members, map, trainer);
        }
    }

    //- Node of the whole mesh for a row of a trainer
    std::int32_t globalNode(int trainer, std::int32_t row) const
    {
        std::vector<std::vector<std::int32_t>> nodes;
        for (const int rank : map.members[trainer])
        {
            nodes.emplace_back();
            for (std::int32_t node = 0; node < graphs[rank]->nNodes(); ++node)
            {
                nodes.back().push_back(parts[rank]->globalNode(node));
            }
        }
        return united[trainer].rows(nodes, 1)[row];
    }

    //- Of the cell that stands behind each halo row
    std::vector<std::int32_t> behind(int trainer) const
    {
        std::vector<std::int32_t> cells;
        for (const HaloPlan::Neighbour& from : united[trainer].graph().halo()->neighbours)
        {
            const HaloPlan& there = *united[from.rank].graph().halo();
            auto cell = there.cells.begin();
            for (const HaloPlan::Neighbour& to : there.neighbours)
            {
                if (to.rank == trainer)
                {
                    EXPECT_EQ(to.nCells, from.nRows);
                    for (std::int32_t i = 0; i < to.nCells; ++i)
                    {
                        cells.push_back(globalNode(from.rank, cell[i]));
                    }
                }
                cell += to.nCells;
            }
        }
        return cells;
    }

    FaceMesh mesh;
    MeshGraph whole;
    TrainerMap map;
    std::vector<std::unique_ptr<MeshPart>> parts;
    std::vector<std::shared_ptr<const MeshGraph>> graphs;
    std::vector<UnitedGraph> united;
};


const std::vector<TrainerMap> maps
{
    TrainerMap::of({0, 0, 0, 0}, 1), TrainerMap::of({0, 0, 0, 0}, 2),
    TrainerMap::of({0, 1, 0, 1}, 1), TrainerMap::of({0, 0, 0, 3}, 1)
};

}


TEST(UnitedGraph, GroupsPutTogetherAreTheWholeGraph)
{
    std::mt19937 generator(7717);
    std::int64_t nHalo = 0;
    for (int trial = 0; trial < 40; ++trial)
    {
        const Groups groups(generator, 4, maps[trial % maps.size()]);
        std::vector<std::pair<std::int32_t, std::int32_t>> found, expected;
        for (std::int32_t e = 0; e < groups.whole.nEdges(); ++e)
        {
            expected.emplace_back(groups.whole.receivers()[e], groups.whole.senders()[e]);
        }
        for (int trainer = 0; trainer < groups.map.nTrainers(); ++trainer)
        {
            const MeshGraph& graph = groups.united[trainer].graph();
            const auto behind = groups.behind(trainer);
            ASSERT_EQ(behind.size(), graph.nHalo());
            EXPECT_TRUE(graph.nHalo() == 0 || groups.map.nTrainers() > 1);
            nHalo += graph.nHalo();
            std::vector<std::int32_t> nodes;
            for (std::int32_t row = 0; row < graph.nNodes(); ++row)
            {
                nodes.push_back(groups.globalNode(trainer, row));
            }
            nodes.insert(nodes.end(), behind.begin(), behind.end());
            for (std::int32_t e = 0; e < graph.nEdges(); ++e)
            {
                found.emplace_back(nodes[graph.receivers()[e]], nodes[graph.senders()[e]]);
                const std::int32_t reverse = graph.reverseEdge()[e];
                EXPECT_TRUE(reverse < 0 || graph.reverseEdge()[reverse] == e);
            }
        }
        std::sort(found.begin(), found.end());
        std::sort(expected.begin(), expected.end());
        EXPECT_EQ(found, expected) << "trial " << trial;
    }
    EXPECT_GT(nHalo, 100);
}


TEST(UnitedGraph, GeometryAndRowsFollowTheEdges)
{
    std::mt19937 generator(515);
    for (const TrainerMap& map : maps)
    {
        const Groups groups(generator, 4, map);
        const auto centreOf = [](std::int32_t node)
        {
            return std::vector<double>{0.3*node, 1.7*node*node, -0.9*node};
        };
        for (int trainer = 0; trainer < map.nTrainers(); ++trainer)
        {
            std::vector<MeshGeometry> geometries;
            for (const int rank : map.members[trainer])
            {
                const MeshGraph& graph = *groups.graphs[rank];
                MeshGeometry geometry;
                geometry.directions = {0, 2};
                for (std::int32_t node = 0; node < graph.nNodes(); ++node)
                {
                    const auto centre = centreOf(groups.parts[rank]->globalNode(node));
                    geometry.centres.insert(geometry.centres.end(), centre.begin(), centre.end());
                }
                for (std::int32_t cell = 0; cell < graph.nCells(); ++cell)
                {
                    geometry.cellVolumes.push_back(1.5 + groups.parts[rank]->globalNode(cell));
                }
                const auto edges = globalEdges(*groups.parts[rank], graph, groups.whole);
                for (std::int32_t e = 0; e < graph.nEdges(); ++e)
                {
                    if (graph.isCoupled(e))
                    {
                        geometry.displacements.insert(geometry.displacements.end(),
                            {1.0*groups.whole.receivers()[edges[e]],
                                1.0*groups.whole.senders()[edges[e]], 0.25});
                    }
                }
                geometries.push_back(geometry);
            }

            const UnitedGraph& united = groups.united[trainer];
            const MeshGraph& graph = united.graph();
            const MeshGeometry geometry = united.geometry(geometries);
            EXPECT_EQ(geometry.directions, (std::vector<int>{0, 2}));
            for (std::int32_t row = 0; row < graph.nNodes(); ++row)
            {
                const std::int32_t node = groups.globalNode(trainer, row);
                EXPECT_EQ(std::vector<double>(&geometry.centres[3*row],
                    &geometry.centres[3*row] + 3), centreOf(node));
                if (row < graph.nCells())
                {
                    EXPECT_EQ(geometry.cellVolumes[row], 1.5 + node);
                }
            }
            const auto behind = groups.behind(trainer);
            const double* way = geometry.displacements.data();
            for (std::int32_t e = 0; e < graph.nEdges(); ++e)
            {
                const std::int32_t sender = graph.senders()[e];
                if (graph.isCoupled(e))
                {
                    EXPECT_EQ(way[0], groups.globalNode(trainer, graph.receivers()[e]));
                    EXPECT_EQ(way[1], sender < graph.nNodes()
                        ? groups.globalNode(trainer, sender) : behind[sender - graph.nNodes()]);
                    way += 3;
                }
            }

            // To the members and back
            std::vector<double> rows(2*graph.nNodes());
            std::iota(rows.begin(), rows.end(), 0.5);
            std::vector<std::vector<double>> parts;
            for (std::size_t member = 0; member < map.members[trainer].size(); ++member)
            {
                parts.push_back(united.part(member, rows, 2, true));
                EXPECT_EQ(parts.back().size(),
                    2*groups.graphs[map.members[trainer][member]]->nNodes());
                EXPECT_EQ(united.part(member, rows, 2, false), std::vector<double>(
                    parts.back().begin(), parts.back().begin()
                        + 2*groups.graphs[map.members[trainer][member]]->nCells()));
            }
            EXPECT_EQ(united.rows(parts, 2), rows);
        }
    }
}


TEST(UnitedGraph, ContradictingHalosAreRefused)
{
    std::mt19937 generator(99);
    const Groups one(generator, 4, maps[0]);
    const Groups other(generator, 4, maps[0]);
    EXPECT_THROW(UnitedGraph({*one.graphs[0], *one.graphs[1], *other.graphs[2], *other.graphs[3]},
        maps[0], 0), Error);
}
