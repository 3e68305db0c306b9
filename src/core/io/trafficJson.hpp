// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "io/JsonLines.hpp"
#include "profile/TrafficSummary.hpp"

namespace inSitu
{

//- "communication":{"ranks":4,"seconds":0.2,"messages":96,…}; nothing for one rank
inline void addTraffic(JsonObject& record, const TrafficSummary& traffic)
{
    if (traffic.nRanks > 1)
    {
        record.addRaw("communication", JsonObject()
            .add("ranks", traffic.nRanks)
            .add("seconds", traffic.seconds)
            .add("messages", static_cast<long long>(traffic.messages))
            .add("bytes", static_cast<long long>(traffic.bytes))
            .add("sums", static_cast<long long>(traffic.sums))
            .add("summedBytes", static_cast<long long>(traffic.summedBytes))
            .text());
    }
}

}
