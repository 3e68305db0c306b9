// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/rankCores.hpp"

#include "base/Comm.hpp"
#include "base/Error.hpp"
#include "base/ThreadPool.hpp"
#include "base/cpuQuota.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <utility>

namespace inSitu
{

namespace
{

//- The processors that a thread is bound to, in the system's form
class Affinity
{
public:

    explicit Affinity(std::size_t nBits = 0)
    :
        words_(nBits/wordBits, ~0ul)
    {}

    //- Of this thread; empty if the system does not say
    static Affinity now()
    {
        // Too short a mask is refused
        for (std::size_t nBits = 1024; nBits <= std::size_t(1) << 17; nBits *= 2)
        {
            Affinity affinity(nBits);
            std::fill(affinity.words_.begin(), affinity.words_.end(), 0ul);
            if (sched_getaffinity(0, affinity.bytes(),
                reinterpret_cast<cpu_set_t*>(affinity.words_.data())) == 0)
            {
                return affinity;
            }
        }
        return Affinity();
    }

    bool bind() const
    {
        return sched_setaffinity(0, bytes(),
            reinterpret_cast<const cpu_set_t*>(words_.data())) == 0;
    }

    std::size_t nBits() const { return words_.size()*wordBits; }

    std::vector<int> cores() const
    {
        std::vector<int> found;
        for (std::size_t bit = 0; bit < nBits(); ++bit)
        {
            if (words_[bit/wordBits] >> bit % wordBits & 1ul)
            {
                found.push_back(static_cast<int>(bit));
            }
        }
        return found;
    }

private:

    static constexpr std::size_t wordBits = std::numeric_limits<unsigned long>::digits;

    std::size_t bytes() const { return words_.size()*sizeof(unsigned long); }

    std::vector<unsigned long> words_;
};


//- What the system leaves of all cores: it knows the limits of batch systems and containers
std::vector<int> allowedCores(const Affinity& bound)
{
    if (!Affinity(bound.nBits()).bind())
    {
        return bound.cores();
    }
    const std::vector<int> allowed = Affinity::now().cores();
    bound.bind();
    return allowed;
}


//- "0,32" or "0-1,4": the processors of the core that this one is part of
std::set<int> siblings(int processor)
{
    std::set<int> found{processor};
    std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(processor)
      + "/topology/thread_siblings_list");
    int first = 0;
    while (file >> first)
    {
        int last = first;
        if (file.peek() == '-')
        {
            file.ignore();
            file >> last;
        }
        for (int other = first; other <= last; ++other)
        {
            found.insert(other);
        }
        file.ignore();
    }
    return found;
}


std::string hostName()
{
    char name[256] = "";
    gethostname(name, sizeof(name) - 1);
    return name;
}


//- Of the running kernel: containers beside each other have the same
std::string nodeName(const std::string& host)
{
    std::string boot;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
    return boot.empty() ? host : boot;
}


std::string text(const RankPlace& place)
{
    std::ostringstream out;
    out << place.node << '\n' << place.host << '\n' << place.oneCore << ' ' << place.quota;
    for (const std::vector<int>& list : {place.cores, place.allowed})
    {
        out << ' ' << list.size();
        for (const int core : list)
        {
            out << ' ' << core;
        }
    }
    return out.str();
}


RankPlace placeFrom(const std::string& text)
{
    RankPlace place;
    std::istringstream in(text);
    std::getline(in, place.node);
    std::getline(in, place.host);
    in >> place.oneCore >> place.quota;
    for (std::vector<int>* list : {&place.cores, &place.allowed})
    {
        std::size_t size = 0;
        in >> size;
        list->resize(size);
        for (int& core : *list)
        {
            in >> core;
        }
    }
    if (!in)
    {
        throw Error("a rank has told an unreadable list of its cores");
    }
    return place;
}


//- One node: by whom each core is used, and what else there is
struct Node
{
    std::vector<std::size_t> ranks;
    std::map<int, int> users;
    std::set<int> allowed;

    std::string warning(const std::vector<RankPlace>& places) const
    {
        const std::size_t used = users.size();
        const std::size_t idle = allowed.size() - std::min(used, allowed.size());
        const bool oneEach = std::all_of(ranks.begin(), ranks.end(),
            [&](std::size_t rank) { return places[rank].oneCore; });

        if (ranks.size() < 2 || idle == 0 || (used >= ranks.size() && !(oneEach && idle >= used)))
        {
            return {};
        }
        return "the " + std::to_string(ranks.size()) + " ranks on " + places[ranks[0]].host
          + (used < ranks.size()
              ? " are bound to " + std::to_string(used) + " of its "
              : " are bound to one core each of its ")
          + std::to_string(allowed.size()) + " cores, idle: " + std::to_string(idle)
          + ". Remedy: mpirun --bind-to none, or --map-by slot:PE=<cores of a rank>;"
            " srun --cpus-per-task=<cores of a rank>";
    }
};

}


RankPlace placeOfThisRank()
{
    RankPlace place;
    place.host = hostName();
    place.node = nodeName(place.host);
    place.quota = cpuQuota().value_or(0);

    const Affinity bound = Affinity::now();
    place.cores = bound.cores();
    place.allowed = allowedCores(bound);
    if (!place.cores.empty())
    {
        const std::set<int> core = siblings(place.cores[0]);
        place.oneCore = std::all_of(place.cores.begin(), place.cores.end(),
            [&core](int processor) { return core.count(processor) > 0; });
    }
    return place;
}


CoreShares shareCores(const std::vector<RankPlace>& places)
{
    std::map<std::string, Node> nodes;
    std::map<std::pair<std::string, std::string>, int> ranksOfHost;
    for (std::size_t rank = 0; rank < places.size(); ++rank)
    {
        const RankPlace& place = places[rank];
        Node& node = nodes[place.node];
        node.ranks.push_back(rank);
        for (const int core : place.cores)
        {
            ++node.users[core];
        }
        node.allowed.insert(place.allowed.begin(), place.allowed.end());
        ++ranksOfHost[{place.node, place.host}];
    }

    CoreShares shares;
    for (const RankPlace& place : places)
    {
        double parts = 0;
        for (const int core : place.cores)
        {
            parts += 1.0/nodes[place.node].users[core];
        }
        if (place.quota > 0)
        {
            parts = std::min(parts,
                std::ceil(place.quota)/ranksOfHost[{place.node, place.host}]);
        }
        constexpr double rounding = 1e-9;
        shares.cores.push_back(std::max(1, static_cast<int>(parts + rounding)));
    }

    for (const auto& [name, node] : nodes)
    {
        if (shares.warning.empty())
        {
            shares.warning = node.warning(places);
        }
    }
    return shares;
}


RankCores coresOfThisRank(const Comm& comm)
{
    if (comm.size() == 1)
    {
        return {availableCores(), ""};
    }

    const std::string own = text(placeOfThisRank());
    std::vector<RankPlace> places;
    for (const Comm::Bytes& other : comm.gather(Comm::Bytes(own.begin(), own.end())))
    {
        places.push_back(placeFrom(std::string(other.begin(), other.end())));
    }

    Comm::Bytes answer;
    if (comm.isMaster())
    {
        const CoreShares shares = shareCores(places);
        std::ostringstream out;
        std::copy(shares.cores.begin(), shares.cores.end(),
            std::ostream_iterator<int>(out, " "));
        out << '\n' << shares.warning;
        const std::string told = out.str();
        answer.assign(told.begin(), told.end());
    }
    comm.broadcast(answer);

    RankCores cores{1, ""};
    std::istringstream in(std::string(answer.begin(), answer.end()));
    for (int rank = 0; rank <= comm.rank(); ++rank)
    {
        in >> cores.cores;
    }
    in.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    std::getline(in, cores.warning);
    return cores;
}

}
