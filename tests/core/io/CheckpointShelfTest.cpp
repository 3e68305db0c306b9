// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/CheckpointShelf.hpp"

#include "TemporaryFolder.hpp"
#include "base/Error.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include <sys/wait.h>

namespace fs = std::filesystem;

namespace inSitu
{
namespace
{

class CheckpointShelfTest : public testing::Test
{
protected:

    void SetUp() override
    {
        fs::remove_all(top);
        fs::create_directories(top);
    }

    std::string folderOf(const std::string& timeName) const
    {
        return top + '/' + timeName + "/uniform/surrogate";
    }

    void add(CheckpointShelf& shelf, const std::string& timeName) const
    {
        const double time = std::stod(timeName);
        fs::create_directories(top + '/' + timeName + "/uniform");

        StateTree state;
        RankPart part;
        state.putDouble("time", time);
        part.replay.emplace();
        part.replay->put("values", std::vector<double>{time, 2*time + 0.5});
        shelf.add({time, folderOf(timeName)}, timeName, state, part);
    }

    static Checkpoint read(const std::string& folder)
    {
        return readCheckpoint(folder);
    }

    static bool hasReplay(const std::string& folder)
    {
        return read(folder).parts.at(0).replay.has_value();
    }

    std::vector<std::string> onShelf() const
    {
        std::vector<std::string> names;
        for (const auto& entry : fs::directory_iterator(top + "/checkpoints"))
        {
            names.push_back(entry.path().filename().string());
        }
        std::sort(names.begin(), names.end());
        return names;
    }

    const TemporaryFolder temporary;
    const std::string top = temporary/"checkpointShelf";
};


TEST_F(CheckpointShelfTest, KeepsCopiesOfTheTwoNewest)
{
    CheckpointShelf shelf(top + "/checkpoints");

    for (const char* time : {"0.5", "1", "1.5", "2"})
    {
        add(shelf, time);
    }

    EXPECT_EQ(onShelf(), (std::vector<std::string>{"1.5", "2"}));
    const Checkpoint copy = read(top + "/checkpoints/1.5");
    EXPECT_DOUBLE_EQ(copy.state.getDouble("time"), 1.5);
    EXPECT_EQ(copy.parts.at(0).replay->get<double>("values"), (std::vector<double>{1.5, 3.5}));
}


TEST_F(CheckpointShelfTest, LeavesTheReplayInTheTwoNewestOnly)
{
    CheckpointShelf shelf(top + "/checkpoints");

    for (const char* time : {"0.5", "1", "1.5"})
    {
        add(shelf, time);
    }

    const Checkpoint old = read(folderOf("0.5"));
    EXPECT_FALSE(old.parts.at(0).replay);
    EXPECT_DOUBLE_EQ(old.state.getDouble("time"), 0.5);
    EXPECT_TRUE(hasReplay(folderOf("1")));
    EXPECT_TRUE(hasReplay(folderOf("1.5")));
}


TEST_F(CheckpointShelfTest, TrimsWhatAnEarlierRunLeft)
{
    {
        CheckpointShelf earlier(top + "/checkpoints");
        add(earlier, "0.5");
        add(earlier, "1");
    }
    CheckpointShelf shelf(top + "/checkpoints");
    shelf.adopt({{1, folderOf("1")}, {0.5, folderOf("0.5")}});

    add(shelf, "1.5");

    EXPECT_FALSE(hasReplay(folderOf("0.5")));
    EXPECT_TRUE(hasReplay(folderOf("1")));
}


TEST_F(CheckpointShelfTest, SurvivesTimesThatWerePurged)
{
    CheckpointShelf shelf(top + "/checkpoints");
    add(shelf, "0.5");
    fs::remove_all(top + "/0.5");

    add(shelf, "1");
    add(shelf, "1.5");

    EXPECT_EQ(onShelf(), (std::vector<std::string>{"1", "1.5"}));
}


TEST_F(CheckpointShelfTest, OffersNewestFirstAndNothingFromTheFuture)
{
    CheckpointShelf shelf(top + "/checkpoints");
    add(shelf, "0.5");
    add(shelf, "1.5");

    const auto found = shelf.candidates
    (
        {{0.25, "a"}, {1.5, folderOf("1.5")}, {3, "b"}, {0.5, folderOf("0.5")}},
        1.5 + 1e-12
    );

    std::vector<std::string> folders;
    for (const CheckpointPlace& place : found)
    {
        folders.push_back(place.folder);
    }
    EXPECT_EQ(folders, (std::vector<std::string>{folderOf("1.5"), top + "/checkpoints/1.5",
        folderOf("0.5"), top + "/checkpoints/0.5", "a"}));
}


TEST_F(CheckpointShelfTest, PutsInOrderWhatKilledWritersLeft)
{
    const pid_t dead = fork();
    if (dead == 0)
    {
        _exit(0);
    }
    waitpid(dead, nullptr, 0);
    const std::string temporary = ".tmp" + std::to_string(dead);

    CheckpointShelf shelf(top + "/checkpoints");
    add(shelf, "1");
    add(shelf, "2");
    fs::rename(folderOf("2"), folderOf("2") + ".old");
    fs::create_directories(folderOf("3") + temporary);
    fs::create_directories(top + "/checkpoints/3" + temporary);
    fs::rename(top + "/checkpoints/1", top + "/checkpoints/1.old");

    const auto found =
        shelf.tidy({{3, folderOf("3")}, {2, folderOf("2")}, {1, folderOf("1")}});

    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].folder, folderOf("2"));
    EXPECT_EQ(found[1].folder, folderOf("1"));
    EXPECT_TRUE(isGoodCheckpoint(folderOf("2")));
    EXPECT_TRUE(fs::is_empty(top + "/3/uniform"));
    EXPECT_EQ(onShelf(), (std::vector<std::string>{"1", "2"}));
}


TEST_F(CheckpointShelfTest, KeepsNewerWorkAfterARestartFromAnEarlierTime)
{
    CheckpointShelf shelf(top + "/checkpoints");
    add(shelf, "5");
    add(shelf, "6");
    std::filesystem::last_write_time(top + "/checkpoints/5",
        fs::file_time_type::clock::now() - std::chrono::hours(2));
    std::filesystem::last_write_time(top + "/checkpoints/6",
        fs::file_time_type::clock::now() - std::chrono::hours(1));

    add(shelf, "1");
    add(shelf, "2");

    EXPECT_EQ(onShelf(), (std::vector<std::string>{"1", "2"}));
}

}
}
