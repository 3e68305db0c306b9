// SPDX-License-Identifier: GPL-3.0-or-later
#include "infer/cardBeside.hpp"

#include "base/Error.hpp"
#include "io/Disk.hpp"

#include <filesystem>

namespace inSitu
{

std::string cardPathOf(const std::string& path)
{
    return path + ".card.json";
}


ModelCard cardBeside(const std::string& path)
{
    const std::string beside = cardPathOf(path);
    if (!std::filesystem::is_regular_file(beside))
    {
        throw Error("model \"" + path + "\" has no card, neither inside nor as \"" + beside
            + "\"; docs/formats.md shows what stands there");
    }
    return ModelCard::parse(readFile(beside), beside);
}

}
