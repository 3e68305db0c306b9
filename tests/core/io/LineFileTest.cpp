// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/LineFile.hpp"
#include "TemporaryFolder.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <vector>

#include <sys/resource.h>

namespace inSitu
{
namespace
{

//- As on a full disk: files of this process grow up to a size
class SizeLimit
{
public:

    explicit SizeLimit(rlim_t bytes)
    {
        ::signal(SIGXFSZ, SIG_IGN);
        ::getrlimit(RLIMIT_FSIZE, &before_);
        set(bytes);
    }

    ~SizeLimit() { ::setrlimit(RLIMIT_FSIZE, &before_); }

    void set(rlim_t bytes)
    {
        const rlimit now{bytes, before_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &now);
    }

private:

    rlimit before_;
};

}


TEST(LineFile, IsOnTheDiskAtOnce)
{
    const TemporaryFolder folder;
    folder.write("t.dat", "old\n");
    {
        LineFile table(folder / "t.dat", LineFile::Start::anew);
        table.write("1\t2");
        EXPECT_EQ(folder.read("t.dat"), "1\t2\n");
    }
    LineFile table(folder / "t.dat", LineFile::Start::append);
    table.write("3\t4");
    EXPECT_EQ(folder.read("t.dat"), "1\t2\n3\t4\n");
    EXPECT_TRUE(table.good());
}


TEST(LineFile, LosesWholeLinesOnAFullDiskAndGoesOnAfterIt)
{
    const TemporaryFolder folder;
    std::vector<std::string> told;
    LineFile table(folder / "t.dat", LineFile::Start::anew,
        [&](const std::string& text) { told.push_back(text); });
    table.write("first");
    {
        SizeLimit limit(13);
        table.write("second line");
        table.write("3rd");
        table.write("4th one");
        EXPECT_EQ(folder.read("t.dat"), "first\n3rd\n");
        EXPECT_FALSE(table.good());
    }
    table.write("fifth line");

    EXPECT_EQ(folder.read("t.dat"), "first\n3rd\nfifth line\n");
    ASSERT_EQ(told.size(), 1u);
    EXPECT_NE(told[0].find("t.dat: File too large"), std::string::npos) << told[0];
}


TEST(LineFile, ToleratesAPlaceThatIsNot)
{
    const TemporaryFolder folder;
    LineFile nowhere(folder / "none/t.dat", LineFile::Start::anew);
    EXPECT_FALSE(nowhere.good());
    nowhere.write("1");

    LineFile off("", LineFile::Start::anew);
    off.write("1");
    EXPECT_TRUE(off.good());
}

}
