// SPDX-License-Identifier: GPL-3.0-or-later
#include "profile/Profiler.hpp"

#include "base/Comm.hpp"
#include "base/Error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

using namespace inSitu;
using testing::HasSubstr;
using testing::ThrowsMessage;

namespace
{

void pause(int milliseconds)
{
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}


//- This rank and another one that took three times as long in everything and, if asked,
//  opened one stage more
class SecondRankThreeTimesSlower final : public SerialComm
{
public:

    explicit SecondRankThreeTimesSlower(bool moreStages = false)
    :
        moreStages_(moreStages)
    {}

    int rank() const override { return 0; }
    int size() const override { return 2; }

    void sum(Span<double> values) const override
    {
        for (double& value : values)
        {
            value += 3*value;
        }
    }

    void max(Span<double> values) const override
    {
        if (first_)
        {
            // The number of stages and its negative
            first_ = false;
            values[0] += moreStages_;
            return;
        }
        for (double& value : values)
        {
            value = std::max(value, 3*value);
        }
    }

private:

    bool moreStages_;
    mutable bool first_ = true;
};

}


TEST(Profiler, AddsUpTheCallsOfAStage)
{
    Profiler profiler;
    for (int i = 0; i < 3; ++i)
    {
        ScopedTimer timer(profiler, "gather");
        pause(2);
    }

    const std::vector<Profiler::Stage> stages = profiler.stages(SerialComm());

    ASSERT_EQ(stages.size(), 1u);
    EXPECT_EQ(stages[0].name, "gather");
    EXPECT_EQ(stages[0].calls, 3);
    EXPECT_GE(stages[0].seconds, 0.006);
    EXPECT_EQ(stages[0].seconds, profiler.seconds("gather"));
    EXPECT_EQ(stages[0].minimum, stages[0].seconds);
    EXPECT_EQ(stages[0].maximum, stages[0].seconds);
    EXPECT_EQ(profiler.seconds("train"), 0);
}


TEST(Profiler, StagesInsideAreTakenOffSoThatAllAddUp)
{
    Profiler profiler;
    const auto start = std::chrono::steady_clock::now();
    {
        ScopedTimer execute(profiler, "execute");
        pause(1);
        {
            ScopedTimer train(profiler, "train");
            pause(10);
            {
                ScopedTimer model(profiler, "model");
                pause(20);
            }
            {
                ScopedTimer model(profiler, "model");
                pause(20);
            }
        }
    }
    const double total =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

    const std::vector<Profiler::Stage> stages = profiler.stages(SerialComm());

    ASSERT_EQ(stages.size(), 3u);
    EXPECT_EQ(stages[0].name, "execute");
    EXPECT_EQ(stages[1].name, "train");
    EXPECT_EQ(stages[2].name, "model");
    EXPECT_GE(stages[2].seconds, 0.040);
    EXPECT_GE(stages[1].seconds, 0.010);
    EXPECT_GE(stages[0].seconds, 0.001);
    const double sum = stages[0].seconds + stages[1].seconds + stages[2].seconds;
    EXPECT_LE(sum, total);
    EXPECT_LE(total - sum, 0.015);
}


TEST(Profiler, ReducesOverTheRanks)
{
    Profiler profiler;
    {
        ScopedTimer timer(profiler, "train");
        pause(1);
    }
    const double own = profiler.seconds("train");

    const Profiler::Stage stage = profiler.stages(SecondRankThreeTimesSlower())[0];

    EXPECT_DOUBLE_EQ(stage.seconds, 2*own);
    EXPECT_DOUBLE_EQ(stage.minimum, own);
    EXPECT_DOUBLE_EQ(stage.maximum, 3*own);
}


TEST(Profiler, RanksWithOtherStagesAreAnErrorNotWrongNumbers)
{
    Profiler profiler;
    {
        ScopedTimer timer(profiler, "train");
    }

    EXPECT_THAT([&] { profiler.stages(SecondRankThreeTimesSlower(true)); },
        ThrowsMessage<Error>(HasSubstr("between 1 and 2")));
}
