// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

//- Calls of operator new in this program so far. Include in one source of a program only: it
//  replaces the operators.
inline std::atomic<long> allocations{0};

namespace allocationCounter
{

inline void* take(std::size_t bytes, std::size_t alignment)
{
    ++allocations;
    const std::size_t rounded = (bytes + alignment - 1)/alignment*alignment;
    if (void* memory = std::aligned_alloc(alignment, rounded > 0 ? rounded : alignment))
    {
        return memory;
    }
    throw std::bad_alloc();
}

}

// Not inlined, since GCC would take malloc and free for a mismatch
[[gnu::noinline]] void* operator new(std::size_t bytes)
{
    return allocationCounter::take(bytes, alignof(std::max_align_t));
}

[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment)
{
    return allocationCounter::take(bytes, static_cast<std::size_t>(alignment));
}

[[gnu::noinline]] void operator delete(void* memory) noexcept
{
    std::free(memory);
}

[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept
{
    std::free(memory);
}

[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept
{
    std::free(memory);
}

[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept
{
    std::free(memory);
}
