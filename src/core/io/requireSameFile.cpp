// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/requireSameFile.hpp"

#include "base/Error.hpp"
#include "base/agree.hpp"
#include "io/Manifest.hpp"

#include <filesystem>

namespace inSitu
{

void requireSameFile(const std::string& path, const std::string& key, const Comm& comm)
{
    if (comm.size() == 1)
    {
        return;
    }
    const std::filesystem::path file(path);
    double sum = 0;
    together(comm, [&]
    {
        sum = Manifest::measure(file.parent_path().string(), file.filename().string()).crc;
    });
    if (largestOf(comm, sum) != leastOf(comm, sum))
    {
        throw Error("the ranks read different contents of " + key + " \"" + path
            + "\": it is being replaced, or is not one file on all nodes");
    }
}

}
