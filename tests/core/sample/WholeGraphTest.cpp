// SPDX-License-Identifier: GPL-3.0-or-later
#include "sample/WholeGraph.hpp"

#include "base/agree.hpp"
#include "SplitMesh.hpp"
#include "ThreadComm.hpp"

#include <gmock/gmock.h>

#include <mutex>
#include <numeric>

namespace inSitu
{
namespace
{

using Indices = FaceMesh::Indices;

//- Any numbers for a row of the whole mesh
std::vector<double> centreOf(std::int64_t node)
{
    return {0.25*node, 7 - 0.5*node, 1.5 + 0.125*node*node};
}


//- A state whose rows, faces and halo senders have these places in the whole mesh
MeshState stateOf(std::shared_ptr<const MeshGraph> graph, const Indices& nodes,
    const Indices& faces, const Indices& haloCells, const FaceMesh& whole)
{
    auto geometry = std::make_shared<MeshGeometry>();
    geometry->directions = {0, 2};
    auto features = std::make_shared<std::vector<float>>();
    for (std::int32_t node = 0; node < graph->nNodes(); ++node)
    {
        const std::vector<double> centre = centreOf(nodes[node]);
        geometry->centres.insert(geometry->centres.end(), centre.begin(), centre.end());
        features->insert(features->end(), {2.0f*nodes[node], 1.0f - nodes[node]});
        if (node < graph->nCells())
        {
            geometry->cellVolumes.push_back(0.5 + nodes[node]);
        }
    }
    for (std::int32_t edge = 0; edge < graph->nEdges(); ++edge)
    {
        if (!graph->isCoupled(edge))
        {
            continue;
        }
        // Through a cyclic patch as the face says, through a cut face straight on
        const std::int32_t face = faces[graph->faceOf()[edge]];
        std::vector<double> way{1.0*face, 0.5, -0.25*face};
        if (face < static_cast<std::int32_t>(whole.owner.size()))
        {
            const std::vector<double> to = centreOf(nodes[graph->receivers()[edge]]);
            way = centreOf(haloCells[graph->senders()[edge] - graph->nNodes()]);
            std::transform(way.begin(), way.end(), to.begin(), way.begin(), std::minus<double>());
        }
        geometry->displacements.insert(geometry->displacements.end(), way.begin(), way.end());
    }

    auto ids = std::make_shared<RowIds>(RowIds::asNumbered(*graph));
    std::copy(nodes.begin(), nodes.begin() + graph->nCells(), ids->cells.begin());
    for (std::int64_t& face : ids->faces)
    {
        face = faces[face];
    }
    MeshState state;
    state.graph = std::move(graph);
    state.geometry = geometry;
    state.staticFeatures = features;
    state.ids = ids;
    return state;
}


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

}


TEST(WholeGraph, PartsGiveTheGraphOfTheWholeMesh)
{
    std::mt19937 generator(5081);
    for (int trial = 0; trial < 60; ++trial)
    {
        const FaceMesh mesh = randomMesh(generator);
        auto graph = std::make_shared<const MeshGraph>(mesh.graph());
        Indices nodes(graph->nNodes()), faces(graph->nEdges() + 1000);
        std::iota(nodes.begin(), nodes.end(), 0);
        std::iota(faces.begin(), faces.end(), 0);
        const MeshState whole = stateOf(graph, nodes, faces, {}, mesh);

        const int nRanks = 1 + trial % 4;
        Indices ranks(mesh.nCells);
        for (std::int32_t& rank : ranks)
        {
            rank = static_cast<std::int32_t>(generator() % nRanks);
        }
        WholeGraph found;
        onRanks(nRanks, [&](Comm& comm)
        {
            const MeshPart part(mesh, ranks, comm.rank());
            const auto ofPart = part.graph(comm);
            Indices here;
            for (std::int32_t node = 0; node < ofPart->nNodes(); ++node)
            {
                here.push_back(part.globalNode(node));
            }
            Indices cellsOf;
            for (const HaloLink& link : part.links)
            {
                std::int32_t cell = -1;
                for (std::int32_t left = link.remoteCell; left >= 0; )
                {
                    left -= ranks[++cell] == link.rank;
                }
                cellsOf.push_back(cell);
            }
            WholeGraph graphHere =
                WholeGraph::of(stateOf(ofPart, here, part.faces, cellsOf, mesh), 2, comm);
            if (comm.isMaster())
            {
                found = std::move(graphHere);
            }
            else
            {
                EXPECT_TRUE(graphHere.centres.empty() && graphHere.senders.empty());
            }
        });

        EXPECT_EQ(found.nCells, mesh.nCells);
        EXPECT_EQ(found.nNodes(), graph->nNodes());
        EXPECT_TRUE(std::equal(found.senders.begin(), found.senders.end(),
            graph->senders().begin(), graph->senders().end())) << "trial " << trial;
        EXPECT_TRUE(std::equal(found.receivers.begin(), found.receivers.end(),
            graph->receivers().begin(), graph->receivers().end())) << "trial " << trial;
        EXPECT_EQ(found.edges, edgeFeatures(*graph, *whole.geometry)) << "trial " << trial;
        EXPECT_EQ(found.staticFeatures, *whole.staticFeatures);
        EXPECT_EQ(found.centres, whole.geometry->centres);
        EXPECT_EQ(found.cellVolumes, whole.geometry->cellVolumes);
        EXPECT_EQ(found.faces, RowIds::asNumbered(*graph).faces);
        EXPECT_TRUE(found.complete && found.undecomposed);
    }
}


TEST(WholeGraph, NamesThatDoNotCountTheCellsAreAnErrorOnAll)
{
    std::mt19937 generator(11);
    const FaceMesh mesh = randomMesh(generator);
    const Indices ranks(mesh.nCells, 0);
    int nFaults = 0;
    onRanks(1, [&](Comm& comm)
    {
        auto graph = std::make_shared<const MeshGraph>(mesh.graph());
        Indices nodes(graph->nNodes()), faces(graph->nEdges() + 1000);
        std::iota(nodes.begin(), nodes.end(), 0);
        std::iota(faces.begin(), faces.end(), 0);
        MeshState state = stateOf(graph, nodes, faces, {}, mesh);
        for (const std::int64_t wrong : {std::int64_t(0), std::int64_t(-1),
            std::int64_t(mesh.nCells)})
        {
            auto ids = std::make_shared<RowIds>(*state.ids);
            ids->cells[1] = wrong;
            state.ids = ids;
            try
            {
                WholeGraph::of(state, 2, comm);
            }
            catch (const AgreedError& fault)
            {
                EXPECT_THAT(fault.what(), testing::HasSubstr("do not count them"));
                ++nFaults;
            }
        }
    });
    EXPECT_EQ(nFaults, 3);
}

}
