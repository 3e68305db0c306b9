// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/assignDevices.hpp"

#include <set>
#include <sstream>

namespace inSitu
{

std::vector<int> assignDevices(const std::vector<std::vector<std::string>>& visible)
{
    std::set<std::string> taken;
    std::vector<int> chosen;
    for (const std::vector<std::string>& names : visible)
    {
        chosen.push_back(-1);
        for (std::size_t i = 0; i < names.size() && chosen.back() < 0; ++i)
        {
            if (taken.insert(names[i]).second)
            {
                chosen.back() = static_cast<int>(i);
            }
        }
    }
    return chosen;
}


std::vector<int> assignDevices(const Comm& comm, const std::vector<std::string>& here)
{
    Comm::Bytes lines;
    for (const std::string& entry : here)
    {
        lines.insert(lines.end(), entry.begin(), entry.end());
        lines.push_back('\n');
    }

    std::vector<std::vector<std::string>> visible;
    for (const Comm::Bytes& bytes :
        comm.swap(std::vector<Comm::Bytes>(static_cast<std::size_t>(comm.size()), lines)))
    {
        visible.emplace_back();
        std::istringstream stream(std::string(bytes.begin(), bytes.end()));
        for (std::string line; std::getline(stream, line); )
        {
            visible.back().push_back(line);
        }
    }
    return assignDevices(visible);
}

}
