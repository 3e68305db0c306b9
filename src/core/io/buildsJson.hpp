// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "io/JsonLines.hpp"
#include "profile/Summary.hpp"

#include <vector>

namespace inSitu
{

//- Add what became of the caches to an end record: "builds", "reasons" and "buildSeconds", each an
//  object by cache
inline void addBuilds(JsonObject& record, const std::vector<CacheRecord>& caches)
{
    JsonObject builds, reasons, seconds;
    for (const CacheRecord& cache : caches)
    {
        builds.add(cache.cache, cache.builds);
        seconds.add(cache.cache, cache.seconds);
        JsonObject perReason;
        for (const CacheRecord::Reason& reason : cache.reasons)
        {
            perReason.add(reason.name, reason.builds);
        }
        reasons.addRaw(cache.cache, perReason.text());
    }
    record
        .addRaw("builds", builds.text())
        .addRaw("reasons", reasons.text())
        .addRaw("buildSeconds", seconds.text());
}

}
