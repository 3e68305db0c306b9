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
        const double other[3] = {1, 8, 500000};
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
        "\n    20 messages to neighbours with 4.000 MB, 7 sums with 0.250 MB of each rank");
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

}
