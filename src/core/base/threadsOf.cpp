// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/threadsOf.hpp"

#include "base/rankCores.hpp"

namespace inSitu
{

int threadsOf(std::int64_t wanted, const Comm& comm,
    const std::function<void(const std::string&)>& warn)
{
    if (wanted > 0)
    {
        return static_cast<int>(wanted);
    }
    const RankCores share = coresOfThisRank(comm);
    if (!share.warning.empty())
    {
        warn(share.warning);
    }
    return share.cores;
}

}
