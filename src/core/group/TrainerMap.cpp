// SPDX-License-Identifier: GPL-3.0-or-later
#include "group/TrainerMap.hpp"

#include <algorithm>
#include <map>

namespace inSitu
{

TrainerMap TrainerMap::of(const std::vector<int>& node, std::int64_t perNode)
{
    std::map<int, std::vector<int>> ofNode;
    for (std::size_t rank = 0; rank < node.size(); ++rank)
    {
        ofNode[node[rank]].push_back(static_cast<int>(rank));
    }

    TrainerMap map;
    for (const auto& [number, ranks] : ofNode)
    {
        const auto n = static_cast<std::int64_t>(ranks.size());
        const std::int64_t groups = perNode > 0 ? std::min(perNode, n) : n;
        for (std::int64_t group = 0; group < groups; ++group)
        {
            map.members.emplace_back(ranks.begin() + group*n/groups,
                ranks.begin() + (group + 1)*n/groups);
        }
    }
    std::sort(map.members.begin(), map.members.end());

    map.trainerOf.resize(node.size());
    for (std::size_t trainer = 0; trainer < map.members.size(); ++trainer)
    {
        for (const int rank : map.members[trainer])
        {
            map.trainerOf[rank] = static_cast<int>(trainer);
        }
    }
    return map;
}

}
