// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/alignedMemory.hpp"

#include <cstdlib>
#include <new>

#include <sys/mman.h>

namespace inSitu
{

void* takeMemory(std::size_t bytes)
{
    constexpr std::size_t line = 64;
    constexpr std::size_t hugePage = std::size_t(2) << 20;
    const bool large = bytes >= 2*hugePage;

    void* memory = std::aligned_alloc(large ? hugePage : line, (bytes/line + 1)*line);
    if (!memory)
    {
        throw std::bad_alloc();
    }
#ifdef MADV_HUGEPAGE
    if (large)
    {
        // Advice: a refusal costs time and nothing else. A last huge page in part would be filled as a
        // whole: half as much again for a piece of a little more than two.
        madvise(memory, bytes/hugePage*hugePage, MADV_HUGEPAGE);
    }
#endif
    return memory;
}


void giveMemory(void* memory)
{
    std::free(memory);
}

}
