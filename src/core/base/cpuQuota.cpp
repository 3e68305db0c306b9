// SPDX-License-Identifier: GPL-3.0-or-later

#include "base/cpuQuota.hpp"

#include <fstream>
#include <sstream>
#include <vector>

namespace inSitu
{

namespace
{

//- Where a hierarchy of groups is seen, and which of its groups lies there
struct Mount
{
    std::string folder;
    std::string group;
    bool unified;           //!< version 2
};


bool hasItem(const std::string& list, const std::string& item)
{
    return (',' + list + ',').find(',' + item + ',') != std::string::npos;
}


//- Hierarchies that can limit the processor (man 5 proc: mountinfo)
std::vector<Mount> mounts(const std::string& root)
{
    std::vector<Mount> found;
    std::ifstream file(root + "/proc/self/mountinfo");
    for (std::string line; std::getline(file, line); )
    {
        std::istringstream words(line);
        std::string skipped, group, folder, type, source, options;
        words >> skipped >> skipped >> skipped >> group >> folder;
        while (words >> skipped && skipped != "-")
        {}
        words >> type >> source >> options;

        if (type == "cgroup2" || (type == "cgroup" && hasItem(options, "cpu")))
        {
            found.push_back({folder, group, type == "cgroup2"});
        }
    }
    return found;
}


//- The group of this process: lines number:controllers:group, where version 2 names no controller
std::optional<std::string> groupOfProcess(const std::string& root, bool unified)
{
    std::ifstream file(root + "/proc/self/cgroup");
    for (std::string line; std::getline(file, line); )
    {
        const auto first = line.find(':');
        const auto second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos)
        {
            continue;
        }
        const std::string controllers = line.substr(first + 1, second - first - 1);
        if (unified ? controllers.empty() : hasItem(controllers, "cpu"))
        {
            return line.substr(second + 1);
        }
    }
    return std::nullopt;
}


//- Of one group; version 2 writes the word max for no limit, version 1 a negative number
std::optional<double> quotaOf(const std::string& folder, bool unified)
{
    double quota = -1, period = -1;
    if (unified)
    {
        std::ifstream(folder + "/cpu.max") >> quota >> period;
    }
    else
    {
        std::ifstream(folder + "/cpu.cfs_quota_us") >> quota;
        std::ifstream(folder + "/cpu.cfs_period_us") >> period;
    }
    return quota > 0 && period > 0 ? std::optional<double>(quota/period) : std::nullopt;
}

}


std::optional<double> cpuQuota(const std::string& root)
{
    std::optional<double> tightest;
    for (const Mount& mount : mounts(root))
    {
        const auto group = groupOfProcess(root, mount.unified);
        if (!group)
        {
            continue;
        }

        // Below the mount point, or the mount point itself if the group is not seen from here
        std::string below;
        if (mount.group == "/")
        {
            below = *group;
        }
        else if ((*group + '/').rfind(mount.group + '/', 0) == 0)
        {
            below = group->substr(mount.group.size());
        }

        while (true)
        {
            const auto quota = quotaOf(root + mount.folder + below, mount.unified);
            if (quota && (!tightest || *quota < *tightest))
            {
                tightest = quota;
            }
            if (below.empty())
            {
                break;
            }
            below.erase(below.rfind('/'));
        }
    }
    return tightest;
}

}
