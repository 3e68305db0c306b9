// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/chooseDevice.hpp"

#include "FakeDevice.hpp"
#include "ThreadComm.hpp"
#include "base/agree.hpp"
#include "model/MeshGraphNet.hpp"
#include "model/assignDevices.hpp"

#include <gmock/gmock.h>

// Which GPU a rank takes, and what it says where there is none

namespace inSitu
{
namespace
{

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;


TEST(AssignDevices, EachRankHasItsOwn)
{
    // Two nodes, whose ranks see all GPUs of theirs
    EXPECT_THAT(assignDevices({{"a", "b"}, {"a", "b"}, {"c", "d"}, {"c", "d"}}),
        ElementsAre(0, 1, 0, 1));
    // Ranks that see one each, as job schedulers may have it
    EXPECT_THAT(assignDevices({{"a"}, {"b"}, {"c"}}), ElementsAre(0, 0, 0));
    // Ranks are not dealt out node by node
    EXPECT_THAT(assignDevices({{"a", "b"}, {"c", "d"}, {"a", "b"}, {"c", "d"}}),
        ElementsAre(0, 0, 1, 1));
    // Too few, and none
    EXPECT_THAT(assignDevices({{"a", "b"}, {"a", "b"}, {"a", "b"}}), ElementsAre(0, 1, -1));
    EXPECT_THAT(assignDevices({{}, {"a"}}), ElementsAre(-1, 0));
}


TEST(AssignDevices, RanksTellEachOther)
{
    onRanks(4, [](Comm& comm)
    {
        const std::vector<std::vector<std::string>> visible{{"a b", "c"}, {}, {"a b", "c", "d"},
            {"c", "d"}};
        EXPECT_THAT(assignDevices(comm, visible[static_cast<std::size_t>(comm.rank())]),
            ElementsAre(0, -1, 1, 1));
    });
}


//- Of a kind that GPUs compute
std::unique_ptr<Model> anyModel(ThreadPool& pool)
{
    MeshGraphNetOptions options;
    options.processorSize = 1;
    options.hiddenSize = 4;
    return options.build({5, 3, 2}, Precision::float32, 3, pool);
}


class ChooseDevice : public testing::Test
{
protected:

    struct Choice
    {
        std::string name;
        std::string reason;
        bool joined;
        std::string fault;
    };

    //- On each rank, where rank r sees nGpus[r], of which the first has the number boards[r]
    std::vector<Choice> choose(const std::string& entry, const std::vector<int>& nGpus,
        const std::vector<int>& boards)
    {
        std::vector<Choice> choices(nGpus.size());
        onRanks(static_cast<int>(nGpus.size()), [&](Comm& comm)
        {
            const auto rank = static_cast<std::size_t>(comm.rank());
            ThreadPool pool(1);
            const auto model = anyModel(pool);
            const auto device = std::make_shared<FakeDevice>();
            device->nGpus = nGpus[rank];
            device->firstBoard = boards[rank];
            Choice& choice = choices[rank];
            try
            {
                const ChosenDevice chosen = chooseDevice(entry, *model, borrowed(comm), device);
                choice = {chosen.name, chosen.reason, chosen.ranks != nullptr, ""};
                EXPECT_EQ(chosen.ranks ? chosen.ranks->size() : 1,
                    chosen.library ? comm.size() : 1);
            }
            catch (const Error& error)
            {
                choice.fault = error.what();
            }
        });
        return choices;
    }

    static std::vector<std::string> namesOf(const std::vector<Choice>& choices)
    {
        std::vector<std::string> names;
        for (const Choice& choice : choices)
        {
            names.push_back(choice.name);
            EXPECT_EQ(choice.fault, "");
        }
        return names;
    }
};


TEST_F(ChooseDevice, RanksShareWhatTheySee)
{
    EXPECT_THAT(namesOf(choose("auto", {2, 2}, {5, 5})),
        ElementsAre("cuda:0 (fake)", "cuda:1 (fake)"));
    EXPECT_THAT(namesOf(choose("cuda", {1, 1, 2}, {3, 4, 4})),
        ElementsAre("cuda:0 (fake)", "cuda:0 (fake)", "cuda:1 (fake)"));
    EXPECT_TRUE(choose("cuda", {2, 2}, {0, 0}).front().joined);
    EXPECT_FALSE(choose("cuda", {2}, {0}).front().joined);
    EXPECT_THAT(namesOf(choose("cuda:2", {3}, {0})), ElementsAre("cuda:2 (fake)"));
}


TEST_F(ChooseDevice, OneWithoutAGpuKeepsAllOnTheCpu)
{
    for (const Choice& choice : choose("auto", {2, 0, 2}, {0, 0, 0}))
    {
        EXPECT_EQ(choice.name, "cpu");
        EXPECT_EQ(choice.reason, "rank 1: no GPU is visible");
    }
    for (const Choice& choice : choose("auto", {2, 2, 2}, {0, 0, 0}))
    {
        EXPECT_EQ(choice.name, "cpu");
        EXPECT_THAT(choice.reason, AllOf(HasSubstr("for 3 ranks there are 2"),
            HasSubstr("trainerRanks 2"), Not(HasSubstr("\n"))));
    }
}


TEST_F(ChooseDevice, WhatIsAskedForInVainIsRefusedOnAllRanks)
{
    for (const Choice& choice : choose("cuda", {1, 1}, {0, 0}))
    {
        EXPECT_THAT(choice.fault, AllOf(HasSubstr("device cuda cannot be used"),
            HasSubstr("for 2 ranks there is 1"), HasSubstr("Remedy: choose device cpu, or auto")));
    }
    for (const Choice& choice : choose("cuda", {0, 1}, {0, 0}))
    {
        EXPECT_THAT(choice.fault, HasSubstr("rank 0: no GPU is visible"));
    }
    for (const Choice& choice : choose("cuda", {0, 0}, {0, 0}))
    {
        EXPECT_THAT(choice.fault, HasSubstr("device cuda cannot be used: no GPU is visible."));
    }
    for (const Choice& choice : choose("cuda:1", {2, 2}, {0, 0}))
    {
        EXPECT_THAT(choice.fault, HasSubstr("cuda:1 names one GPU"));
    }
    EXPECT_THAT(choose("cuda:3", {2}, {0}).front().fault, HasSubstr("0 to 1"));
}


// A library that was built without NCCL
TEST_F(ChooseDevice, GpusThatCannotWorkTogetherAreAReason)
{
    struct Lonely final : FakeDevice
    {
        std::shared_ptr<DeviceRanks> joinRanks(int, std::shared_ptr<Comm>) override
        {
            throw AgreedError("they do not know each other.\n    Remedy: trainerRanks 1");
        }
    };
    onRanks(2, [](Comm& comm)
    {
        ThreadPool pool(1);
        const auto model = anyModel(pool);
        const auto device = std::make_shared<Lonely>();
        device->nGpus = 2;
        EXPECT_EQ(chooseDevice("auto", *model, borrowed(comm), device).reason,
            "they do not know each other.");
        EXPECT_THAT([&] { chooseDevice("cuda", *model, borrowed(comm), device); },
            testing::ThrowsMessage<Error>(AllOf(HasSubstr("Remedy: trainerRanks 1"),
                Not(HasSubstr("choose device cpu")))));
    });
}

}
}
