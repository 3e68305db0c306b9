// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/GraphFile.hpp"

#include "base/agree.hpp"
#include "io/Disk.hpp"
#include "io/Hdf5File.hpp"
#include "sample/WholeGraph.hpp"

namespace inSitu
{
namespace
{

StateTree treeOf(const WholeGraph& graph, const std::vector<std::string>& edgeNames,
    const std::vector<std::string>& staticColumns)
{
    const auto share = [](const auto& values, StateTree::Type type,
        std::vector<std::int64_t> shape)
    {
        return StateTree::Array{type, std::move(shape),
            std::shared_ptr<const void>(std::shared_ptr<void>(), values.data())};
    };
    using Type = StateTree::Type;
    const std::int64_t nNodes = graph.nNodes();
    const std::int64_t nEdges = graph.nEdges();
    std::vector<std::int64_t> edgeIndex = graph.senders;
    edgeIndex.insert(edgeIndex.end(), graph.receivers.begin(), graph.receivers.end());

    StateTree tree;
    tree.putText("kind", "mesh_graph");
    tree.put("edge_index", Span<const std::int64_t>(edgeIndex), {{2, nEdges}});
    tree.putArray("edges", share(graph.edges, Type::float64,
        {nEdges, static_cast<std::int64_t>(edgeNames.size())}));
    tree.putText("edges/names", join(edgeNames));
    if (graph.edgeFaces.size() == graph.senders.size())
    {
        tree.put("edge_face", graph.edgeFaces);
        tree.put("edge_sign", graph.edgeSigns);
    }
    tree.putArray("static", share(graph.staticFeatures, Type::float32,
        {nNodes, static_cast<std::int64_t>(staticColumns.size())}));
    tree.putText("static/names", join(staticColumns));
    tree.putArray("centres", share(graph.centres, Type::float64, {nNodes, 3}));
    tree.put("cell_volumes", graph.cellVolumes);
    tree.putInt("n_nodes", nNodes);
    tree.putInt("n_cells", graph.nCells);
    tree.putInt("n_boundary", nNodes - graph.nCells);
    tree.putInt("n_edges", nEdges);
    if (graph.undecomposed)
    {
        tree.put("faces", graph.faces);
    }
    else
    {
        tree.putText("order", "ranks");
    }
    if (!graph.complete)
    {
        tree.putText("missing", "edges between ranks");
    }
    return tree;
}

}


void writeGraphFile(const std::string& path, const MeshState& mesh,
    const std::vector<std::string>& staticColumns, const Comm& comm)
{
    const WholeGraph graph = WholeGraph::of(mesh, staticColumns.size(), comm);
    together(comm, [&]
    {
        if (comm.isMaster())
        {
            const std::string temporary = temporaryName(path);
            const RemoveAtExit remover(temporary);
            removeLeftovers(path);
            writeHdf5(temporary,
                treeOf(graph, mesh.geometry->edgeFeatureNames(), staticColumns));
            publishFile(path);
        }
    });
}

}
