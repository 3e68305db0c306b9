// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/DeviceStore.hpp"

#include "FakeDevice.hpp"

#include <cstring>

using namespace inSitu;

namespace
{

struct DeviceStoreTest : testing::Test
{
    //- Rows of a pool's piece; what the store holds of them is as many bytes of their own
    DeviceStore::Place ask(DeviceStore& store, const SlotPool::Handle& rows, std::size_t bytes = 40)
    {
        const DeviceStore::Place place = store.placeOf(rows, bytes);
        if (place.memory.defined())
        {
            EXPECT_EQ(place.memory.nbytes(), bytes);
        }
        return place;
    }

    std::shared_ptr<FakeQueue> queue = std::make_shared<FakeQueue>();
    SlotPool pool{40};
};

}


TEST_F(DeviceStoreTest, RowsStayAsLongAsSomebodyHoldsThem)
{
    DeviceStore store(at::kCPU, queue, 1000);
    SlotPool::Handle one = pool.acquire(), two = pool.acquire();
    store.nextBatch();
    const auto first = ask(store, one);
    const auto second = ask(store, two);
    EXPECT_TRUE(first.isNew);
    EXPECT_TRUE(second.isNew);
    EXPECT_NE(first.memory.data_ptr(), second.memory.data_ptr());
    EXPECT_FALSE(ask(store, one).isNew);
    store.nextBatch();
    EXPECT_FALSE(ask(store, two).isNew);
    EXPECT_EQ(ask(store, one).memory.data_ptr(), first.memory.data_ptr());
    EXPECT_EQ(store.nRows(), 2u);
    EXPECT_EQ(store.bytes(), 80u);

    // Given up: the place is another's, and the piece goes back to the pool
    one.reset();
    store.nextBatch();
    EXPECT_EQ(store.nRows(), 1u);
    SlotPool::Handle three = pool.acquire();
    EXPECT_EQ(pool.nAllocated(), 2);
    const auto third = ask(store, three);
    EXPECT_TRUE(third.isNew);
    EXPECT_EQ(third.memory.data_ptr(), first.memory.data_ptr());
    EXPECT_EQ(store.bytes(), 80u);
}


//- Between two batches rows may go and others come to the same memory of the host
TEST_F(DeviceStoreTest, TheSameAddressIsNotTheSameRows)
{
    DeviceStore store(at::kCPU, queue, 1000);
    double memory[5] = {};
    const auto rowsThere = [&] { return SlotPool::Handle(memory, [](void*) {}); };
    SlotPool::Handle rows = rowsThere();
    store.nextBatch();
    EXPECT_TRUE(ask(store, rows).isNew);
    EXPECT_FALSE(ask(store, rows).isNew);
    rows = rowsThere();
    EXPECT_TRUE(ask(store, rows).isNew);
}


TEST_F(DeviceStoreTest, WhereMemoryIsShortTheLongestUnusedGo)
{
    DeviceStore store(at::kCPU, queue, 3*40 + 39);
    std::vector<SlotPool::Handle> rows;
    for (int i = 0; i < 5; ++i)
    {
        rows.push_back(pool.acquire());
    }
    for (const int i : {0, 1, 2, 1, 0})
    {
        store.nextBatch();
        ask(store, rows[i]);
    }
    store.nextBatch();
    EXPECT_TRUE(ask(store, rows[3]).isNew);
    EXPECT_FALSE(ask(store, rows[1]).isNew);
    EXPECT_FALSE(ask(store, rows[0]).isNew);

    // All three are of this batch
    const auto none = ask(store, rows[4]);
    EXPECT_FALSE(none.memory.defined());
    EXPECT_TRUE(none.isNew);
    store.nextBatch();
    EXPECT_TRUE(ask(store, rows[2]).isNew);
    EXPECT_EQ(store.nRows(), 3u);
    EXPECT_EQ(store.bytes(), 120u);

    DeviceStore nothing(at::kCPU, queue, 0);
    nothing.nextBatch();
    EXPECT_FALSE(ask(nothing, rows[0]).memory.defined());
}


//- A mesh that has changed: memory of the old size goes, behind what is in the queue
TEST_F(DeviceStoreTest, RowsOfAnotherSizeTakeTheMemoryOfThoseBefore)
{
    DeviceStore store(at::kCPU, queue, 100);
    SlotPool larger(90);
    SlotPool::Handle one = pool.acquire(), two = pool.acquire();
    store.nextBatch();
    ask(store, one);
    at::Tensor(ask(store, two).memory).fill_(7);
    int nDone = 0;
    queue->put([&] { ++nDone; });

    const SlotPool::Handle next = larger.acquire();
    store.nextBatch();
    EXPECT_TRUE(ask(store, next, 90).isNew);
    EXPECT_EQ(nDone, 1);
    EXPECT_EQ(store.nRows(), 1u);
    EXPECT_EQ(store.bytes(), 90u);
    store.nextBatch();
    EXPECT_TRUE(ask(store, one).isNew);
    EXPECT_EQ(store.bytes(), 40u);
    EXPECT_FALSE(ask(store, next, 101).memory.defined());
}
