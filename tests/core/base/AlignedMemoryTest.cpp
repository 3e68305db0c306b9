// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/alignedMemory.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <vector>

#include <unistd.h>

using namespace inSitu;

namespace
{

using Memory = std::unique_ptr<void, void(*)(void*)>;


std::size_t residentBytes()
{
    std::size_t all = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> all >> resident;
    return resident*static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}


TEST(AlignedMemory, StartsALineOrAHugePage)
{
    for (const std::size_t bytes : {1, 63, 64, 1000, (4 << 20) - 1, (4 << 20) + 7})
    {
        const Memory memory(takeMemory(bytes), giveMemory);
        const std::uintptr_t alignment = bytes < (4 << 20) ? 64 : 2 << 20;
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.get()) % alignment, 0u) << bytes;
        std::memset(memory.get(), 3, bytes);
    }
}


TEST(AlignedMemory, TakesNoMoreThanIsAskedFor)
{
    // A little more than huge pages hold
    const std::size_t bytes = (4 << 20) + 200;
    constexpr int n = 15;
    std::vector<Memory> memories;
    const std::size_t before = residentBytes();
    for (int i = 0; i < n; ++i)
    {
        memories.emplace_back(takeMemory(bytes), giveMemory);
        std::memset(memories.back().get(), 3, bytes);
    }
    const auto taken = static_cast<double>(residentBytes() - before);
    EXPECT_GT(taken, 0.95*n*bytes);
    EXPECT_LT(taken, 1.05*n*bytes);
}
