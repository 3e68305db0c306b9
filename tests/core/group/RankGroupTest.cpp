// SPDX-License-Identifier: GPL-3.0-or-later
#include "group/RankGroup.hpp"

#include "base/Error.hpp"
#include "ThreadComm.hpp"
#include "WavePart.hpp"

#include <gmock/gmock.h>

#include <set>

using testing::HasSubstr;
using testing::ThrowsMessage;

namespace inSitu
{
namespace
{

//- Names of the rows: cells, then faces behind all cells
std::vector<std::int64_t> namesOf(const MeshState& mesh)
{
    std::vector<std::int64_t> names = mesh.names()->cells;
    for (const std::int64_t face : mesh.names()->faces)
    {
        names.push_back(1000 + face);
    }
    return names;
}


PendingAccess::Pending pendingOf(const MeshState& mesh, double time)
{
    PendingAccess::Pending pending;
    pending.timeIndex = 4;
    for (const std::int64_t name : namesOf(mesh))
    {
        pending.input.insert(pending.input.end(), {0.5*name + time, -1.5*name, 7});
        if (name < 1000)
        {
            pending.target.insert(pending.target.end(), {2.5*name, time - name});
        }
    }
    return pending;
}

}


TEST(RankGroup, WithoutANumberNothingIsSent)
{
    onRanks(3, [](Comm& comm)
    {
        for (const int number : {0, 3, 9})
        {
            RankGroup group(borrowed(comm), number);
            EXPECT_FALSE(group.isShared());
            EXPECT_TRUE(group.trains());
            EXPECT_EQ(group.trainers().get(), &comm);
            EXPECT_EQ(group.text(), number < 4 ? "" : "trainerRanks 9 is more than a node has"
                " ranks: all of them train there");

            const std::uint64_t before = comm.traffic().sums;
            group.setFields({1}, 1);
            const std::vector<double> p{1.5, 2.5};
            const std::vector<FieldView<double>> views{{p, {}}};
            EXPECT_EQ(&group.unite(views), &views);
            EXPECT_EQ(group.part(Span<const double>(p)).data(), p.data());
            EXPECT_EQ(group.lead([] { return Comm::Bytes{3}; }), Comm::Bytes{3});
            EXPECT_EQ(comm.traffic().sums, before);
        }
    });
}


TEST(RankGroup, MeshesMeetOnTheTrainers)
{
    onRanks(4, [](Comm& comm)
    {
        WavePart host(WaveCase(7, 6), raggedRanks(42, 4), comm);
        RankGroup group(borrowed(comm), 2);
        group.setFields({3, 1}, 3);
        EXPECT_EQ(group.text(), "the network works on 2 of 4 ranks, each for the cells"
            " of up to 2");
        EXPECT_EQ(group.trains(), comm.rank() % 2 == 0);

        const CaseMesh first = group.unite(host.mesh());
        const CaseMesh again = group.unite(host.mesh());
        host.whole().move(0.3);
        const CaseMesh moved = group.unite(host.mesh());
        group.check();
        if (!group.trains())
        {
            return;
        }
        EXPECT_EQ(group.trainers()->numberOf(group.trainers()->rank()), comm.rank());
        EXPECT_EQ(again.state.graph, first.state.graph);
        EXPECT_EQ(moved.state.graph, first.state.graph);
        EXPECT_EQ(moved.state.staticFeatures, first.state.staticFeatures);
        EXPECT_EQ(moved.state.ids, first.state.ids);
        EXPECT_NE(moved.state.geometry, again.state.geometry);
        EXPECT_FALSE(*moved.state.geometry == *first.state.geometry);

        WaveCase whole(7, 6);
        whole.move(0.3);
        const MeshState all = whole.mesh().state;
        const std::vector<std::int64_t>& cells = moved.state.ids->cells;
        for (std::size_t i = 0; i < cells.size(); ++i)
        {
            EXPECT_EQ(moved.state.geometry->centres[3*i], all.geometry->centres[3*cells[i]]);
            EXPECT_EQ(moved.state.geometry->cellVolumes[i], all.geometry->cellVolumes[cells[i]]);
            EXPECT_EQ((*moved.state.staticFeatures)[5*i], 1);
        }
        if (!moved.state.ids->faces.empty())
        {
            EXPECT_EQ((*moved.state.staticFeatures)[5*cells.size() + 1], 1);
        }
        EXPECT_TRUE(moved.state.ids->undecomposed);
        const std::string last = moved.placeOfRow(static_cast<std::int64_t>(cells.size()) - 1);
        EXPECT_THAT(last, HasSubstr(" of rank " + std::to_string(comm.rank() + 1)));
        EXPECT_EQ(moved.placeOfRow(2), "cell 2 of rank " + std::to_string(comm.rank()));
    });
}


TEST(RankGroup, ValuesThatWaitGoToTheTrainerAndBack)
{
    onRanks(4, [](Comm& comm)
    {
        WavePart host(WaveCase(7, 6), raggedRanks(42, 4), comm);
        RankGroup group(borrowed(comm), 1);
        group.setFields({3, 1}, 2);
        const MeshState here = host.mesh().state;
        const MeshState all = group.unite(host.mesh()).state;

        const std::vector<PendingAccess::Pending> own{pendingOf(here, 0.5), pendingOf(here, 2)};
        std::vector<PendingAccess::Pending> united = group.unite(own, 3, 2);
        ASSERT_EQ(united.size(), 2u);
        if (group.trains())
        {
            EXPECT_EQ(united[1].input, pendingOf(all, 2).input);
            EXPECT_EQ(united[1].target, pendingOf(all, 2).target);
            EXPECT_EQ(united[1].timeIndex, 4);
        }
        group.part(united[1], 3, 2);
        EXPECT_EQ(united[1].input, own[1].input);
        EXPECT_EQ(united[1].target, own[1].target);
    });
}


TEST(RankGroup, MembersHearWhatTheTrainerSaysOrWhyItFails)
{
    onRanks(4, [](Comm& comm)
    {
        RankGroup group(borrowed(comm), 2);
        const auto told = group.lead([&] { return Comm::Bytes(1, 10 + comm.rank()); });
        EXPECT_EQ(told, Comm::Bytes(1, 10 + comm.rank()/2*2));
        comm.sum(Span<double>());

        // Ranks of the other group hear of it, too
        if (comm.rank() == 2)
        {
            EXPECT_THROW(group.lead([]() -> Comm::Bytes { throw Error("no luck"); }), Error);
            comm.leave("no luck");
            return;
        }
        EXPECT_THAT([&]
        {
            group.lead([&]
            {
                group.trainers()->sum(Span<double>());
                return Comm::Bytes();
            });
        }, ThrowsMessage<Error>("rank 2: no luck"));
    });
}

}
