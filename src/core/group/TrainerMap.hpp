// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

namespace inSitu
{

//- Which ranks train, and for whom. Ranks are those of the solver; trainers are counted by
//  themselves, in the order of their ranks.
struct TrainerMap
{
    std::vector<int> trainerOf;                 //!< of each rank
    std::vector<std::vector<int>> members;      //!< of each trainer: ranks ascending, itself first

    //- node: number of the node of each rank. The ranks of a node form perNode groups of neighbours
    //  whose sizes differ by 1 at most, and the first of each trains. 0, or more than the node has
    //  ranks: all of it.
    static TrainerMap of(const std::vector<int>& node, std::int64_t perNode);

    int nRanks() const { return static_cast<int>(trainerOf.size()); }
    int nTrainers() const { return static_cast<int>(members.size()); }
};

}
