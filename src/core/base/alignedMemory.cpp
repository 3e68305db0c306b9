// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/alignedMemory.hpp"

#include <cstdlib>
#include <new>

#include <sys/mman.h>

namespace inSitu
{

void* takeMemory(std::size_t bytes)
{
    constexpr std::size_t hugePage = std::size_t(2) << 20;
    const bool large = bytes >= 2*hugePage;
    const std::size_t alignment = large ? hugePage : 64;
    const std::size_t rounded = (bytes/alignment + 1)*alignment;

    void* memory = std::aligned_alloc(alignment, rounded);
    if (!memory)
    {
        throw std::bad_alloc();
    }
#ifdef MADV_HUGEPAGE
    if (large)
    {
        // Advice: a refusal costs time and nothing else
        madvise(memory, rounded, MADV_HUGEPAGE);
    }
#endif
    return memory;
}


void giveMemory(void* memory)
{
    std::free(memory);
}

}
