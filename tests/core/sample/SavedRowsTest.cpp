// SPDX-License-Identifier: GPL-3.0-or-later
#include "sample/SavedRows.hpp"

#include "base/agree.hpp"
#include "ThreadComm.hpp"
#include "WavePart.hpp"

#include <gmock/gmock.h>

#include <mutex>

using testing::HasSubstr;

namespace inSitu
{
namespace
{

using Match = SavedRows::Match;

//- What the ranks of a run leave
struct Saved
{
    std::vector<StateTree> parts;
    TopologyMark mark;
};


FaceMesh::Indices ranksOf(int nCells, int nRanks, int shift)
{
    FaceMesh::Indices ranks;
    for (int cell = 0; cell < nCells; ++cell)
    {
        ranks.push_back((cell/4 + shift) % nRanks);
    }
    return ranks;
}


//- On each rank with the mesh there
void onParts(const WaveCase& whole, int nRanks, int shift, bool named,
    const std::function<void(const MeshState&, Comm&)>& body)
{
    onRanks(nRanks, [&](Comm& comm)
    {
        WavePart host(whole, ranksOf(whole.nCells(), nRanks, shift), comm);
        if (!named)
        {
            host.forgetNames();
        }
        body(host.mesh().state, comm);
    });
}


//- With a number for each row that its name and place tell
Saved savedOn(const WaveCase& whole, int nRanks, int shift = 0, bool named = true)
{
    Saved saved;
    saved.parts.resize(nRanks);
    onParts(whole, nRanks, shift, named, [&](const MeshState& mesh, Comm& comm)
    {
        StateTree part = SavedRows::save(mesh);
        std::vector<float> rows;
        for (const std::int64_t cell : mesh.names()->cells)
        {
            rows.insert(rows.end(), {0.5f*cell, 3.0f - cell});
        }
        part.put("ofCells", rows);
        for (const std::int64_t face : mesh.names()->faces)
        {
            rows.insert(rows.end(), {-1.0f*face, 0.25f*face});
        }
        part.put("ofRows", rows);
        const TopologyMark mark = TopologyMark::of(mesh, *mesh.names(), comm);
        saved.parts[comm.rank()] = part;
        if (comm.isMaster())
        {
            saved.mark = mark;
        }
    });
    return saved;
}


std::vector<StateTree> dealt(const Saved& saved, const Comm& comm)
{
    std::vector<StateTree> parts;
    for (std::size_t part = comm.rank(); part < saved.parts.size(); part += comm.size())
    {
        parts.push_back(saved.parts[part]);
    }
    return parts;
}


struct Finding
{
    Match match;
    bool differ;
};


Finding findOn(const Saved& saved, const WaveCase& whole, int nRanks, int shift = 0,
    bool named = true)
{
    std::mutex mutex;
    std::vector<Finding> findings;
    onParts(whole, nRanks, shift, named, [&](const MeshState& mesh, Comm& comm)
    {
        const SavedRows rows(dealt(saved, comm), static_cast<int>(saved.parts.size()), saved.mark,
            mesh, comm);
        const std::lock_guard<std::mutex> lock(mutex);
        findings.push_back({rows.match(), rows.areOfAnotherMesh()});
    });
    for (const Finding& finding : findings)
    {
        EXPECT_EQ(finding.match, findings[0].match);
        EXPECT_EQ(finding.differ, findings[0].differ);
    }
    return findings[0];
}

}


TEST(SavedRows, TellHowTheyLieToThoseOfTheRun)
{
    const WaveCase whole(7, 6), other(6, 7);
    const Saved saved = savedOn(whole, 2);
    EXPECT_EQ(findOn(saved, whole, 2).match, Match::same);
    EXPECT_EQ(findOn(saved, whole, 2, 1).match, Match::elsewhere);
    for (const int nRanks : {1, 3, 4})
    {
        EXPECT_EQ(findOn(saved, whole, nRanks).match, Match::elsewhere);
    }
    for (const int nRanks : {1, 2, 3})
    {
        const Finding finding = findOn(saved, other, nRanks);
        EXPECT_EQ(finding.match, Match::unknown);
        EXPECT_TRUE(finding.differ);
    }

    // Names that are counted hold for the same rows on the same ranks only
    const Saved counted = savedOn(whole, 2, 0, false);
    EXPECT_EQ(findOn(counted, whole, 2, 0, false).match, Match::same);
    for (const auto& [nRanks, shift, named] : std::vector<std::tuple<int, int, bool>>
        {{2, 0, true}, {3, 0, false}, {1, 0, true}, {2, 1, false}})
    {
        const Finding finding = findOn(counted, whole, nRanks, shift, named);
        EXPECT_EQ(finding.match, Match::unknown) << nRanks << shift << named;
        EXPECT_FALSE(finding.differ);
    }
    EXPECT_EQ(findOn(saved, whole, 3, 0, false).match, Match::unknown);
}


TEST(SavedRows, OtherEdgesBetweenTheSameNamesAreAnotherMesh)
{
    // The last internal face joins other cells
    FaceMesh faces = WaveCase(7, 6).faces();
    const auto stateOf = [](const FaceMesh& mesh)
    {
        MeshState state;
        state.graph = std::make_shared<MeshGraph>(mesh.graph());
        auto geometry = std::make_shared<MeshGeometry>();
        geometry->centres.resize(3*static_cast<std::size_t>(state.graph->nNodes()));
        state.geometry = geometry;
        return state;
    };
    const MeshState before = stateOf(faces);
    const TopologyMark mark = TopologyMark::of(before, *before.names(), SerialComm());
    const auto rowsNow = [&]
    {
        return SavedRows({SavedRows::save(before)}, 1, mark, stateOf(faces), SerialComm());
    };
    EXPECT_EQ(rowsNow().match(), Match::same);
    faces.owner.back() = faces.owner[faces.owner.size() - 2];
    EXPECT_EQ(rowsNow().match(), Match::unknown);
    EXPECT_TRUE(rowsNow().areOfAnotherMesh());
}


TEST(SavedRows, BringCentresAndValuesToTheRanksOfTheirRows)
{
    const WaveCase whole(7, 6);
    for (const auto& [before, after] : std::vector<std::pair<int, int>>{{2, 3}, {4, 1}, {1, 4}})
    {
        const Saved saved = savedOn(whole, before);
        const int nBefore = before;
        onParts(whole, after, 1, true, [&](const MeshState& mesh, Comm& comm)
        {
            const std::vector<StateTree> parts = dealt(saved, comm);
            const SavedRows rows(parts, nBefore, saved.mark, mesh, comm);
            EXPECT_EQ(rows.nRanks(), nBefore);
            EXPECT_EQ(rows.centres(), mesh.geometry->centres);

            std::vector<float> expected;
            for (const std::int64_t cell : mesh.names()->cells)
            {
                expected.insert(expected.end(), {0.5f*cell, 3.0f - cell});
            }
            StateTree moved;
            constexpr auto type = StateTree::Type::float32;
            moved.putArray("cells", rows.move(parts, "ofCells", {type, 2, false}));
            EXPECT_EQ(moved.get<float>("cells"), expected);
            for (const std::int64_t face : mesh.names()->faces)
            {
                expected.insert(expected.end(), {-1.0f*face, 0.25f*face});
            }
            moved.putArray("rows", rows.move(parts, "ofRows", {type, 2, true}));
            EXPECT_EQ(moved.get<float>("rows"), expected);
            EXPECT_THAT(moved.getArray("rows").shape,
                testing::ElementsAre(mesh.graph->nNodes(), 2));
        });
    }
}


TEST(SavedRows, ValuesThatDoNotFitAreAnErrorOnAllRanks)
{
    const WaveCase whole(7, 6);
    Saved saved = savedOn(whole, 2);
    saved.parts[1].put("ofCells", std::vector<float>(5));
    std::vector<int> nFaults(3, 0);
    onParts(whole, 3, 0, true, [&](const MeshState& mesh, Comm& comm)
    {
        const std::vector<StateTree> parts = dealt(saved, comm);
        const SavedRows rows(parts, 2, saved.mark, mesh, comm);
        for (const StateTree::Type type : {StateTree::Type::float32, StateTree::Type::float64})
        {
            try
            {
                rows.move(parts, type == StateTree::Type::float32 ? "ofCells" : "ofRows",
                    {type, 2, type == StateTree::Type::float64});
            }
            catch (const AgreedError& fault)
            {
                EXPECT_THAT(fault.what(), HasSubstr("2 columns"));
                ++nFaults[comm.rank()];
            }
        }
    });
    EXPECT_THAT(nFaults, testing::Each(2));

    // Damaged names
    saved.parts[1] = StateTree();
    std::fill(nFaults.begin(), nFaults.end(), 0);
    onParts(whole, 3, 0, true, [&](const MeshState& mesh, Comm& comm)
    {
        try
        {
            SavedRows(dealt(saved, comm), 2, saved.mark, mesh, comm);
        }
        catch (const AgreedError& fault)
        {
            EXPECT_THAT(fault.what(), HasSubstr("rank 1: "));
            ++nFaults[comm.rank()];
        }
    });
    EXPECT_THAT(nFaults, testing::Each(1));
}

}
