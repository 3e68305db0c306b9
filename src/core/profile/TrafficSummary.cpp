// SPDX-License-Identifier: GPL-3.0-or-later
#include "profile/TrafficSummary.hpp"

#include "base/agree.hpp"

#include <cstdio>

namespace inSitu
{

TrafficSummary TrafficSummary::of(const Comm& comm, const Traffic& beside)
{
    Traffic here = comm.traffic();
    here.messages += beside.messages;
    here.bytes += beside.bytes;
    here.sums += beside.sums;
    here.summedBytes += beside.summedBytes;
    here.seconds += beside.seconds;
    double total[5] = {here.seconds, static_cast<double>(here.messages),
        static_cast<double>(here.bytes), static_cast<double>(here.sums),
        static_cast<double>(here.summedBytes)};
    comm.sum(Span<double>(total, 5));

    TrafficSummary summary;
    summary.nRanks = comm.size();
    summary.seconds = total[0]/comm.size();
    summary.minimum = leastOf(comm, here.seconds);
    summary.maximum = largestOf(comm, here.seconds);
    summary.messages = total[1];
    summary.bytes = total[2];
    summary.sums = total[3]/comm.size();
    summary.summedBytes = total[4]/comm.size();
    return summary;
}


std::string TrafficSummary::text(double wallSeconds) const
{
    if (nRanks == 1)
    {
        return {};
    }
    char line[240];
    std::snprintf(line, sizeof(line),
        "\n    inside these, communication of %d ranks: %.3f s (min %.3f, max %.3f), %.2f %%;"
        "\n    %.0f messages to neighbours with %.3f MB, %.0f sums with %.3f MB of each rank",
        nRanks, seconds, minimum, maximum, wallSeconds > 0 ? 100*seconds/wallSeconds : 0.0,
        messages, 1e-6*bytes, sums, 1e-6*summedBytes);
    return line;
}

}
