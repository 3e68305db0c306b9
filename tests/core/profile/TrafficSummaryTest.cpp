// SPDX-License-Identifier: GPL-3.0-or-later
#include "profile/TrafficSummary.hpp"

#include "ThreadComm.hpp"

#include <gmock/gmock.h>

namespace inSitu
{
namespace
{

//- Two ranks, of which this one has waited for 3 s, the other for 1 s
struct TwoRanks final : SerialComm
{
    int size() const override { return 2; }
    Traffic traffic() const override { return {12, 3500000, 7, 250000, 3}; }

    void sum(Span<double> values) const override
    {
        const double other[5] = {1, 8, 500000, 11, 90000};
        for (std::size_t i = 0; i < values.size(); ++i)
        {
            values[i] += other[i];
        }
    }

    void max(Span<double> values) const override
    {
        values[0] = std::max(values[0], values[0] < 0 ? -1.0 : 1.0);
    }
};

}


TEST(TrafficSummary, IsOverAllRanks)
{
    const TrafficSummary summary = TrafficSummary::of(TwoRanks());
    EXPECT_EQ(summary.text(8),
        "\n    inside these, communication of 2 ranks: 2.000 s (min 1.000, max 3.000), 25.00 %;"
        "\n    20 messages to neighbours with 4.000 MB, 9 sums with 0.170 MB of each rank");
    EXPECT_EQ(TrafficSummary::of(SerialComm()).text(8), "");
}


TEST(TrafficSummary, CountsWhatIsSent)
{
    onRanks(3, [](Comm& comm)
    {
        const TrafficSummary before = TrafficSummary::of(comm);
        const auto ring = comm.exchange({{(comm.rank() + 1) % 3, 40, 0}, {(comm.rank() + 2) % 3, 0, 40}});
        ring->start();
        ring->finish();
        const TrafficSummary after = TrafficSummary::of(comm);
        EXPECT_EQ(after.messages - before.messages, 3);
        EXPECT_EQ(after.bytes - before.bytes, 120);
        EXPECT_GT(after.sums, before.sums);
    });
}


TEST(TrafficSummary, HasTheMeanOfWhatPartsOfTheRanksSum)
{
    onRanks(4, [](Comm& comm)
    {
        const auto part = comm.part(comm.rank() == 2 ? -1 : 0, Comm::Waiting::busy);
        const TrafficSummary first = TrafficSummary::of(comm);
        const TrafficSummary before = TrafficSummary::of(comm);
        std::vector<double> values(6, 1.5);
        for (int round = 0; part && round < 8; ++round)
        {
            part->sum(values);
        }
        const TrafficSummary after = TrafficSummary::of(comm);
        const double ownSums = before.sums - first.sums;
        const double ownBytes = before.summedBytes - first.summedBytes;
        EXPECT_GT(ownSums, 0);
        EXPECT_EQ(after.sums - before.sums, ownSums + 8*0.75);
        EXPECT_EQ(after.summedBytes - before.summedBytes, ownBytes + 8*0.75*48);
    });
}

}
