// SPDX-License-Identifier: GPL-3.0-or-later
#include "graph/MeshGraph.hpp"

#include "base/Error.hpp"
#include "SplitMesh.hpp"
#include "ThreadComm.hpp"

#include <gmock/gmock.h>

#include <mutex>

using namespace inSitu;

namespace
{

// A random mesh with boundaries and cyclics, and a random rank for each cell
FaceMesh randomMesh(std::mt19937& generator)
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


FaceMesh::Indices randomRanks(std::mt19937& generator, std::int32_t nCells, int nRanks)
{
    FaceMesh::Indices ranks(nCells);
    for (std::int32_t& rank : ranks)
    {
        rank = static_cast<std::int32_t>(generator() % nRanks);
    }
    return ranks;
}

}


TEST(MeshGraphHalo, PartsPutTogetherAreTheWholeGraph)
{
    std::mt19937 generator(20261);
    for (int trial = 0; trial < 60; ++trial)
    {
        const FaceMesh mesh = randomMesh(generator);
        const MeshGraph whole = mesh.graph();
        const int nRanks = 1 + trial % 4;
        const auto ranks = randomRanks(generator, mesh.nCells, nRanks);

        std::mutex mutex;
        std::vector<int> found(whole.nEdges(), 0);
        onRanks(nRanks, [&](Comm& comm)
        {
            const MeshPart part(mesh, ranks, comm.rank());
            const auto graph = part.graph(comm);
            const auto edges = globalEdges(part, *graph, whole);
            const std::lock_guard<std::mutex> lock(mutex);
            for (std::int32_t e = 0; e < graph->nEdges(); ++e)
            {
                ++found[edges[e]];
                const std::int32_t sender = graph->senders()[e];
                if (sender < graph->nNodes())
                {
                    EXPECT_EQ(part.globalNode(sender), whole.senders()[edges[e]]);
                }
                else
                {
                    const HaloLink& link = part.links[sender - graph->nNodes()];
                    EXPECT_EQ(ranks[whole.senders()[edges[e]]], link.rank);
                    EXPECT_EQ(graph->haloEdge()[sender - graph->nNodes()], e);
                    EXPECT_TRUE(graph->isCoupled(e));
                }
                const std::int32_t reverse = graph->reverseEdge()[e];
                EXPECT_EQ(reverse < 0 || graph->reverseEdge()[reverse] == e, true);
            }
        });
        EXPECT_THAT(found, testing::Each(1)) << "trial " << trial;
    }
}


TEST(MeshGraphHalo, WhatIsSentIsWhatTheHaloRowsStandFor)
{
    std::mt19937 generator(90173);
    for (int trial = 0; trial < 40; ++trial)
    {
        const FaceMesh mesh = randomMesh(generator);
        const MeshGraph whole = mesh.graph();
        const auto ranks = randomRanks(generator, mesh.nCells, 3);
        onRanks(3, [&](Comm& comm)
        {
            const MeshPart part(mesh, ranks, comm.rank());
            const auto graph = part.graph(comm);
            const HaloPlan& plan = *graph->halo();

            // Send global names of the cells as the plan says
            std::vector<Comm::Bytes> outgoing(3);
            auto cell = plan.cells.begin();
            for (const HaloPlan::Neighbour& neighbour : plan.neighbours)
            {
                for (std::int32_t i = 0; i < neighbour.nCells; ++i)
                {
                    outgoing[neighbour.rank].push_back(
                        static_cast<std::uint8_t>(part.cells[*cell++]));
                }
            }
            ASSERT_EQ(cell, plan.cells.end());
            const std::vector<Comm::Bytes> incoming = comm.swap(outgoing);

            const auto edges = globalEdges(part, *graph, whole);
            std::int32_t row = 0;
            for (const HaloPlan::Neighbour& neighbour : plan.neighbours)
            {
                ASSERT_EQ(static_cast<std::int32_t>(incoming[neighbour.rank].size()),
                    neighbour.nRows);
                for (const std::uint8_t name : incoming[neighbour.rank])
                {
                    EXPECT_EQ(name, whole.senders()[edges[graph->haloEdge()[row++]]]);
                }
            }
            EXPECT_EQ(row, graph->nHalo());

            // What comes back leaves the cell that was sent, in the order of the plan
            for (std::int32_t k = 0; k < plan.nSent(); ++k)
            {
                const std::int32_t c = plan.cells[k];
                const auto first = graph->senderEdge().begin() + graph->senderStart()[c];
                const auto last = graph->senderEdge().begin() + graph->senderStart()[c + 1];
                EXPECT_EQ(std::count(first, last, graph->nEdges() + k), 1);
                EXPECT_TRUE(std::is_sorted(first, last));
            }
        });
    }
}


TEST(MeshGraphHalo, StateKeepsIt)
{
    std::mt19937 generator(5);
    const FaceMesh mesh = randomMesh(generator);
    const auto ranks = randomRanks(generator, mesh.nCells, 2);
    onRanks(2, [&](Comm& comm)
    {
        const auto graph = MeshPart(mesh, ranks, comm.rank()).graph(comm);
        ASSERT_GT(graph->nHalo(), 3);
        const MeshGraph again = MeshGraph::load(graph->save());
        EXPECT_TRUE(again == *graph);
        EXPECT_EQ(firstDifference(*graph, again), "");

        StateTree state = graph->save();
        std::vector<std::int32_t> cells = state.get<std::int32_t>("halo/cells");
        cells.back() += graph->nCells();
        state.put("halo/cells", cells);
        EXPECT_THROW(MeshGraph::load(state), Error);
    });
}


TEST(MeshGraphHalo, WrongLinksAreRefused)
{
    onRanks(2, [](Comm& comm)
    {
        const MeshGraph graph = MeshGraph::fromFaces(3, std::vector<std::int32_t>{0, 1},
            std::vector<std::int32_t>{1, 2});
        const int other = 1 - comm.rank();
        const auto message = [&](const HaloLink& link) -> std::string
        {
            try
            {
                graph.withHalo({link}, comm);
            }
            catch (const Error& fault)
            {
                return fault.what();
            }
            return "";
        };
        EXPECT_THAT(message({3, 2, other, 0}), testing::HasSubstr("to cell 3"));
        EXPECT_THAT(message({2, 1, other, 0}), testing::HasSubstr("through face 1"));
        EXPECT_THAT(message({2, 2, other, 7}), testing::HasSubstr("asks for cell 7"));
        EXPECT_THAT(message({2, 2, 2, 0}), testing::HasSubstr("rank 2"));
        EXPECT_EQ(message({2, 2, other, 2}), "");
    });
}
