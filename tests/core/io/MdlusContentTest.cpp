// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/MdlusContent.hpp"

#include "TemporaryFolder.hpp"
#include "base/Error.hpp"
#include "io/Archive.hpp"
#include "io/Disk.hpp"

#include <gmock/gmock.h>

#include <functional>

namespace inSitu
{
namespace
{

using testing::HasSubstr;

const std::string folder = INSITU_TOP "/tests/support/physicsNemo/";


TEST(MdlusContent, ReadsAZip)
{
    const MdlusContent content = readMdlus(folder + "concat.mdlus");
    EXPECT_EQ(content.className, "MeshGraphNet");
    EXPECT_EQ(content.module, "physicsnemo.models.meshgraphnet.meshgraphnet");
    EXPECT_EQ(content.metadata.at("physicsnemo_version"), "2.2.2");
    EXPECT_EQ(content.arguments.find("mlp_activation_fn")->text, "silu");
    EXPECT_EQ(content.arguments.find("hidden_dim_edge_encoder")->text, "7");
    EXPECT_EQ(content.tensors.getArray("node_encoder.model.0.weight").shape,
        (std::vector<std::int64_t>{6, 3}));
    EXPECT_TRUE(content.extras.empty());
}


TEST(MdlusContent, ReadsATarOfModulus)
{
    const MdlusContent content = readMdlus(folder + "legacy.mdlus");
    EXPECT_EQ(content.className, "MeshGraphNet");
    EXPECT_EQ(content.module, "modulus.models.meshgraphnet.meshgraphnet");
    EXPECT_EQ(content.metadata.at("modulus_version"), "0.5.0");
    EXPECT_EQ(content.arguments.entries.size(), 10u);
    EXPECT_EQ(content.tensors.arrays().size(), 34u);
}


std::string faultWith(const std::function<void(ArchiveMembers&)>& change)
{
    ArchiveMembers members = readArchive(readFile(folder + "concat.mdlus"), "file");
    change(members);
    try
    {
        parseMdlus(zipArchive(members), "m.mdlus");
    }
    catch (const Error& fault)
    {
        return fault.what();
    }
    return "none";
}


TEST(MdlusContent, NamesWhatIsWrong)
{
    EXPECT_EQ(faultWith([](ArchiveMembers&) {}), "none");
    EXPECT_THAT(faultWith([](ArchiveMembers& m) { m.erase("args.json"); }),
        HasSubstr("'m.mdlus' has no member args.json"));
    EXPECT_THAT(faultWith([](ArchiveMembers& m) { m["setup.py"] = "import os"; }),
        HasSubstr("the member \"setup.py\""));
    EXPECT_THAT(faultWith([](ArchiveMembers& m) { m["metadata.json"] =
        "{\"mdlus_file_version\": \"0.2.0\"}"; }),
        HasSubstr("mdlus_file_version \"0.2.0\"; 0.1.0"));
    EXPECT_THAT(faultWith([](ArchiveMembers& m) { m["args.json"] = "{\n\"__name__\": 1,"; }),
        HasSubstr("m.mdlus:args.json:2 is not valid JSON"));
    EXPECT_THAT(faultWith([](ArchiveMembers& m) { m["args.json"] = "[]"; }),
        HasSubstr("no JSON object"));
    EXPECT_THAT(faultWith([](ArchiveMembers& m) { m["args.json"] = "{}"; }),
        HasSubstr("no text __name__"));
    EXPECT_THAT(faultWith([](ArchiveMembers& m) { m["args.json"] =
        "{\"__name__\": \"A\", \"__module__\": \"b\"}"; }), HasSubstr("no block __args__"));
    EXPECT_THAT(faultWith([](ArchiveMembers& m) { m["args.json"] = "{\"__name__\": \"A\", "
        "\"__module__\": \"b\", \"__args__\": {}, \"__physicsnemo.Module__.inner\": {}}"; }),
        HasSubstr("other models as arguments"));
    EXPECT_THAT(faultWith([](ArchiveMembers& m) { m["args.json"] += std::string(2 << 20, ' '); }),
        HasSubstr("more than 1 MiB"));
    EXPECT_THAT(faultWith([](ArchiveMembers& m) { m["model.pt"].resize(9000); }),
        HasSubstr("'m.mdlus:model.pt' is neither"));
}


TEST(MdlusContent, NamesFilesThatCannotBeRead)
{
    const TemporaryFolder scratch;
    EXPECT_THROW(readMdlus(scratch / "absent.mdlus"), Error);
    EXPECT_THROW(readMdlus(scratch / ""), Error);
    EXPECT_THROW(readMdlus(scratch.write("empty.mdlus", "")), Error);
}

}
}
