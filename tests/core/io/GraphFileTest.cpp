// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/agree.hpp"
#include "io/GraphFile.hpp"
#include "io/Hdf5File.hpp"
#include "TemporaryFolder.hpp"
#include "ThreadComm.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace inSitu
{
namespace
{

using testing::ElementsAre;

//  0 | 1 | 2     two faces, in the plane of x and z
MeshState threeCells()
{
    const std::vector<std::int32_t> owner{0, 1};
    const std::vector<std::int32_t> neighbour{1, 2};
    const std::vector<double> centres{0.5, 9, 0, 2, 9, 0.25, 4.5, 9, 1};

    MeshState mesh;
    mesh.graph = std::make_shared<const MeshGraph>(MeshGraph::fromFaces(3, owner, neighbour));
    mesh.geometry = std::make_shared<const MeshGeometry>
    (
        makeGeometry(*mesh.graph, centres, {1.5, 2.5, 3.5}, {0, 2})
    );
    mesh.staticFeatures = std::make_shared<const std::vector<float>>
    (
        std::vector<float>{1, 2, 3, 4, 5, 6}
    );
    return mesh;
}


TEST(GraphFile, HoldsTheGraphAsTheArtifactWantsIt)
{
    const TemporaryFolder folder;
    const MeshState mesh = threeCells();

    writeGraphFile(folder / "graph.h5", mesh, {"cell", "fixedU"});
    const StateTree tree = readHdf5(folder / "graph.h5");

    EXPECT_EQ(tree.getText("kind"), "mesh_graph");
    EXPECT_EQ(tree.getArray("edge_index").shape, (std::vector<std::int64_t>{2, 4}));
    EXPECT_THAT(tree.get<std::int64_t>("edge_index"), ElementsAre(1, 0, 2, 1, 0, 1, 1, 2));
    EXPECT_EQ(tree.getArray("edges").shape, (std::vector<std::int64_t>{4, 3}));
    EXPECT_EQ(tree.get<double>("edges"), edgeFeatures(*mesh.graph, *mesh.geometry));
    EXPECT_EQ(tree.get<double>("edges")[0], 1.5);
    EXPECT_EQ(tree.get<double>("edges")[1], 0.25);
    EXPECT_EQ(tree.getText("edges/names"), "dx dz length");
    EXPECT_THAT(tree.get<std::int64_t>("edge_face"), ElementsAre(0, 0, 1, 1));
    EXPECT_THAT(tree.get<std::int64_t>("edge_sign"), ElementsAre(-1, 1, -1, 1));
    EXPECT_EQ(tree.getArray("static").shape, (std::vector<std::int64_t>{3, 2}));
    EXPECT_THAT(tree.get<float>("static"), ElementsAre(1, 2, 3, 4, 5, 6));
    EXPECT_EQ(tree.getText("static/names"), "cell fixedU");
    EXPECT_EQ(tree.getArray("centres").shape, (std::vector<std::int64_t>{3, 3}));
    EXPECT_EQ(tree.get<double>("centres")[6], 4.5);
    EXPECT_THAT(tree.get<double>("cell_volumes"), ElementsAre(1.5, 2.5, 3.5));
    EXPECT_EQ(tree.getInt("n_nodes"), 3);
    EXPECT_EQ(tree.getInt("n_cells"), 3);
    EXPECT_EQ(tree.getInt("n_boundary"), 0);
    EXPECT_EQ(tree.getInt("n_edges"), 4);
    EXPECT_EQ(tree.getArray("faces").count(), 0u);
    EXPECT_FALSE(tree.has("order"));
    EXPECT_FALSE(tree.has("missing"));
}


TEST(GraphFile, IsReplacedAsAWhole)
{
    const TemporaryFolder folder;
    folder.write("graph.h5", "an older file");

    writeGraphFile(folder / "graph.h5", threeCells(), {"cell", "fixedU"});
    EXPECT_EQ(readHdf5(folder / "graph.h5").getInt("n_edges"), 4);

    EXPECT_THROW(writeGraphFile(folder / "none/graph.h5", threeCells(), {"cell", "fixedU"}), Error);
    int files = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder / ""))
    {
        ++files;
    }
    EXPECT_EQ(files, 1);
}


TEST(GraphFile, SaysWhatIsNotThereOverSeveralRanks)
{
    // Two chains of three cells, named from the second rank on, and unaware of each other
    const TemporaryFolder folder;
    onRanks(2, [&](Comm& comm)
    {
        MeshState mesh = threeCells();
        const std::int64_t first = comm.rank() == 0 ? 3 : 0;
        mesh.ids = std::make_shared<const RowIds>(RowIds{{first, first + 1, first + 2}, {}, true});
        writeGraphFile(folder / "graph.h5", mesh, {"cell", "fixedU"}, comm);
    });
    const StateTree tree = readHdf5(folder / "graph.h5");
    EXPECT_EQ(tree.getText("missing"), "edges between ranks");
    EXPECT_THAT(tree.get<std::int64_t>("edge_index"),
        ElementsAre(1, 0, 2, 1, 4, 3, 5, 4, 0, 1, 1, 2, 3, 4, 4, 5));
    EXPECT_THAT(tree.get<double>("cell_volumes"), ElementsAre(1.5, 2.5, 3.5, 1.5, 2.5, 3.5));
    EXPECT_FALSE(tree.has("order"));
}


TEST(GraphFile, AMasterThatCannotWriteIsAFailureOnAll)
{
    const TemporaryFolder folder;
    std::vector<std::string> faults(2);
    onRanks(2, [&](Comm& comm)
    {
        MeshState mesh = threeCells();
        const std::int64_t first = 3*comm.rank();
        mesh.ids = std::make_shared<const RowIds>(RowIds{{first, first + 1, first + 2}, {}, true});
        try
        {
            writeGraphFile(folder / "none/graph.h5", mesh, {"cell", "fixedU"}, comm);
        }
        catch (const AgreedError& fault)
        {
            faults[comm.rank()] = fault.what();
        }
    });
    EXPECT_THAT(faults[0], testing::HasSubstr("rank 0: "));
    EXPECT_EQ(faults[1], faults[0]);
}

}
}
