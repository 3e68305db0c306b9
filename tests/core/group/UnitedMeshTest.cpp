// SPDX-License-Identifier: GPL-3.0-or-later
#include "group/UnitedMesh.hpp"

#include "base/Error.hpp"
#include "ThreadComm.hpp"
#include "WavePart.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <memory>
#include <string>

using testing::HasSubstr;
using testing::ThrowsMessage;

namespace inSitu
{
namespace
{

//- The mesh of a rank in objects that can be changed without a new one
struct Own
{
    explicit Own(const MeshState& mesh)
    :
        graph(std::make_shared<MeshGraph>(*mesh.graph)),
        ids(std::make_shared<RowIds>(*mesh.ids)),
        geometry(std::make_shared<MeshGeometry>(*mesh.geometry)),
        features(std::make_shared<std::vector<float>>(*mesh.staticFeatures)),
        mask(std::make_shared<std::vector<double>>(mesh.graph->nCells(), 1.0))
    {}

    CaseMesh mesh() const
    {
        CaseMesh mesh;
        mesh.state.graph = graph;
        mesh.state.ids = ids;
        mesh.state.geometry = geometry;
        mesh.state.staticFeatures = features;
        mesh.state.cellMask = mask;
        return mesh;
    }

    std::shared_ptr<MeshGraph> graph;
    std::shared_ptr<RowIds> ids;
    std::shared_ptr<MeshGeometry> geometry;
    std::shared_ptr<std::vector<float>> features;
    std::shared_ptr<std::vector<double>> mask;
};


//- Four ranks, of which the first and the third train, each with its mesh
void onGroups(const std::function<void(UnitedMesh&, Own&, Comm&)>& body)
{
    onRanks(4, [&](Comm& comm)
    {
        WavePart host(WaveCase(7, 6), raggedRanks(42, 4), comm);
        const TrainerMap map = TrainerMap::of({0, 0, 0, 0}, 2);
        UnitedMesh united(borrowed(comm), comm.part(comm.rank()/2, Comm::Waiting::patient), map);
        Own own(host.mesh().state);
        body(united, own, comm);
    });
}


struct Spoilt
{
    const char* what;
    void (*spoil)(Own& own);
};


const Spoilt spoilt[] =
{
    {"face of edge ", [](Own& own)
    {
        StateTree state = own.graph->save();
        std::vector<std::int32_t> faces = state.get<std::int32_t>("faceOf");
        faces[3] += 2;
        state.put("faceOf", faces);
        *own.graph = MeshGraph::load(state);
    }},
    {"centre of node 2 is (", [](Own& own) { own.geometry->centres[3*2 + 1] += 0.125; }},
    {"static feature 6 is ", [](Own& own) { (*own.features)[6] += 0.25; }},
    {"entry of the mask 1 is 1.000000, the members give 0.5",
        [](Own& own) { (*own.mask)[1] = 0.5; }},
    {"name of a cell 4 is ", [](Own& own) { own.ids->cells[4] += 100; }},
    {"name of a face 0 is ", [](Own& own) { own.ids->faces[0] += 100; }},
    {"the number of entries for the name of a face is ",
        [](Own& own) { own.ids->faces.pop_back(); }}
};

}


TEST(UnitedMesh, NoticesWhatAMemberHasChangedInPlace)
{
    for (const auto& [what, spoil] : spoilt)
    {
        SCOPED_TRACE(what);
        onGroups([what = what, spoil = spoil](UnitedMesh& united, Own& own, Comm& comm)
        {
            united.check();
            united.unite(own.mesh());
            united.check();
            if (comm.rank() == 0)
            {
                spoil(own);
                EXPECT_THAT([&] { united.check(); }, ThrowsMessage<Error>(HasSubstr(
                    std::string("selfCheck: the mesh of the group is stale: ") + what)));
            }
            else
            {
                EXPECT_NO_THROW(united.check()) << comm.rank();
            }
        });
    }
}


TEST(UnitedMesh, NoticesItOfMembersThatDoNotTrain)
{
    onGroups([](UnitedMesh& united, Own& own, Comm& comm)
    {
        united.unite(own.mesh());
        if (comm.rank() == 3)
        {
            own.features->back() += 0.25;
        }
        if (comm.rank() == 2)
        {
            EXPECT_THAT([&] { united.check(); }, ThrowsMessage<Error>(HasSubstr("static feature")));
        }
        else
        {
            EXPECT_NO_THROW(united.check()) << comm.rank();
        }
    });
}


TEST(UnitedMesh, SendsOnlyWhatIsNew)
{
    onGroups([](UnitedMesh& united, Own& own, Comm& comm)
    {
        // Operations of all ranks, and the bytes that this one contributes
        const auto sent = [&]
        {
            const Traffic before = comm.traffic();
            united.unite(own.mesh());
            return std::pair(comm.traffic().sums - before.sums,
                comm.traffic().summedBytes - before.summedBytes);
        };
        const std::pair<std::uint64_t, std::uint64_t> question{1, 3*sizeof(double)};
        const auto all = sent();
        EXPECT_EQ(all.first, 2);
        EXPECT_TRUE(united.rowsAreNew());
        EXPECT_EQ(sent(), question);
        EXPECT_FALSE(united.rowsAreNew());

        // New on one rank: all members give theirs, without the rest
        if (comm.rank() == 1)
        {
            own.features = std::make_shared<std::vector<float>>(*own.features);
        }
        const auto features = sent();
        EXPECT_EQ(features.first, 2);
        EXPECT_LT(features.second, all.second/4);
        EXPECT_FALSE(united.rowsAreNew());
        EXPECT_EQ(sent(), question);

        own.geometry = std::make_shared<MeshGeometry>(*own.geometry);
        const auto geometry = sent();
        EXPECT_EQ(geometry.first, 2);
        EXPECT_GT(geometry.second, question.second + sizeof(double)*own.geometry->centres.size());
        EXPECT_LT(geometry.second, all.second/2);

        if (comm.rank() == 2)
        {
            own.mask = std::make_shared<std::vector<double>>(*own.mask);
        }
        EXPECT_EQ(sent(), all);
        EXPECT_TRUE(united.rowsAreNew());
    });
}


TEST(UnitedMesh, RefusesSlidingInterfaces)
{
    EXPECT_THAT([]
    {
        onGroups([](UnitedMesh& united, Own& own, Comm&)
        {
            own.geometry->weighted = true;
            united.unite(own.mesh());
        });
    }, ThrowsMessage<Error>("trainerRanks: on a mesh with sliding interfaces the network works on"
        " every rank; leave the entry out"));
}

}
