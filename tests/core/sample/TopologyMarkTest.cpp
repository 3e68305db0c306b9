// SPDX-License-Identifier: GPL-3.0-or-later
#include "sample/TopologyMark.hpp"

#include "ThreadComm.hpp"
#include "WavePart.hpp"

#include <gtest/gtest.h>

#include <mutex>

namespace inSitu
{
namespace
{

//- Of a case cut into slabs and single cells
TopologyMark markOn(int nRanks, const WaveCase& whole, bool halo = true)
{
    FaceMesh::Indices ranks;
    for (int cell = 0; cell < whole.nCells(); ++cell)
    {
        ranks.push_back(cell % 5 == 3 ? (cell/5) % nRanks : nRanks*cell/whole.nCells());
    }
    std::mutex mutex;
    std::vector<TopologyMark> marks;
    onRanks(nRanks, [&](Comm& comm)
    {
        WavePart part(whole, ranks, comm);
        MeshState mesh = part.mesh().state;
        if (!halo)
        {
            mesh.graph = std::make_shared<MeshGraph>(
                MeshPart(whole.faces(), ranks, comm.rank()).mesh.graph());
        }
        const TopologyMark mark = TopologyMark::of(mesh, *mesh.names(), comm);
        const std::lock_guard<std::mutex> lock(mutex);
        marks.push_back(mark);
    });
    for (const TopologyMark& mark : marks)
    {
        EXPECT_EQ(mark.rows, marks[0].rows);
        EXPECT_EQ(mark.edges, marks[0].edges);
    }
    return TopologyMark::load(marks[0].save());
}


TopologyMark markOf(const MeshState& mesh)
{
    return TopologyMark::of(mesh, *mesh.names(), SerialComm());
}

}


TEST(TopologyMark, IsTheSameForEveryDecomposition)
{
    WaveCase whole(7, 6);
    const TopologyMark mark = markOf(whole.mesh().state);
    EXPECT_TRUE(mark.undecomposed && mark.complete);
    for (const int nRanks : {1, 2, 3, 4})
    {
        const TopologyMark other = markOn(nRanks, whole);
        EXPECT_TRUE(other.complete);
        EXPECT_TRUE(mark.isComparable(other));
        EXPECT_EQ(other.rows, mark.rows) << nRanks;
        EXPECT_EQ(other.edges, mark.edges) << nRanks;
        EXPECT_TRUE(mark.isSame(other));
    }
}


TEST(TopologyMark, TellsOtherMeshesOfTheSameSize)
{
    // Both have 30 cells
    const TopologyMark mark = markOf(WaveCase(6, 5).mesh().state);
    EXPECT_FALSE(mark.isSame(markOf(WaveCase(5, 6).mesh().state)));
    EXPECT_FALSE(markOn(3, WaveCase(6, 5)).isSame(markOn(3, WaveCase(5, 6))));

    // One edge more between the same cells, another cell at a face
    FaceMesh mesh = WaveCase(6, 5).faces();
    const auto markOfFaces = [](const FaceMesh& faces)
    {
        MeshState state;
        state.graph = std::make_shared<MeshGraph>(faces.graph());
        return markOf(state);
    };
    EXPECT_TRUE(mark.isSame(markOfFaces(mesh)));
    mesh.patches[0].cells[3] = 9;
    EXPECT_FALSE(mark.isSame(markOfFaces(mesh)));
    mesh.patches[0].cells[3] = 3;
    mesh.owner.insert(mesh.owner.begin(), 0);
    mesh.neighbour.insert(mesh.neighbour.begin(), 1);
    mesh.patches[0].firstFace += 1;
    EXPECT_FALSE(mark.isSame(markOfFaces(mesh)));
}


TEST(TopologyMark, WithoutEdgesBetweenRanksOnlyTheRestIsCompared)
{
    WaveCase whole(7, 6);
    const TopologyMark cut = markOn(3, whole, false);
    EXPECT_FALSE(cut.complete);
    EXPECT_NE(cut.edges, markOn(3, whole).edges);
    EXPECT_TRUE(cut.isSame(markOn(2, whole, false)));
    EXPECT_TRUE(cut.isSame(markOf(whole.mesh().state)));
    EXPECT_FALSE(cut.isSame(markOf(WaveCase(6, 7).mesh().state)));
}


TEST(TopologyMark, ChecksumsTellDecompositionsApart)
{
    const WaveCase whole(7, 6);
    std::mutex mutex;
    std::vector<std::vector<std::int64_t>> sums(2);
    for (const int second : {0, 1})
    {
        onRanks(2, [&](Comm& comm)
        {
            FaceMesh::Indices ranks(42, 0);
            std::fill(ranks.begin() + 20, ranks.end(), 1);
            ranks[20] = second == 1 ? 0 : 1;
            const std::int64_t sum = topologyChecksum(WavePart(whole, ranks, comm).mesh().state);
            const std::lock_guard<std::mutex> lock(mutex);
            sums[second].push_back(sum);
        });
        std::sort(sums[second].begin(), sums[second].end());
        EXPECT_NE(sums[second][0], sums[second][1]);
    }
    EXPECT_NE(sums[0][0], sums[1][0]);
    EXPECT_NE(sums[0][1], sums[1][1]);
}


TEST(TopologyMark, ChecksumsTellOtherCellsBehindACutFace)
{
    // Of two cells, as each other's neighbours through cut faces
    const std::vector<std::int32_t> none;
    const MeshGraph inner = MeshGraph::fromFaces(2, none, none);
    SerialComm comm;
    const auto sumOf = [&](std::int32_t a, std::int32_t b)
    {
        MeshState state;
        state.graph = std::make_shared<const MeshGraph>(
            inner.withHalo({{0, 0, 0, a}, {1, 1, 0, b}}, comm));
        return topologyChecksum(state);
    };
    EXPECT_EQ(sumOf(1, 0), sumOf(1, 0));
    EXPECT_NE(sumOf(1, 0), sumOf(0, 1));
}

}
