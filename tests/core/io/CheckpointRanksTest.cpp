// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/agree.hpp"
#include "io/CheckpointShelf.hpp"
#include "TemporaryFolder.hpp"
#include "ThreadComm.hpp"
#include "WatchedComm.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>

#include <sys/wait.h>
#include <unistd.h>

// One folder that several ranks write

namespace fs = std::filesystem;

namespace inSitu
{
namespace
{

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

StateTree stateOf(std::int64_t count)
{
    StateTree state;
    state.putInt("count", count);
    return state;
}


RankPart partOf(std::int64_t count, int rank)
{
    RankPart part;
    part.values.putInt("mark", 10*count + rank);
    part.replay.emplace();
    part.replay->put("values", std::vector<double>(7 + rank, 0.5*static_cast<double>(count)));
    return part;
}


//- A folder where a file is to be, as soon as what it lies in is there
void putInTheWay(const std::string& file)
{
    if (fs::exists(fs::path(file).parent_path()) && !fs::exists(file))
    {
        fs::create_directory(file);
    }
}


class CheckpointRanksTest : public testing::Test
{
protected:

    std::size_t write(std::int64_t count, const Comm& comm) const
    {
        // Only the master's state counts
        return writeCheckpoint(folder, stateOf(comm.isMaster() ? count : -7),
            partOf(count, comm.rank()), comm);
    }

    void writeOn(int nRanks, std::int64_t count) const
    {
        onRanks(nRanks, [&](Comm& comm) { write(count, comm); });
    }

    //- What each rank is told
    std::vector<std::string> faultsOn(int nRanks, std::int64_t count,
        const std::function<void(int rank, int nCalls)>& watch) const
    {
        std::vector<std::string> faults(nRanks);
        onRanks(nRanks, [&](Comm& comm)
        {
            const WatchedComm watched(comm, [&](int nCalls) { watch(comm.rank(), nCalls); });
            try
            {
                write(count, watched);
            }
            catch (const AgreedError& fault)
            {
                faults[comm.rank()] = fault.what();
            }
        });
        return faults;
    }

    std::vector<std::string> namesIn(const std::string& path) const
    {
        std::vector<std::string> names;
        for (const auto& entry : fs::directory_iterator(path))
        {
            names.push_back(entry.path().filename().string());
        }
        std::sort(names.begin(), names.end());
        return names;
    }

    //- The count of a checkpoint that is whole
    static std::int64_t countIn(const std::string& place)
    {
        const Checkpoint checkpoint = readCheckpoint(place);
        const std::int64_t count = checkpoint.state.getInt("count");
        for (std::size_t rank = 0; rank < checkpoint.parts.size(); ++rank)
        {
            EXPECT_EQ(checkpoint.parts[rank].values.getInt("mark"),
                10*count + static_cast<std::int64_t>(rank));
        }
        return count;
    }

    const TemporaryFolder top;
    const std::string folder = top / "5/uniform/surrogate";
    const std::string temporary = folder + ".tmp" + std::to_string(getpid());
};

}


TEST_F(CheckpointRanksTest, EachRankWritesItsPartIntoOneFolder)
{
    std::mutex mutex;
    std::vector<std::size_t> bytes;
    onRanks(3, [&](Comm& comm)
    {
        const std::size_t written = write(3, comm);
        const std::lock_guard<std::mutex> lock(mutex);
        bytes.push_back(written);
    });

    EXPECT_THAT(namesIn(folder), ElementsAre("manifest.json", "rank0.h5", "rank1.h5", "rank2.h5",
        "replay0.h5", "replay1.h5", "replay2.h5", "state.h5"));
    std::size_t expected = 0;
    for (const std::string& name : namesIn(folder))
    {
        expected += name == "manifest.json" ? 0 : fs::file_size(folder + '/' + name);
    }
    EXPECT_THAT(bytes, ElementsAre(expected, expected, expected));
    EXPECT_TRUE(isGoodCheckpoint(folder));
    EXPECT_EQ(countIn(folder), 3);
    EXPECT_THAT(namesIn(top / "5/uniform"), ElementsAre("surrogate"));
}


TEST_F(CheckpointRanksTest, PartsAreDealtToOtherNumbersOfRanks)
{
    writeOn(4, 2);
    const auto marksOn = [&](int size)
    {
        std::vector<std::vector<std::int64_t>> marks(size);
        onRanks(size, [&](Comm& comm)
        {
            // The place is the master's to know
            const Checkpoint checkpoint =
                readCheckpoint(comm.isMaster() ? folder : "elsewhere", comm);
            EXPECT_EQ(checkpoint.nRanks, 4);
            EXPECT_TRUE(checkpoint.hasReplay);
            EXPECT_EQ(checkpoint.state.getInt("count"), 2);
            for (const RankPart& part : checkpoint.parts)
            {
                const std::int64_t mark = part.values.getInt("mark");
                marks[comm.rank()].push_back(mark);
                EXPECT_EQ(part.replay->getArray("values").count(), 7u + mark - 20);
            }
        });
        return marks;
    };
    EXPECT_THAT(marksOn(4), ElementsAre(ElementsAre(20), ElementsAre(21), ElementsAre(22),
        ElementsAre(23)));
    EXPECT_THAT(marksOn(3), ElementsAre(ElementsAre(20, 23), ElementsAre(21), ElementsAre(22)));
    EXPECT_THAT(marksOn(1), ElementsAre(ElementsAre(20, 21, 22, 23)));
    EXPECT_THAT(marksOn(5).back(), ElementsAre());
}


TEST_F(CheckpointRanksTest, OneRankThatCannotWriteIsAFailureOnAll)
{
    writeOn(3, 3);

    // A folder in the way of a file, as soon as there is something to be in the way of
    const auto faults = faultsOn(3, 4, [&](int rank, int)
    {
        if (rank == 2)
        {
            putInTheWay(temporary + "/rank2.h5");
        }
    });

    for (const std::string& fault : faults)
    {
        EXPECT_THAT(fault, AllOf(HasSubstr("rank 2: "), HasSubstr("rank2.h5")));
    }
    EXPECT_EQ(countIn(folder), 3);
    EXPECT_THAT(namesIn(top / "5/uniform"), ElementsAre("surrogate"));

    writeOn(3, 4);
    EXPECT_EQ(countIn(folder), 4);
}


TEST_F(CheckpointRanksTest, AMasterThatCannotPrepareOrPublishIsAFailureOnAll)
{
    top.write("5", "no folder");
    for (const std::string& fault : faultsOn(3, 4, [](int, int) {}))
    {
        EXPECT_THAT(fault, AllOf(HasSubstr("rank 0: "), HasSubstr("Not a directory")));
    }
    fs::remove(top / "5");
    writeOn(3, 3);

    const auto faults = faultsOn(3, 4, [&](int rank, int)
    {
        if (rank == 0)
        {
            putInTheWay(temporary + "/manifest.json");
        }
    });
    for (const std::string& fault : faults)
    {
        EXPECT_THAT(fault, AllOf(HasSubstr("rank 0: "), HasSubstr("manifest.json")));
    }
    EXPECT_EQ(countIn(folder), 3);
    EXPECT_THAT(namesIn(top / "5/uniform"), ElementsAre("surrogate"));
}


TEST_F(CheckpointRanksTest, AFileThatIsInTheWayIsToldToAll)
{
    fs::create_directories(top / "5/uniform");
    std::ofstream(folder) << "somebody's";
    for (const std::string& fault : faultsOn(2, 4, [](int, int) {}))
    {
        EXPECT_THAT(fault, HasSubstr("is a file of somebody else"));
    }
    EXPECT_EQ(top.read("5/uniform/surrogate"), "somebody's");
}


TEST_F(CheckpointRanksTest, ADamagedOrMissingPartIsNamed)
{
    writeOn(3, 3);
    const auto faults = [&]
    {
        std::vector<std::string> told(3);
        onRanks(3, [&](Comm& comm)
        {
            try
            {
                readCheckpoint(folder, comm);
            }
            catch (const AgreedError& fault)
            {
                told[comm.rank()] = fault.what();
            }
        });
        EXPECT_EQ(told[1], told[0]);
        EXPECT_EQ(told[2], told[0]);
        return told[0];
    };
    EXPECT_EQ(faults(), "");
    std::fstream(folder + "/replay1.h5", std::ios::in | std::ios::out | std::ios::binary)
        .seekp(900).put('#');
    EXPECT_THAT(faults(), AllOf(HasSubstr("rank 1: "), HasSubstr("replay1.h5 is damaged")));
    EXPECT_FALSE(isGoodCheckpoint(folder));

    fs::remove(folder + "/rank2.h5");
    EXPECT_THAT(faults(), AllOf(HasSubstr("rank 0: "), HasSubstr("rank2.h5 is missing")));
}


TEST_F(CheckpointRanksTest, KilledBetweenTwoPhasesItLeavesAGoodCheckpoint)
{
    writeOn(3, 100);
    int nCalls = 0;
    onRanks(3, [&](Comm& comm)
    {
        const WatchedComm watched(comm, [](int) {});
        write(100, watched);
        if (comm.rank() == 1)
        {
            nCalls = watched.nCalls();
        }
    });
    ASSERT_GT(nCalls, 5);

    // Two of them once after each of their calls: all threads end with it
    std::int64_t count = 100;
    for (const int victim : {0, 1})
    {
        for (int call = 1; call <= nCalls; ++call)
        {
            const pid_t child = fork();
            if (child == 0)
            {
                faultsOn(3, count + 1, [&](int rank, int soFar)
                {
                    if (rank == victim && soFar == call)
                    {
                        _exit(0);
                    }
                });
                _exit(0);
            }
            waitpid(child, nullptr, 0);

            const std::int64_t found = countIn(folder);
            ASSERT_TRUE(found == count || found == count + 1) << victim << " at " << call;
            ASSERT_TRUE(isGoodCheckpoint(folder));
            count = found;
        }
    }
    EXPECT_GT(count, 101);

    writeOn(3, 7);
    EXPECT_EQ(countIn(folder), 7);
    EXPECT_THAT(namesIn(top / "5/uniform"), ElementsAre("surrogate"));
}


TEST_F(CheckpointRanksTest, TheShelfKeepsAllPartsAndTrimsAllReplays)
{
    const auto folderOf = [&](const std::string& name)
    {
        return top / name + "/uniform/surrogate";
    };
    onRanks(2, [&](Comm& comm)
    {
        CheckpointShelf shelf(top / "checkpoints");
        for (const std::int64_t time : {1, 2, 3})
        {
            const std::string name = std::to_string(time);
            shelf.add({static_cast<double>(time), folderOf(name)}, name, stateOf(time),
                partOf(time, comm.rank()), comm);
        }
    });

    EXPECT_THAT(namesIn(folderOf("1")),
        ElementsAre("manifest.json", "rank0.h5", "rank1.h5", "state.h5"));
    EXPECT_EQ(countIn(folderOf("1")), 1);
    EXPECT_FALSE(readCheckpoint(folderOf("1")).hasReplay);
    EXPECT_THAT(namesIn(top / "checkpoints"), ElementsAre("2", "3"));
    for (const char* place : {"2/uniform/surrogate", "3/uniform/surrogate", "checkpoints/2",
        "checkpoints/3"})
    {
        EXPECT_EQ(namesIn(top / place).size(), 6u) << place;
        EXPECT_TRUE(isGoodCheckpoint(top / place)) << place;
    }
    EXPECT_EQ(countIn(top / "checkpoints/2"), 2);
}


TEST_F(CheckpointRanksTest, AShelfThatCannotBeWrittenIsToldToAll)
{
    top.write("checkpoints", "no folder");
    std::vector<std::string> faults(2);
    onRanks(2, [&](Comm& comm)
    {
        CheckpointShelf shelf(top / "checkpoints");
        try
        {
            shelf.add({1, folder}, "1", stateOf(1), partOf(1, comm.rank()), comm);
        }
        catch (const AgreedError& fault)
        {
            faults[comm.rank()] = fault.what();
        }
    });
    EXPECT_THAT(faults[0], HasSubstr("checkpoints"));
    EXPECT_EQ(faults[1], faults[0]);
    EXPECT_EQ(countIn(folder), 1);
}

}
