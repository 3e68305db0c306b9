// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/ModelFile.hpp"

#include "TemporaryFolder.hpp"
#include "base/Error.hpp"
#include "io/Archive.hpp"
#include "io/Disk.hpp"

#include <gmock/gmock.h>

#include <archive.h>
#include <archive_entry.h>

namespace inSitu
{
namespace
{

using testing::HasSubstr;
using Kind = ModelFile::Kind;

const std::string folder = INSITU_TOP "/tests/support/physicsNemo/";


Kind kindOf(const ArchiveMembers& members)
{
    return identifyModel(zipArchive(members), "net").kind;
}


std::string faultOf(const std::string& bytes)
{
    try
    {
        identifyModel(bytes, "net");
        return "none";
    }
    catch (const Error& fault)
    {
        return fault.what();
    }
}


la_ssize_t append(archive*, void* target, const void* bytes, std::size_t size)
{
    static_cast<std::string*>(target)->append(static_cast<const char*>(bytes), size);
    return static_cast<la_ssize_t>(size);
}


//- A zip with one member that is compressed
std::string compressed(const std::string& name, const std::string& content)
{
    std::string bytes;
    archive* const handle = archive_write_new();
    archive_write_set_format_zip(handle);
    archive_write_zip_set_compression_deflate(handle);
    archive_write_set_bytes_in_last_block(handle, 1);
    archive_write_open(handle, &bytes, nullptr, append, nullptr);
    archive_entry* const entry = archive_entry_new();
    archive_entry_set_pathname(entry, name.c_str());
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_size(entry, static_cast<la_int64_t>(content.size()));
    archive_write_header(handle, entry);
    archive_write_data(handle, content.data(), content.size());
    archive_entry_free(entry);
    archive_write_close(handle);
    archive_write_free(handle);
    return bytes;
}


TEST(ModelFile, IsToldByItsContent)
{
    EXPECT_EQ(readModelFile(folder + "concat.mdlus").kind, Kind::mdlus);
    EXPECT_EQ(readModelFile(folder + "legacy.mdlus").kind, Kind::mdlus);
    EXPECT_EQ(readModelFile(folder + "types.pt").kind, Kind::stateDictionary);
    EXPECT_EQ(identifyModel("\x80\x02" "before 1.6", "net").kind, Kind::stateDictionary);
    EXPECT_EQ(kindOf({{"a/data.pkl", "x"}, {"a/constants.pkl", "y"}}), Kind::torchScript);
    EXPECT_EQ(kindOf({{"a/data/aotinductor/model/m.so", "x"}, {"a/archive_format", "pt2"}}),
        Kind::package);
    EXPECT_EQ(kindOf({{"a/models/model.json", "x"}, {"a/archive_format", "pt2"}}),
        Kind::exportedProgram);
    // One of the three is enough to be told what is missing
    EXPECT_EQ(kindOf({{"args.json", "{}"}, {"model.pt", "x"}}), Kind::mdlus);
}


TEST(ModelFile, SaysWhatIsNoNetwork)
{
    const TemporaryFolder scratch;
    EXPECT_THAT(faultOf("just a text"), HasSubstr("neither a zip nor a tar archive"));
    EXPECT_THAT(faultOf(""), HasSubstr("net"));
    EXPECT_THAT(faultOf(zipArchive({{"photo.png", "x"}})), HasSubstr("no network"));
    // At the top such a name means something else
    EXPECT_THAT(faultOf(zipArchive({{"data.pkl", "x"}, {"constants.pkl", "y"}})),
        HasSubstr("no network"));
    EXPECT_THROW(readModelFile(scratch / "absent"), Error);
    EXPECT_THROW(readModelFile(scratch / ""), Error);
}


TEST(ModelFile, NoticesEveryChangedByteOfWeights)
{
    const std::string weights = "weights in eight bytes each";
    const std::string good = zipArchive({{"a/constants.pkl", "c"}, {"a/data.pkl", weights}});
    const std::size_t begin = good.find(weights);
    ASSERT_NE(begin, std::string::npos);
    for (std::size_t i = 0; i < weights.size(); ++i)
    {
        std::string damaged = good;
        damaged[begin + i] = static_cast<char>(damaged[begin + i] ^ 0x10);
        EXPECT_THAT(faultOf(damaged), HasSubstr("a/data.pkl")) << i;
    }
    EXPECT_EQ(faultOf(good), "none");
}


TEST(ModelFile, ReadsCompressedMembersButNoBombs)
{
    std::string text;
    for (int i = 0; i < 20000; ++i)
    {
        text += std::to_string(i*i);
    }
    const std::string name = "a/data.pkl";
    const std::string good = compressed(name, text);
    ASSERT_LT(good.size(), text.size()/2);
    EXPECT_EQ(identifyModel(good, "net").kind, Kind::stateDictionary);

    std::string damaged = good;
    damaged[good.size()/2] = static_cast<char>(damaged[good.size()/2] ^ 4);
    EXPECT_THAT(faultOf(damaged), HasSubstr("is damaged"));

    const std::string bomb = compressed(name, std::string(std::size_t(40) << 20, 'x'));
    ASSERT_LT(bomb.size(), std::size_t(1) << 20);
    EXPECT_THAT(faultOf(bomb), HasSubstr("unfolds to more than"));
}

}
}
