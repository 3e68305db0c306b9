// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>

//- How often memory was asked for in this program so far, by whatever library: malloc and its kin,
//  behind which operator new and LibTorch's tensors are. Include in one source of a program only: it
//  replaces these functions, the way glibc allows.
inline std::atomic<long> allocations{0};

//- The same by the calling thread alone
inline thread_local long allocationsHere = 0;

// What glibc's own functions are also called
extern "C"
{
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t bytes) noexcept
{
    ++allocations;
    ++allocationsHere;
    return __libc_malloc(bytes);
}

void* calloc(std::size_t n, std::size_t bytes) noexcept
{
    ++allocations;
    ++allocationsHere;
    return __libc_calloc(n, bytes);
}

void* realloc(void* memory, std::size_t bytes) noexcept
{
    ++allocations;
    ++allocationsHere;
    return __libc_realloc(memory, bytes);
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept
{
    ++allocations;
    ++allocationsHere;
    return __libc_memalign(alignment, bytes);
}

void* memalign(std::size_t alignment, std::size_t bytes) noexcept
{
    ++allocations;
    ++allocationsHere;
    return __libc_memalign(alignment, bytes);
}

int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) noexcept
{
    ++allocations;
    ++allocationsHere;
    *memory = __libc_memalign(alignment, bytes);
    return *memory ? 0 : ENOMEM;
}
}
