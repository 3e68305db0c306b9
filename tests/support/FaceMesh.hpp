// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "graph/MeshGraph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <random>
#include <tuple>
#include <vector>

namespace inSitu
{

//- A mesh as lists of faces, to compare its graph with what follows from them the slow way
struct FaceMesh
{
    using Index = std::int32_t;
    using Indices = std::vector<Index>;

    struct Patch
    {
        Index firstFace;
        Indices cells;
        Indices neighbourCells = {};
        Index neighbourFirstFace = -1;      //!< -1: a boundary

        //- Across a sliding interface; both empty: one-to-one
        Indices start = {};
        Indices meets = {};

        bool isBoundary() const { return neighbourFirstFace < 0; }
        bool slides() const { return !start.empty(); }
    };

    Index nCells = 0;
    Indices owner;
    Indices neighbour;
    std::vector<Patch> patches;             //!< in the order of their faces

    //- Coupled patches for which choose(patch) is true
    template<class Choose>
    std::vector<CoupledPatch> coupled(const Choose& choose) const
    {
        std::vector<CoupledPatch> result;
        for (const Patch& patch : patches)
        {
            if (!patch.isBoundary() && choose(patch))
            {
                result.push_back({patch.firstFace, patch.cells, patch.neighbourCells,
                    patch.neighbourFirstFace, patch.start, patch.meets});
            }
        }
        return result;
    }

    std::vector<BoundaryPatch> boundary() const
    {
        std::vector<BoundaryPatch> result;
        for (const Patch& patch : patches)
        {
            if (patch.isBoundary())
            {
                result.push_back({patch.firstFace, patch.cells});
            }
        }
        return result;
    }

    MeshGraph graph() const
    {
        return MeshGraph::fromFaces(nCells, owner, neighbour, boundary(),
            coupled([](const Patch&) { return true; }));
    }

    //- Sliding interfaces put in later
    MeshGraph graphInTwoSteps() const
    {
        return MeshGraph::fromFaces(nCells, owner, neighbour, boundary(),
            coupled([](const Patch& patch) { return !patch.slides(); }))
            .withCoupled(coupled([](const Patch& patch) { return patch.slides(); }));
    }
};


//- Every edge of the mesh, listed and sorted
struct FaceMeshEdge
{
    std::int32_t receiver, sender;
    std::int32_t face, otherFace;       //!< on the sender's side; another for coupled patches

    auto key() const { return std::tie(receiver, sender, face, otherFace); }
    bool operator<(const FaceMeshEdge& other) const { return key() < other.key(); }
};

inline std::vector<FaceMeshEdge> edgesOneByOne(const FaceMesh& mesh)
{
    using Index = FaceMesh::Index;

    std::vector<FaceMeshEdge> edges;
    for (std::size_t f = 0; f < mesh.owner.size(); ++f)
    {
        const Index face = static_cast<Index>(f);
        edges.push_back({mesh.owner[f], mesh.neighbour[f], face, face});
        edges.push_back({mesh.neighbour[f], mesh.owner[f], face, face});
    }
    Index node = mesh.nCells;
    for (const FaceMesh::Patch& patch : mesh.patches)
    {
        const Index nFaces = static_cast<Index>(patch.cells.size());
        for (Index i = 0; i < nFaces; ++i)
        {
            const auto add = [&](Index sender, Index otherFace)
            {
                edges.push_back({patch.cells[i], sender, patch.firstFace + i, otherFace});
            };
            if (patch.isBoundary())
            {
                add(node++, -1);
                continue;
            }
            for (Index k = patch.slides() ? patch.start[i] : i;
                k < (patch.slides() ? patch.start[i + 1] : i + 1); ++k)
            {
                const Index j = patch.slides() ? patch.meets[k] : k;
                add(patch.neighbourCells[j], patch.neighbourFirstFace + j);
            }
        }
    }
    std::sort(edges.begin(), edges.end());
    return edges;
}


inline void expectBruteForce(const MeshGraph& graph, const FaceMesh& mesh)
{
    using Index = FaceMesh::Index;

    const std::vector<FaceMeshEdge> edges = edgesOneByOne(mesh);
    std::map<FaceMeshEdge, Index> position;
    for (const FaceMeshEdge& edge : edges)
    {
        position.emplace(edge, static_cast<Index>(position.size()));
    }
    ASSERT_EQ(position.size(), edges.size());
    ASSERT_EQ(graph.nEdges(), static_cast<Index>(edges.size()));

    std::vector<Index> degreeIn(graph.nNodes(), 0);
    std::vector<std::vector<Index>> out(graph.nNodes());
    for (std::size_t e = 0; e < edges.size(); ++e)
    {
        const FaceMeshEdge& edge = edges[e];
        EXPECT_EQ(graph.receivers()[e], edge.receiver) << "edge " << e;
        EXPECT_EQ(graph.senders()[e], edge.sender) << "edge " << e;
        EXPECT_EQ(graph.faceOf()[e], edge.face) << "edge " << e;
        const auto reverse =
            position.find({edge.sender, edge.receiver, edge.otherFace, edge.face});
        EXPECT_EQ(graph.reverseEdge()[e], reverse == position.end() ? -1 : reverse->second)
            << "edge " << e;
        ++degreeIn[edge.receiver];
        out[edge.sender].push_back(static_cast<Index>(e));
    }

    Index in = 0;
    std::vector<Index> senderEdges;
    for (Index node = 0; node < graph.nNodes(); ++node)
    {
        EXPECT_EQ(graph.receiverStart()[node], in) << "node " << node;
        EXPECT_EQ(graph.senderStart()[node], static_cast<Index>(senderEdges.size()));
        in += degreeIn[node];
        senderEdges.insert(senderEdges.end(), out[node].begin(), out[node].end());
    }
    EXPECT_EQ(graph.receiverStart()[graph.nNodes()], in);
    EXPECT_EQ(graph.senderStart()[graph.nNodes()], in);
    EXPECT_TRUE(std::equal(senderEdges.begin(), senderEdges.end(), graph.senderEdge().begin(),
        graph.senderEdge().end()));
}


//- Any upper-triangular mesh: a random number of higher neighbours per cell, now and then the
//  same one twice. With patches: boundaries, two cyclics and two sliding interfaces, whose faces
//  meet several others or none, not always to the knowledge of both.
inline FaceMesh randomFaceMesh(std::mt19937& generator, bool withPatches)
{
    using Index = FaceMesh::Index;
    using Indices = FaceMesh::Indices;

    const auto below = [&](Index n) { return static_cast<Index>(generator() % n); };

    FaceMesh mesh;
    mesh.nCells = 2 + below(30);
    for (Index cell = 0; cell + 1 < mesh.nCells; ++cell)
    {
        Indices higher;
        for (Index k = below(5); k > 0; --k)
        {
            higher.push_back(cell + 1 + below(mesh.nCells - cell - 1));
        }
        std::sort(higher.begin(), higher.end());
        for (const Index other : higher)
        {
            mesh.owner.push_back(cell);
            mesh.neighbour.push_back(other);
        }
    }
    if (!withPatches)
    {
        return mesh;
    }

    Index face = static_cast<Index>(mesh.owner.size());
    const auto addPatch = [&](Index n)
    {
        Indices cells;
        for (Index i = 0; i < n; ++i)
        {
            cells.push_back(below(mesh.nCells));
        }
        mesh.patches.push_back({face, cells});
        face += n;
        return mesh.patches.size() - 1;
    };
    const auto meetSome = [&](FaceMesh::Patch& patch)
    {
        patch.start = {0};
        for (std::size_t i = 0; i < patch.cells.size(); ++i)
        {
            Indices faces(patch.neighbourCells.size());
            std::iota(faces.begin(), faces.end(), 0);
            faces.erase(std::remove_if(faces.begin(), faces.end(),
                [&](Index) { return below(3) > 0; }), faces.end());
            std::stable_sort(faces.begin(), faces.end(), [&](Index a, Index b)
                { return patch.neighbourCells[a] < patch.neighbourCells[b]; });
            patch.meets.insert(patch.meets.end(), faces.begin(), faces.end());
            patch.start.push_back(static_cast<Index>(patch.meets.size()));
        }
    };

    // The halves of odd pairs are parted by a boundary, the others touch
    for (int pair = 0; pair < 4; ++pair)
    {
        const bool slides = pair >= 2;
        const Index n = below(12);
        const std::size_t first = addPatch(n);
        if (pair % 2 == 1)
        {
            addPatch(below(9));
        }
        const std::size_t second = addPatch(slides ? below(12) : n);
        for (const auto& half : {std::make_pair(first, second), std::make_pair(second, first)})
        {
            FaceMesh::Patch& patch = mesh.patches[half.first];
            patch.neighbourCells = mesh.patches[half.second].cells;
            patch.neighbourFirstFace = mesh.patches[half.second].firstFace;
            if (slides)
            {
                meetSome(patch);
            }
        }
        addPatch(below(7));
    }
    return mesh;
}

}
