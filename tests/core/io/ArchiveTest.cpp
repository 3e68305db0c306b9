// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/Archive.hpp"

#include "base/Error.hpp"

#include <gmock/gmock.h>

#include <archive.h>
#include <archive_entry.h>

namespace inSitu
{
namespace
{

using testing::HasSubstr;

std::string faultOf(const std::string& bytes)
{
    try
    {
        readArchive(bytes, "file");
    }
    catch (const Error& fault)
    {
        return fault.what();
    }
    return "none";
}


//- A member as foreign programs may write it
struct Foreign
{
    std::string name;
    std::string content;
    unsigned type = AE_IFREG;
};


std::string foreignArchive(const std::vector<Foreign>& members, bool tar, bool compressed = false)
{
    std::string bytes(1 << 20, '\0');
    std::size_t used = 0;
    archive* const handle = archive_write_new();
    tar ? archive_write_set_format_pax_restricted(handle) : archive_write_set_format_zip(handle);
    if (!tar)
    {
        compressed ? archive_write_zip_set_compression_deflate(handle)
            : archive_write_zip_set_compression_store(handle);
    }
    archive_write_set_bytes_in_last_block(handle, 1);
    archive_write_open_memory(handle, bytes.data(), bytes.size(), &used);
    for (const Foreign& member : members)
    {
        archive_entry* const entry = archive_entry_new();
        archive_entry_set_pathname(entry, member.name.c_str());
        archive_entry_set_filetype(entry, member.type);
        archive_entry_set_perm(entry, 0644);
        if (member.type == AE_IFLNK)
        {
            archive_entry_set_symlink(entry, member.content.c_str());
        }
        else
        {
            archive_entry_set_size(entry, static_cast<la_int64_t>(member.content.size()));
        }
        archive_write_header(handle, entry);
        if (member.type != AE_IFLNK)
        {
            archive_write_data(handle, member.content.data(), member.content.size());
        }
        archive_entry_free(entry);
    }
    archive_write_free(handle);
    bytes.resize(used);
    return bytes;
}


TEST(Archive, GivesBackWhatWasPutIn)
{
    const ArchiveMembers members{{"a/b.bin", std::string("\0\1\2PK\5\6", 7)}, {"empty", ""},
        {"large", std::string(70000, 'x')}};
    const std::string bytes = zipArchive(members);

    EXPECT_EQ(readArchive(bytes, "file"), members);
    EXPECT_EQ(zipArchive(members), bytes);
}


TEST(Archive, ReadsTar)
{
    const std::string bytes = foreignArchive({{"./one", "first"}, {"two", "second"}}, true);
    EXPECT_EQ(readArchive(bytes, "file"), (ArchiveMembers{{"one", "first"}, {"two", "second"}}));
}


TEST(Archive, RefusesWhatIsNotStored)
{
    const std::string bomb(500000, '\0');
    EXPECT_THAT(faultOf(foreignArchive({{"ok", "1"}, {"bomb", bomb}}, false, true)),
        HasSubstr("\"ok\" is compressed"));
}


TEST(Archive, RefusesMembersThatAreNoPlainFilesOrThereTwice)
{
    for (const bool tar : {false, true})
    {
        EXPECT_THAT(faultOf(foreignArchive({{"a", "1"}, {"a", "2"}}, tar)),
            HasSubstr("\"a\" is there twice"));
        EXPECT_THAT(faultOf(foreignArchive({{"link", "/etc/passwd", AE_IFLNK}}, tar)),
            HasSubstr("\"link\" is not a plain file"));
        EXPECT_THAT(faultOf(foreignArchive({{std::string(300, 'n'), "1"}}, tar)),
            HasSubstr("no plain name"));
        EXPECT_THAT(faultOf(foreignArchive({{"bell\a", "1"}}, tar)),
            HasSubstr("no plain name"));
    }
}


// The size stands in the local header and again in the central directory
TEST(Archive, RefusesSizesBeyondTheFile)
{
    std::string bytes = zipArchive({{"member", std::string(100, 'x')}});
    const std::size_t entry = bytes.find(std::string("PK\1\2", 4));
    ASSERT_NE(entry, std::string::npos);
    bytes[entry + 23] = 0x7F;
    bytes[entry + 27] = 0x7F;
    EXPECT_THAT(faultOf(bytes), HasSubstr("is damaged"));
    bytes[21] = 0x7F;
    bytes[25] = 0x7F;
    EXPECT_THAT(faultOf(bytes), HasSubstr("larger than the archive"));
}


TEST(Archive, NoticesADamagedMember)
{
    const std::string content(5000, 'x');
    std::string bytes = zipArchive({{"member", content}});
    bytes[bytes.find("xxxx") + 2500] = 'y';
    EXPECT_THAT(faultOf(bytes), HasSubstr("\"member\" is damaged"));
}


TEST(Archive, RefusesWhatIsNone)
{
    EXPECT_THAT(faultOf(""), HasSubstr("neither a zip nor a tar"));
    EXPECT_THAT(faultOf(std::string(3000, 'q')), HasSubstr("neither a zip nor a tar"));
    const std::string zip = zipArchive({{"member", std::string(1000, 'x')}});
    EXPECT_THAT(faultOf(zip.substr(0, zip.size() - 30)), HasSubstr("neither a zip nor a tar"));
    const std::string tar = foreignArchive({{"member", std::string(1000, 'x')}}, true);
    EXPECT_THAT(faultOf(tar.substr(0, 900)), HasSubstr("larger than the archive"));
    EXPECT_THAT(faultOf(tar.substr(0, 1300)), HasSubstr("\"member\" is damaged"));
}

}
}
