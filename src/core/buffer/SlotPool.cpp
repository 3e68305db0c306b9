// SPDX-License-Identifier: GPL-3.0-or-later
#include "buffer/SlotPool.hpp"

#include "base/alignedMemory.hpp"

#include <new>

namespace inSitu
{
namespace
{

constexpr std::size_t alignment = 64;

// Room in front of each piece for the reference counts of its handles, so that
// handing out a piece allocates nothing
constexpr std::size_t headerBytes = 2*alignment;

}


struct SlotPool::Shared
{
    explicit Shared(std::size_t bytes)
    :
        bytes(bytes)
    {}

    ~Shared()
    {
        for (std::byte* piece : free)
        {
            giveMemory(piece);
        }
    }

    std::byte* take()
    {
        const std::lock_guard<std::mutex> lock(mutex);
        if (free.empty())
        {
            free.reserve(static_cast<std::size_t>(nAllocated) + 1);
            auto* piece = static_cast<std::byte*>(takeMemory(headerBytes + bytes));
            ++nAllocated;
            return piece;
        }
        std::byte* piece = free.back();
        free.pop_back();
        return piece;
    }

    void give(std::byte* piece)
    {
        const std::lock_guard<std::mutex> lock(mutex);
        free.push_back(piece);
    }

    const std::size_t bytes;
    std::mutex mutex;
    std::vector<std::byte*> free;   // room for all pieces is reserved: give() cannot throw
    int nAllocated = 0;

    // Places the reference counts in the header of the piece. They die after the last
    // handle, strong or weak, and take the piece back to the pool.
    template<class T>
    struct HeaderAllocator
    {
        using value_type = T;

        HeaderAllocator(std::shared_ptr<Shared> owner, std::byte* memory)
        :
            pool(std::move(owner)),
            piece(memory)
        {}

        template<class U>
        HeaderAllocator(const HeaderAllocator<U>& other)
        :
            pool(other.pool),
            piece(other.piece)
        {}

        T* allocate(std::size_t n)
        {
            static_assert(sizeof(T) <= headerBytes && alignof(T) <= alignment);
            if (n != 1)
            {
                throw std::bad_alloc();
            }
            return reinterpret_cast<T*>(piece);
        }

        void deallocate(T*, std::size_t)
        {
            pool->give(piece);
        }

        template<class U>
        bool operator==(const HeaderAllocator<U>& other) const { return piece == other.piece; }

        template<class U>
        bool operator!=(const HeaderAllocator<U>& other) const { return piece != other.piece; }

        std::shared_ptr<Shared> pool;
        std::byte* piece;
    };
};


SlotPool::SlotPool(std::size_t bytesPerSlot)
:
    shared_(std::make_shared<Shared>(bytesPerSlot))
{}


SlotPool::Handle SlotPool::acquire()
{
    std::byte* piece = shared_->take();
    return Handle
    (
        static_cast<void*>(piece + headerBytes),
        [](void*) {},
        Shared::HeaderAllocator<std::byte>(shared_, piece)
    );
}


std::size_t SlotPool::bytes() const
{
    return shared_->bytes;
}


int SlotPool::nAllocated() const
{
    const std::lock_guard<std::mutex> lock(shared_->mutex);
    return shared_->nAllocated;
}

}
