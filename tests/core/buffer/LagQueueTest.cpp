// SPDX-License-Identifier: GPL-3.0-or-later
#include "buffer/LagQueue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

namespace inSitu
{
namespace
{

using Queue = LagQueue<char>;

void push(Queue& queue, const std::string& items)
{
    for (const char item : items)
    {
        queue.push(item, true, queue.judge());
    }
}


std::string waiting(const Queue& queue)
{
    std::string items;
    for (const Queue::Entry& entry : queue.entries())
    {
        items += entry.item;
    }
    return items;
}


Queue::Entry take(Queue& queue)
{
    return queue.take(queue.next());
}


TEST(LagQueue, AnItemInHandKeepsItsSlot)
{
    Queue queue(3, OnLag::block, 1);
    push(queue, "abc");
    EXPECT_TRUE(queue.isFull());
    const Queue::Entry a = take(queue);
    EXPECT_EQ(a.item, 'a');
    EXPECT_TRUE(queue.isFull());
    queue.giveBack(a);
    EXPECT_FALSE(queue.isFull());
    push(queue, "d");
    EXPECT_EQ(waiting(queue), "bcd");
    EXPECT_EQ(queue.next(), 1);
}


TEST(LagQueue, TheOldestOrTheNewestIsLeftOut)
{
    Queue oldest(3, OnLag::dropOldest, 1), newest(3, OnLag::dropNewest, 1);
    for (Queue* queue : {&oldest, &newest})
    {
        push(*queue, "a");
        take(*queue);
        push(*queue, "bcde");
    }
    EXPECT_EQ(waiting(oldest), "de");
    EXPECT_EQ(waiting(newest), "bc");
    EXPECT_EQ(oldest.nPushed(), 5);
    EXPECT_EQ(newest.nPushed(), 5);
    EXPECT_FALSE(newest.judge().admitted);
    EXPECT_EQ(oldest.judge().dropped, 3);
    EXPECT_TRUE(oldest.has(4));
    EXPECT_FALSE(oldest.has(2));
}


TEST(LagQueue, WhatNeedsNoSlotIsNeverLeftOut)
{
    Queue queue(2, OnLag::dropOldest, 1);
    push(queue, "a");
    const Queue::Entry a = take(queue);
    queue.push('1', false);
    push(queue, "b");
    queue.push('2', false);
    push(queue, "cd");
    EXPECT_EQ(waiting(queue), "12d");

    const Queue::Entry report = take(queue);
    queue.giveBack(report);
    EXPECT_TRUE(queue.isFull());
    queue.giveBack(a);
    EXPECT_FALSE(queue.isFull());
}


TEST(LagQueue, TheReservoirKeepsEachWithTheSameProbabilityInOrder)
{
    // Three of seven wait, since the one in hand was taken
    std::map<char, int> kept;
    const int n = 7000;
    for (int seed = 0; seed < n; ++seed)
    {
        Queue queue(4, OnLag::reservoir, seed);
        push(queue, "_");
        take(queue);
        push(queue, "abcdefg");
        const std::string items = waiting(queue);
        ASSERT_EQ(items.size(), 3u);
        ASSERT_TRUE(std::is_sorted(items.begin(), items.end()));
        for (const char item : items)
        {
            ++kept[item];
        }
    }
    for (const char item : std::string("abcdefg"))
    {
        EXPECT_NEAR(kept[item], 3.0*n/7, 4*std::sqrt(n*3.0/7*4/7)) << item;
    }
}


TEST(LagQueue, TheReservoirBeginsAnewWhenOneIsTaken)
{
    // Behind the one in hand one of twelve is left, and then comes another: two wait, of two. The
    // next one is the third.
    int nKept = 0;
    const int n = 6000;
    for (int seed = 0; seed < n; ++seed)
    {
        Queue queue(3, OnLag::reservoir, seed);
        push(queue, "_");
        const Queue::Entry first = take(queue);
        push(queue, "abcdefghijkl");
        queue.giveBack(first);
        take(queue);
        push(queue, "m");
        ASSERT_TRUE(queue.isFull());
        ASSERT_EQ(waiting(queue).back(), 'm');
        push(queue, "n");
        nKept += waiting(queue).back() == 'n';
    }
    EXPECT_NEAR(nKept, 2.0*n/3, 4*std::sqrt(n*2.0/9));
}

}
}
