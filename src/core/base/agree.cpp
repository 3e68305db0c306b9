// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/agree.hpp"

namespace inSitu
{

double largestOf(const Comm& comm, double here)
{
    comm.max(Span<double>(&here, 1));
    return here;
}


double leastOf(const Comm& comm, double here)
{
    return -largestOf(comm, -here);
}


bool anyRank(const Comm& comm, bool here)
{
    return largestOf(comm, here) > 0;
}


std::string firstText(const Comm& comm, const std::string& here)
{
    if (comm.size() == 1 || !anyRank(comm, !here.empty()))
    {
        return here;
    }
    std::string first;
    const std::vector<Comm::Bytes> texts = comm.gather(Comm::Bytes(here.begin(), here.end()));
    for (std::size_t rank = 0; rank < texts.size() && first.empty(); ++rank)
    {
        if (!texts[rank].empty())
        {
            first = "rank " + std::to_string(comm.numberOf(static_cast<int>(rank))) + ": "
                + std::string(texts[rank].begin(), texts[rank].end());
        }
    }
    return textOfMaster(comm, first);
}


std::string textOfMaster(const Comm& comm, const std::string& here)
{
    Comm::Bytes bytes(here.begin(), here.end());
    comm.broadcast(bytes);
    return std::string(bytes.begin(), bytes.end());
}


std::string faultOf(const Comm& comm, const std::function<void()>& action)
{
    std::string fault;
    try
    {
        action();
    }
    catch (const std::exception& thrown)
    {
        fault = thrown.what();
        if (fault.empty())
        {
            fault = "an unknown fault";
        }
    }
    return firstText(comm, fault);
}


void together(const Comm& comm, const std::function<void()>& action)
{
    const std::string fault = faultOf(comm, action);
    if (!fault.empty())
    {
        throw AgreedError(fault);
    }
}

}
