// SPDX-License-Identifier: GPL-3.0-or-later
#include "buffer/SlotPool.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <thread>

using namespace inSitu;


TEST(SlotPool, APieceComesBackWhenItsLastHandleDies)
{
    SlotPool pool(1000);
    SlotPool::Handle first = pool.acquire();
    SlotPool::Handle copy = first;
    const void* memory = first.get();

    first.reset();
    const SlotPool::Handle second = pool.acquire();
    EXPECT_NE(second.get(), memory);

    copy.reset();
    const SlotPool::Handle third = pool.acquire();
    EXPECT_EQ(third.get(), memory);
    EXPECT_EQ(pool.nAllocated(), 2);
}


TEST(SlotPool, PiecesAreAlignedAndApart)
{
    SlotPool pool(100);
    std::vector<SlotPool::Handle> handles;
    for (int i = 0; i < 20; ++i)
    {
        handles.push_back(pool.acquire());
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(handles.back().get()) % 64, 0u);
        std::memset(handles.back().get(), i, pool.bytes());
    }

    for (int i = 0; i < 20; ++i)
    {
        const auto* bytes = static_cast<const std::uint8_t*>(handles[i].get());
        EXPECT_EQ(bytes[0], i);
        EXPECT_EQ(bytes[99], i);
    }
    EXPECT_EQ(pool.bytes(), 100u);
}


TEST(SlotPool, HandlesOutliveThePool)
{
    std::optional<SlotPool> pool(64);
    SlotPool::Handle handle = pool->acquire();
    SlotPool::Handle other = pool->acquire();
    other.reset();

    pool.reset();
    std::memset(handle.get(), 3, 64);

    EXPECT_EQ(static_cast<const std::uint8_t*>(handle.get())[63], 3);
}


TEST(SlotPool, AWeakReferenceKeepsAPieceOutOfThePoolButNotItsHandle)
{
    SlotPool pool(64);
    SlotPool::Handle handle = pool.acquire();
    const void* memory = handle.get();
    std::weak_ptr<void> weak = handle;

    handle.reset();
    EXPECT_TRUE(weak.expired());
    EXPECT_NE(pool.acquire().get(), memory);

    weak.reset();
    EXPECT_EQ(pool.acquire().get(), memory);
}


TEST(SlotPool, ThreadsMayTakeAndReturnAtTheSameTime)
{
    SlotPool pool(256);
    const auto work = [&](int mark)
    {
        for (int i = 0; i < 2000; ++i)
        {
            const SlotPool::Handle handle = pool.acquire();
            std::memset(handle.get(), mark, 256);
            ASSERT_EQ(static_cast<const std::uint8_t*>(handle.get())[255], mark);
        }
    };

    std::thread other(work, 5);
    work(6);
    other.join();

    EXPECT_LE(pool.nAllocated(), 2);
}
