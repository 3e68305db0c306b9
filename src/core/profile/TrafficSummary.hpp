// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"

#include <string>

namespace inSitu
{

//- What the ranks have sent each other, for the end of a run. The seconds lie inside the stages
//  of the profiler.
struct TrafficSummary
{
    int nRanks = 1;
    double seconds = 0;         //!< mean over the ranks
    double minimum = 0;
    double maximum = 0;
    double messages = 0;        //!< to neighbours, of all ranks
    double bytes = 0;           //!< in them
    double sums = 0;            //!< and other operations of all ranks, or of those of a part: mean
    double summedBytes = 0;     //!< that a rank contributed: mean

    //- beside: of another thread of this rank. Collective.
    static TrafficSummary of(const Comm& comm, const Traffic& beside = {});

    //- A line of the closing table; empty for one rank
    std::string text(double wallSeconds) const;
};

}
