// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/FileIdentity.hpp"

#include "TemporaryFolder.hpp"

#include <gtest/gtest.h>

namespace inSitu
{

TEST(FileIdentity, TellsAFileFromWhatTakesItsPlace)
{
    const TemporaryFolder folder;
    const std::string path = folder.write("a", "one");
    const FileIdentity first = FileIdentity::of(path);

    EXPECT_TRUE(first.exists());
    EXPECT_TRUE(FileIdentity::of(path) == first);

    // The same size and time of writing, but another file
    folder.write("b", "two");
    std::filesystem::last_write_time(folder / "b", std::filesystem::last_write_time(path));
    std::filesystem::rename(folder / "b", path);
    const FileIdentity renamed = FileIdentity::of(path);
    EXPECT_FALSE(renamed == first);

    folder.write("a", "three");
    EXPECT_FALSE(FileIdentity::of(path) == renamed);

    std::filesystem::remove(path);
    EXPECT_FALSE(FileIdentity::of(path).exists());
    EXPECT_FALSE(FileIdentity::of("").exists());
}

}
