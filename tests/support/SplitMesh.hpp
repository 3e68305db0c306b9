// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "FaceMesh.hpp"

#include "base/Comm.hpp"
#include "graph/MeshGraph.hpp"

#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace inSitu
{

//- A part of a mesh as a decomposed case has it: its own cells in ascending order, numbered anew,
//  its internal faces in their order, its boundary faces, couplings that lie in it, and behind
//  them the cut faces, rank by rank. Cut couplings are cut faces too.
class MeshPart
{
public:

    using Index = FaceMesh::Index;
    using Indices = FaceMesh::Indices;

    //- rankOf[cell]; without sliding interfaces
    MeshPart(const FaceMesh& whole, const Indices& rankOf, int rank)
    {
        Indices local(whole.nCells, -1);
        Indices count;
        for (Index cell = 0; cell < whole.nCells; ++cell)
        {
            count.resize(std::max<std::size_t>(count.size(), rankOf[cell] + 1), 0);
            local[cell] = count[rankOf[cell]]++;
            if (rankOf[cell] == rank)
            {
                cells.push_back(cell);
            }
        }
        const auto isHere = [&](Index cell) { return rankOf[cell] == rank; };

        mesh.nCells = static_cast<Index>(cells.size());
        std::vector<std::vector<std::pair<HaloLink, Index>>> cut(count.size());
        const auto cutAt = [&](Index receiver, Index sender, Index face)
        {
            if (isHere(receiver) && !isHere(sender))
            {
                cut[rankOf[sender]].push_back(
                    {{local[receiver], 0, rankOf[sender], local[sender]}, face});
            }
        };

        for (std::size_t f = 0; f < whole.owner.size(); ++f)
        {
            const Index o = whole.owner[f];
            const Index n = whole.neighbour[f];
            if (isHere(o) && isHere(n))
            {
                mesh.owner.push_back(local[o]);
                mesh.neighbour.push_back(local[n]);
                faces.push_back(static_cast<Index>(f));
            }
            cutAt(o, n, static_cast<Index>(f));
            cutAt(n, o, static_cast<Index>(f));
        }

        Index node = whole.nCells;
        for (const FaceMesh::Patch& patch : whole.patches)
        {
            FaceMesh::Patch part{static_cast<Index>(faces.size()), {}, {},
                patch.isBoundary() ? -1 : 0};
            for (std::size_t i = 0; i < patch.cells.size(); ++i, node += patch.isBoundary())
            {
                const Index face = patch.firstFace + static_cast<Index>(i);
                const Index cell = patch.cells[i];
                if (!patch.isBoundary())
                {
                    cutAt(cell, patch.neighbourCells[i], face);
                }
                if (isHere(cell) && (patch.isBoundary() || isHere(patch.neighbourCells[i])))
                {
                    part.cells.push_back(local[cell]);
                    faces.push_back(face);
                    if (patch.isBoundary())
                    {
                        boundary.push_back(node);
                    }
                    else
                    {
                        part.neighbourCells.push_back(local[patch.neighbourCells[i]]);
                    }
                }
            }
            firstFace_[patch.firstFace] = part.firstFace;
            mesh.patches.push_back(std::move(part));
        }
        for (std::size_t p = 0; p < whole.patches.size(); ++p)
        {
            if (!whole.patches[p].isBoundary())
            {
                mesh.patches[p].neighbourFirstFace =
                    firstFace_.at(whole.patches[p].neighbourFirstFace);
            }
        }

        for (auto& ofRank : cut)
        {
            for (auto& [link, face] : ofRank)
            {
                link.face = static_cast<Index>(faces.size());
                faces.push_back(face);
                links.push_back(link);
            }
        }
    }

    std::shared_ptr<const MeshGraph> graph(const Comm& comm) const
    {
        return std::make_shared<const MeshGraph>(mesh.graph().withHalo(links, comm));
    }

    //- Node of the whole mesh
    Index globalNode(Index node) const
    {
        return node < mesh.nCells ? cells[node] : boundary[node - mesh.nCells];
    }

    FaceMesh mesh;
    std::vector<HaloLink> links;
    Indices cells;          //!< of the whole mesh
    Indices boundary;       //!< nodes of the whole mesh's graph
    Indices faces;          //!< of the whole mesh, for each face here

private:

    std::map<Index, Index> firstFace_;
};


//- The edge of the whole mesh's graph for each edge of a part
inline FaceMesh::Indices globalEdges(const MeshPart& part, const MeshGraph& graph,
    const MeshGraph& whole)
{
    // A face gives a receiver one edge
    std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> edgeOf;
    for (std::int32_t e = 0; e < whole.nEdges(); ++e)
    {
        edgeOf[{whole.receivers()[e], whole.faceOf()[e]}] = e;
    }
    FaceMesh::Indices edges;
    for (std::int32_t e = 0; e < graph.nEdges(); ++e)
    {
        edges.push_back(edgeOf.at(
            {part.globalNode(graph.receivers()[e]), part.faces[graph.faceOf()[e]]}));
    }
    return edges;
}

}
