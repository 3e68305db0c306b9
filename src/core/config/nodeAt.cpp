// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/nodeAt.hpp"

namespace inSitu
{

const Node* nodeAt(const Node& block, const std::string& path)
{
    const Node* entry = &block;
    for (std::size_t begin = 0, dot = 0; entry && dot != std::string::npos; begin = dot + 1)
    {
        dot = path.find('.', begin);
        entry = entry->find(path.substr(begin, dot - begin));
    }
    return entry;
}

}
