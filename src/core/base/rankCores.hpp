// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

namespace inSitu
{

class Comm;

//- Where a rank runs. Cores are the system's processors by number, hardware threads included.
struct RankPlace
{
    std::string node;               //!< equal on ranks that compete for the same cores
    std::string host;               //!< name of the machine or container: its quota is for all
    std::vector<int> cores;         //!< that it is bound to
    std::vector<int> allowed;       //!< that it could be bound to, whatever the launcher did
    bool oneCore = false;           //!< cores is one core, perhaps with its hardware threads
    double quota = 0;               //!< cpuQuota(), 0 for none
};


//- How many threads each rank may use, at least 1
struct CoreShares
{
    std::vector<int> cores;

    //- With the remedy, where ranks are bound so that they share cores or have one each while
    //  others are idle; else empty
    std::string warning;
};


RankPlace placeOfThisRank();

//- A core belongs in equal parts to the ranks bound to it; a rank's parts are rounded down. A quota
//  belongs in equal parts to the ranks of its host.
CoreShares shareCores(const std::vector<RankPlace>& places);


struct RankCores
{
    int cores;
    std::string warning;            //!< the same on all ranks
};

//- How many threads this rank may use beside the others; availableCores() for a single one.
//  Collective
RankCores coresOfThisRank(const Comm& comm);

}
