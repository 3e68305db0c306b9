// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/below.hpp"

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace inSitu
{

//- What happens to a new item when the one who takes them lags
enum class OnLag
{
    block,          //!< it waits for a free slot
    dropOldest,     //!< it takes the place of the one that has waited longest
    dropNewest,     //!< it is left out
    reservoir       //!< of all since the last one was taken, each stays with the same probability
};


//- Items on their way from one who makes them to one who takes them, in order. An item that is
//  waiting or in hand occupies a slot; some, which never go missing, need none. Without locks: the
//  caller has them.
template<class Item>
class LagQueue
{
public:

    struct Entry
    {
        std::int64_t number = 0;    //!< counts what was pushed, from 0
        bool needsSlot = true;
        Item item;
    };

    //- nSlots >= 2: one in hand and at least one waiting
    LagQueue(std::size_t nSlots, OnLag onLag, std::uint64_t seed)
    :
        nSlots_(nSlots),
        onLag_(onLag),
        generator_(seed)
    {
        entries_.reserve(nSlots + 8);
    }

    bool isFull() const { return nWaiting_ + nInHand_ >= nSlots_; }

    //- What becomes of the next item that needs a slot
    struct Verdict
    {
        static constexpr std::int64_t none = -1;

        bool admitted = true;
        std::int64_t dropped = none;    //!< number of one that leaves for it

        bool isClean() const { return admitted && dropped == none; }
    };

    //- Not to be called for block, which waits until it is no longer full. May draw at random.
    Verdict judge()
    {
        if (!isFull())
        {
            return {};
        }
        if (onLag_ == OnLag::dropNewest || nWaiting_ == 0)
        {
            return {false, Verdict::none};
        }
        const std::size_t place = onLag_ == OnLag::dropOldest ? 0
            : static_cast<std::size_t>(
                below(generator_, static_cast<std::uint64_t>(nOffered_ + 1)));
        return place < nWaiting_ ? Verdict{true, waiting(place).number}
            : Verdict{false, Verdict::none};
    }

    //- Append an item, or leave it or another out
    void push(Item item, bool needsSlot, const Verdict& verdict = {})
    {
        const std::int64_t number = nPushed_++;
        nOffered_ += needsSlot ? 1 : 0;
        if (verdict.dropped != Verdict::none)
        {
            remove(verdict.dropped);
        }
        if (verdict.admitted)
        {
            entries_.push_back({number, needsSlot, std::move(item)});
            nWaiting_ += needsSlot ? 1 : 0;
        }
    }

    bool empty() const { return entries_.empty(); }

    //- Number of the next to be taken; there is one
    std::int64_t next() const { return entries_.front().number; }

    bool has(std::int64_t number) const
    {
        for (const Entry& entry : entries_)
        {
            if (entry.number == number)
            {
                return true;
            }
        }
        return false;
    }

    //- Its slot stays occupied until giveBack()
    Entry take(std::int64_t number)
    {
        Entry entry = remove(number);
        nInHand_ += entry.needsSlot ? 1 : 0;
        nOffered_ = static_cast<std::int64_t>(nWaiting_);
        return entry;
    }

    void giveBack(const Entry& entry) { nInHand_ -= entry.needsSlot ? 1 : 0; }

    //- In order
    const std::vector<Entry>& entries() const { return entries_; }

    //- Of all that were pushed, those left out included
    std::int64_t nPushed() const { return nPushed_; }

private:

    //- The place-th that occupies a slot
    const Entry& waiting(std::size_t place) const
    {
        auto entry = entries_.begin();
        while (!entry->needsSlot || place-- > 0)
        {
            ++entry;
        }
        return *entry;
    }

    Entry remove(std::int64_t number)
    {
        auto entry = entries_.begin();
        while (entry->number != number)
        {
            ++entry;
        }
        Entry removed = std::move(*entry);
        entries_.erase(entry);
        nWaiting_ -= removed.needsSlot ? 1 : 0;
        return removed;
    }

    const std::size_t nSlots_;
    const OnLag onLag_;
    std::mt19937_64 generator_;
    std::vector<Entry> entries_;
    std::size_t nWaiting_ = 0;      // with a slot
    std::size_t nInHand_ = 0;
    std::int64_t nPushed_ = 0;
    std::int64_t nOffered_ = 0;     // with a slot, since one was taken, and those waiting then
};

}
