// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/Error.hpp"
#include "io/Checkpoint.hpp"
#include "io/Crc32.hpp"
#include "TemporaryFolder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <random>
#include <thread>

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace inSitu
{
namespace
{

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

struct Example
{
    StateTree state;
    RankPart part;
};


Example example(std::int64_t count, bool withReplay = true)
{
    Example example;
    example.state.putInt("count", count);
    example.state.put("weights", std::vector<double>(37, 0.1*static_cast<double>(count)));
    example.state.putText("configuration", "{\"horizon\":4}");
    example.part.values.put("waiting", std::vector<double>{0.5*static_cast<double>(count)});
    if (withReplay)
    {
        example.part.replay.emplace();
        example.part.replay->put("values",
            std::vector<float>(53, 0.25f*static_cast<float>(count)));
    }
    return example;
}


std::size_t write(const std::string& folder, const Example& example)
{
    return writeCheckpoint(folder, example.state, example.part);
}


Checkpoint read(const std::string& folder)
{
    return readCheckpoint(folder);
}


std::int64_t countIn(const std::string& folder)
{
    return read(folder).state.getInt("count");
}


//- Of a process that has ended
pid_t deadProcess()
{
    const pid_t child = fork();
    if (child == 0)
    {
        _exit(0);
    }
    waitpid(child, nullptr, 0);
    return child;
}


class CheckpointTest : public testing::Test
{
protected:

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

    const TemporaryFolder top;
    const std::string folder = top / "5/uniform/surrogate";
    const std::string aside = folder + ".old";
};


TEST_F(CheckpointTest, GivesBackAllParts)
{
    const std::size_t bytes = write(folder, example(3));

    EXPECT_THAT(namesIn(folder),
        ElementsAre("manifest.json", "rank0.h5", "replay0.h5", "state.h5"));
    EXPECT_EQ(bytes, fs::file_size(folder + "/state.h5") + fs::file_size(folder + "/rank0.h5")
        + fs::file_size(folder + "/replay0.h5"));
    EXPECT_TRUE(isGoodCheckpoint(folder));

    const Checkpoint back = read(folder);
    EXPECT_EQ(back.state.getInt("count"), 3);
    EXPECT_EQ(back.state.getText("configuration"), "{\"horizon\":4}");
    ASSERT_EQ(back.parts.size(), 1u);
    EXPECT_EQ(back.parts[0].values.get<double>("waiting"), std::vector<double>{1.5});
    ASSERT_TRUE(back.parts[0].replay);
    EXPECT_EQ(back.parts[0].replay->get<float>("values"), std::vector<float>(53, 0.75f));
}


TEST_F(CheckpointTest, ReplacesAnOlderOne)
{
    write(folder, example(3));
    write(folder, example(4, false));

    EXPECT_EQ(countIn(folder), 4);
    EXPECT_FALSE(read(folder).parts.at(0).replay);
    EXPECT_THAT(namesIn(folder), ElementsAre("manifest.json", "rank0.h5", "state.h5"));
    EXPECT_THAT(namesIn(top / "5/uniform"), ElementsAre("surrogate"));
}


TEST_F(CheckpointTest, IsNotGoodWithAnyByteChanged)
{
    write(folder, example(3));

    int flips = 0;
    for (const std::string& name : namesIn(folder))
    {
        const std::string path = folder + '/' + name;
        std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
        const std::size_t stride = name == "manifest.json" ? 1 : 7;
        for (std::size_t position = 0; position < fs::file_size(path); position += stride)
        {
            file.seekg(static_cast<std::streamoff>(position));
            const char byte = static_cast<char>(file.get());
            const auto put = [&](char value)
            {
                file.seekp(static_cast<std::streamoff>(position));
                file.put(value).flush();
            };
            put(static_cast<char>(byte ^ 1 << position % 8));
            EXPECT_FALSE(isGoodCheckpoint(folder)) << name << " byte " << position;
            put(byte);
            ++flips;
        }
    }
    EXPECT_GT(flips, 500);
    EXPECT_TRUE(isGoodCheckpoint(folder));
}


TEST_F(CheckpointTest, NamesTheFault)
{
    write(folder, example(3));
    const std::string state = folder + "/state.h5";
    const auto size = fs::file_size(state);

    fs::resize_file(state, size - 1);
    EXPECT_THAT([&]() { read(folder); },
        ThrowsMessage<Error>(AllOf(HasSubstr(folder), HasSubstr("state.h5 has"))));

    fs::resize_file(state, size);
    std::fstream(state, std::ios::in | std::ios::out | std::ios::binary).seekp(900).put('#');
    EXPECT_THAT([&]() { read(folder); },
        ThrowsMessage<Error>(HasSubstr("state.h5 is damaged")));

    fs::remove(state);
    EXPECT_THAT([&]() { read(folder); },
        ThrowsMessage<Error>(HasSubstr("state.h5 is missing")));

    fs::remove(folder + "/manifest.json");
    EXPECT_THAT([&]() { read(folder); },
        ThrowsMessage<Error>(HasSubstr("manifest.json is missing")));
    EXPECT_FALSE(isGoodCheckpoint(folder));
    EXPECT_FALSE(isGoodCheckpoint(top / "nowhere"));
}


TEST_F(CheckpointTest, RefusesAnotherFormatVersion)
{
    write(folder, example(3));
    const std::string text = "{\"format\":\"inSituFoam checkpoint\",\"version\":2,\"files\":[]";
    char crc[9];
    std::snprintf(crc, sizeof(crc), "%08x", crc32(text.data(), text.size()));
    std::ofstream(folder + "/manifest.json") << text << ",\"crc32\":\"" << crc << "\"}\n";

    EXPECT_THAT([&]() { read(folder); },
        ThrowsMessage<Error>(HasSubstr("has format version 2; this build reads 1")));
}


TEST_F(CheckpointTest, LosesItsReplayOnly)
{
    write(folder, example(3));

    dropReplay(folder);
    dropReplay(folder);

    EXPECT_TRUE(isGoodCheckpoint(folder));
    EXPECT_EQ(countIn(folder), 3);
    EXPECT_FALSE(read(folder).parts.at(0).replay);
    EXPECT_THAT(namesIn(folder), ElementsAre("manifest.json", "rank0.h5", "state.h5"));

    fs::remove(folder + "/manifest.json");
    EXPECT_THROW(dropReplay(folder), Error);
}


TEST_F(CheckpointTest, IsCopiedAndTheCopyStandsAlone)
{
    const std::string copy = top / "checkpoints/5";
    write(folder, example(3));
    write(copy, example(2));

    copyCheckpoint(folder, copy);
    EXPECT_EQ(fs::hard_link_count(copy + "/state.h5"), 2u);

    write(folder, example(4));
    EXPECT_EQ(countIn(copy), 3);
    fs::remove_all(folder);
    EXPECT_EQ(countIn(copy), 3);

    EXPECT_THROW(copyCheckpoint(folder, copy), Error);
    EXPECT_EQ(countIn(copy), 3);
    EXPECT_THAT(namesIn(top / "checkpoints"), ElementsAre("5"));
}


// A writer that is killed leaves one of these states, in the order of its steps
TEST_F(CheckpointTest, SurvivesAWriterKilledWhilePreparing)
{
    write(folder, example(3));
    const std::string temporary = folder + ".tmp" + std::to_string(deadProcess());
    fs::create_directory(temporary);
    std::ofstream(temporary + "/state.h5") << "half";

    EXPECT_EQ(countIn(folder), 3);

    write(folder, example(4));
    EXPECT_EQ(countIn(folder), 4);
    EXPECT_THAT(namesIn(top / "5/uniform"), ElementsAre("surrogate"));
}


TEST_F(CheckpointTest, SurvivesAWriterKilledBetweenTheRenames)
{
    write(folder, example(3));
    fs::rename(folder, aside);
    write(top / "other", example(4));
    fs::rename(top / "other", folder + ".tmp" + std::to_string(deadProcess()));

    EXPECT_TRUE(isGoodCheckpoint(folder));
    EXPECT_EQ(countIn(folder), 3);
    copyCheckpoint(folder, top / "copy");
    EXPECT_EQ(countIn(top / "copy"), 3);

    tidyCheckpoint(folder);
    EXPECT_EQ(countIn(folder), 3);
    EXPECT_THAT(namesIn(top / "5/uniform"), ElementsAre("surrogate"));
}


TEST_F(CheckpointTest, SurvivesAWriterKilledBeforeRemovingTheOldOne)
{
    write(aside, example(3));
    write(folder + "x", example(4));
    fs::rename(folder + "x", folder);

    EXPECT_EQ(countIn(folder), 4);

    fs::remove(aside + "/state.h5");
    EXPECT_EQ(countIn(folder), 4);

    tidyCheckpoint(folder);
    EXPECT_EQ(countIn(folder), 4);
    EXPECT_THAT(namesIn(top / "5/uniform"), ElementsAre("surrogate"));
}


TEST_F(CheckpointTest, FallsBackToTheOneSetAsideIfTheNewOneIsDamaged)
{
    write(aside, example(3));
    write(folder + "x", example(4));
    fs::rename(folder + "x", folder);
    fs::remove(folder + "/state.h5");

    EXPECT_EQ(countIn(folder), 3);
    tidyCheckpoint(folder);
    EXPECT_EQ(countIn(folder), 3);
    EXPECT_FALSE(fs::exists(aside));
}


TEST_F(CheckpointTest, LeavesTemporaryFoldersOfLivingProcesses)
{
    write(folder, example(3));
    const std::string living = folder + ".tmp" + std::to_string(getppid());
    const std::string other = folder + ".tmpfile";
    fs::create_directory(living);
    fs::create_directory(other);

    write(folder, example(4));

    EXPECT_TRUE(fs::exists(living));
    EXPECT_TRUE(fs::exists(other));
}


TEST_F(CheckpointTest, KeepsAGoodCopyWhenItsWriterIsKilledAtAnyMoment)
{
    // Last count that the writer knows to be on the disk
    auto* const confirmed = static_cast<volatile std::int64_t*>(mmap(nullptr, sizeof(std::int64_t),
        PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(confirmed, MAP_FAILED);
    *confirmed = 100;
    write(folder, example(100));

    std::mt19937 generator(20240607);
    std::uniform_int_distribution<int> microseconds(500, 150000);
    for (int round = 0; round < 50; ++round)
    {
        const pid_t child = fork();
        if (child == 0)
        {
            for (;;)
            {
                write(folder, example(*confirmed + 1));
                *confirmed = *confirmed + 1;
            }
        }
        std::this_thread::sleep_for(std::chrono::microseconds(microseconds(generator)));
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);

        ASSERT_TRUE(isGoodCheckpoint(folder)) << "round " << round;
        const std::int64_t count = countIn(folder);
        ASSERT_GE(count, *confirmed) << "round " << round;
        ASSERT_LE(count, *confirmed + 1) << "round " << round;
        *confirmed = count;
    }
    EXPECT_GT(*confirmed, 100);

    write(folder, example(7));
    EXPECT_THAT(namesIn(top / "5/uniform"), ElementsAre("surrogate"));
    munmap(const_cast<std::int64_t*>(confirmed), sizeof(std::int64_t));
}


//- No file of this process may grow beyond a number of bytes: like a full disk
class FileSizeLimit
{
public:

    explicit FileSizeLimit(rlim_t bytes)
    :
        handler_(std::signal(SIGXFSZ, SIG_IGN))
    {
        getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit limit{bytes, before_.rlim_max};
        setrlimit(RLIMIT_FSIZE, &limit);
    }

    ~FileSizeLimit()
    {
        setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }

private:

    rlimit before_;
    void (*handler_)(int);
};


TEST_F(CheckpointTest, KeepsTheOldOneWhenTheDiskIsFull)
{
    write(folder, example(3));
    Example larger = example(4);
    larger.part.replay->put("more", std::vector<double>(60000, 0.3));

    const std::size_t openFiles = namesIn("/proc/self/fd").size();
    for (const rlim_t bytes : {0, 1, 100, 2000, 70000, 90000, 200000, 480000})
    {
        std::string message;
        {
            const FileSizeLimit limit(bytes);
            try
            {
                write(folder, larger);
            }
            catch (const Error& error)
            {
                message = error.what();
            }
        }
        EXPECT_THAT(message, HasSubstr("File too large")) << bytes;
        EXPECT_EQ(countIn(folder), 3) << bytes;
        EXPECT_THAT(namesIn(top / "5/uniform"), ElementsAre("surrogate")) << bytes;
    }
    EXPECT_EQ(namesIn("/proc/self/fd").size(), openFiles);

    write(folder, larger);
    EXPECT_EQ(countIn(folder), 4);
}


TEST_F(CheckpointTest, SaysThatThereIsNotEnoughSpace)
{
    // Never read: space is asked for before anything is written
    StateTree::Array huge;
    huge.shape = {std::int64_t(1) << 60};
    Example checkpoint = example(4);
    checkpoint.part.replay->putArray("huge", huge);
    write(folder, example(3));

    EXPECT_THAT([&]() { write(folder, checkpoint); },
        ThrowsMessage<Error>(HasSubstr("not enough space left in")));
    EXPECT_EQ(countIn(folder), 3);
}


TEST_F(CheckpointTest, SaysThatAFolderCannotBeMade)
{
    top.write("file", "no folder");

    EXPECT_THAT([&]() { write(top / "file/surrogate", example(3)); },
        ThrowsMessage<Error>(AllOf(HasSubstr("file/surrogate"), HasSubstr("Not a directory"))));
}

}
}
