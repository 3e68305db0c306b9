// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/requireSameFile.hpp"

#include "TemporaryFolder.hpp"
#include "ThreadComm.hpp"
#include "base/Error.hpp"

#include <gmock/gmock.h>

namespace inSitu
{
namespace
{

using testing::HasSubstr;

//- What each of three ranks is told, of files file0 file1 file2
std::vector<std::string> faults(const TemporaryFolder& folder)
{
    std::vector<std::string> told(3);
    onRanks(3, [&](Comm& comm)
    {
        std::string& mine = told[static_cast<std::size_t>(comm.rank())];
        try
        {
            requireSameFile(folder / ("file" + std::to_string(comm.rank())), "initialWeights", comm);
        }
        catch (const Error& fault)
        {
            mine = fault.what();
        }
    });
    return told;
}

}


TEST(RequireSameFile, TellsEveryRankOfContentsThatDiffer)
{
    const TemporaryFolder folder;
    for (const char* name : {"file0", "file1", "file2"})
    {
        folder.write(name, "weights 17");
    }
    EXPECT_THAT(faults(folder), testing::Each(std::string()));

    folder.write("file1", "weights 18");
    EXPECT_THAT(faults(folder),
        testing::Each(HasSubstr("the ranks read different contents of initialWeights")));

    std::filesystem::remove(folder / "file1");
    EXPECT_THAT(faults(folder), testing::Each(HasSubstr("rank 1: ")));
}


TEST(RequireSameFile, LooksAtNoFileOnOneRank)
{
    requireSameFile("/nowhere", "model", SerialComm());
}

}
