// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/agree.hpp"

#include <algorithm>

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
    std::string text;
    const std::vector<Comm::Bytes> texts = comm.gather(Comm::Bytes(here.begin(), here.end()));
    const auto first = std::find_if(texts.begin(), texts.end(),
        [](const Comm::Bytes& bytes) { return !bytes.empty(); });
    if (first != texts.end())
    {
        const auto rank = static_cast<int>(first - texts.begin());
        const bool same = std::all_of(texts.begin(), texts.end(),
            [&](const Comm::Bytes& bytes) { return bytes == *first; });
        text = (same ? "" : "rank " + std::to_string(comm.numberOf(rank)) + ": ")
            + std::string(first->begin(), first->end());
    }
    return textOfMaster(comm, text);
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
