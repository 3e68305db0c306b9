// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/GraphFile.hpp"

#include "base/Error.hpp"
#include "io/Disk.hpp"
#include "io/Hdf5File.hpp"

namespace inSitu
{

void writeGraphFile(const std::string& path, const MeshState& mesh,
    const std::vector<std::string>& staticColumns)
{
    const MeshGraph& graph = *mesh.graph;
    const MeshGeometry& geometry = *mesh.geometry;
    const std::int64_t nEdges = graph.nEdges();
    const std::int64_t nNodes = graph.nNodes();

    std::vector<std::int64_t> edgeIndex(graph.senders().begin(), graph.senders().end());
    edgeIndex.insert(edgeIndex.end(), graph.receivers().begin(), graph.receivers().end());

    const std::vector<double> features = edgeFeatures(graph, geometry);

    StateTree tree;
    tree.putText("kind", "mesh_graph");
    tree.put("edge_index", Span<const std::int64_t>(edgeIndex), {{2, nEdges}});
    tree.put("edges", Span<const double>(features),
        {{nEdges, geometry.nEdgeFeatures()}});
    tree.putText("edges/names", join(geometry.edgeFeatureNames()));
    tree.put("static", Span<const float>(*mesh.staticFeatures),
        {{nNodes, static_cast<std::int64_t>(staticColumns.size())}});
    tree.putText("static/names", join(staticColumns));
    tree.put("centres", Span<const double>(geometry.centres), {{nNodes, 3}});
    tree.put("cell_volumes", geometry.cellVolumes);
    tree.putInt("n_nodes", nNodes);
    tree.putInt("n_cells", graph.nCells());
    tree.putInt("n_boundary", graph.nBoundary());
    tree.putInt("n_edges", nEdges);

    const std::string temporary = temporaryName(path);
    const RemoveAtExit remover(temporary);
    removeLeftovers(path);
    writeHdf5(temporary, tree);
    publishFile(path);
}

}
