// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/RunIdentity.hpp"

#include "WaveCase.hpp"
#include "base/Error.hpp"
#include "config/YamlFile.hpp"

#include <gmock/gmock.h>

namespace inSitu
{
namespace
{

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

Settings settingsWith(const std::string& precision)
{
    return readSettings(parseYaml("inputs: [U, p]\ntargets: [p]\ntraining: {device: auto, precision: "
        + precision + "}\n", "controlDict"), "surrogate", ".", {});
}


//- What a restart with one precision tells of a checkpoint of another
std::vector<std::string> changesFrom(const std::string& saved, const std::string& now)
{
    WaveCase host(5, 4);
    const SerialComm comm;
    const CaseMesh mesh = host.mesh();
    const TrainingCase theCase = host.theCase();
    const StateTree identity = saveIdentity(settingsWith(saved), theCase, mesh, comm);
    const SavedRows rows({SavedRows::save(mesh.state)}, 1,
        TopologyMark::load(identity.subTree("topology")), mesh.state, comm);
    return requireSameRun(identity, rows, settingsWith(now), theCase, mesh, true, comm);
}


TEST(RunIdentity, PrecisionsThatKeepFloat32TakeOverFromEachOther)
{
    EXPECT_THAT(changesFrom("bfloat16", "bfloat16"), IsEmpty());
    EXPECT_THAT(changesFrom("bfloat16", "float32"),
        ElementsAre(AllOf(HasSubstr("precision"), HasSubstr("bfloat16"), HasSubstr("float32"))));
    EXPECT_THAT(changesFrom("float32", "float16"),
        ElementsAre(AllOf(HasSubstr("precision"), HasSubstr("float32"), HasSubstr("float16"))));

    EXPECT_THAT([] { changesFrom("bfloat16", "float64"); },
        ThrowsMessage<IncompatibleState>(AllOf(HasSubstr("precision"), HasSubstr("bfloat16"))));
    EXPECT_THAT([] { changesFrom("float64", "float32"); },
        ThrowsMessage<IncompatibleState>(AllOf(HasSubstr("precision"), HasSubstr("float32"))));
}

}
}
