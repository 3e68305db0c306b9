// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"
#include "base/Error.hpp"
#include "base/ExitStop.hpp"
#include "base/ownThread.hpp"
#include "buffer/LagQueue.hpp"

#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace inSitu
{

//- A thread that works on items in the order in which another one, the host's, hands them over.
//  Over several ranks all hand over the same items, and all threads take the same one next: the
//  master says which. An exception of the work ends the thread; each later call throws it. The
//  thread ends behind the item in hand in the destructor, and when the process exits; what waits
//  is then forgotten.
template<class Item>
class Lane
{
public:

    using Entry = typename LagQueue<Item>::Entry;
    using Verdict = typename LagQueue<Item>::Verdict;

    //- Called in the thread; whoever handed the item over no longer touches it, nor the slots in it
    using Work = std::function<void(std::int64_t number, Item& item)>;

    //- comm: for the host's thread; threadComm: for the work, and for nothing else as long as this
    //  lives.
    Lane(std::size_t nSlots, OnLag onLag, std::uint64_t seed, std::shared_ptr<const Comm> comm,
        std::shared_ptr<Comm> threadComm, Work work)
    :
        onLag_(onLag),
        comm_(std::move(comm)),
        threadComm_(std::move(threadComm)),
        work_(std::move(work)),
        queue_(nSlots, onLag, seed),
        thread_(startOwnThread([this] { run(); })),
        exitStop_([this] { stop(); })
    {}

    ~Lane() { stop(); }

    //- Behind the item in hand the thread ends, and the threads of other ranks that wait for it are
    //  told why
    void leave(const std::string& reason) noexcept
    {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            farewell_ = reason;
        }
        stop();
        threadComm_->leave(reason);
    }

    Lane(const Lane&) = delete;
    Lane& operator=(const Lane&) = delete;

    //- Hand an item over, waiting for a slot if it needs one, all are in flight and onLag is block.
    //  Without patience it never waits, nor drops. Returns whether it, or another one that waited,
    //  was left out. Collective with another onLag than block.
    Verdict hand(Item item, bool needsSlot, bool patient = true)
    {
        if (!needsSlot || !patient || onLag_ == OnLag::block)
        {
            std::unique_lock<std::mutex> lock(mutex_);
            if (needsSlot && patient)
            {
                changed_.wait(lock, [this] { return !queue_.isFull() || isOver(); });
            }
            push(std::move(item), needsSlot, {});
            return {};
        }
        if (comm_->isMaster())
        {
            std::unique_lock<std::mutex> lock(mutex_);
            const Verdict verdict = queue_.judge();
            push(std::move(item), needsSlot, verdict);
            lock.unlock();
            return ofMaster(*comm_, verdict);
        }
        const Verdict verdict = ofMaster(*comm_, Verdict());
        const std::lock_guard<std::mutex> lock(mutex_);
        push(std::move(item), needsSlot, verdict);
        return verdict;
    }

    //- Throws what has ended the thread
    void check() const
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        requireGood();
    }

    //- The thread has ended with an exception
    bool hasFailed() const
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        return error_ != nullptr;
    }

    //- Items that wait
    std::size_t nWaiting() const
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        return queue_.entries().size();
    }

    //- Wait until all is done that was handed over. Collective.
    void drain()
    {
        {
            std::unique_lock<std::mutex> lock(mutex_);
            changed_.wait(lock, [this] { return isIdle() || isOver(); });
            requireGood();
        }
        if (threadComm_->size() > 1 && onLag_ != OnLag::block)
        {
            // A thread may ask the master about an item that was left out meanwhile
            hold();
        }
    }

    //- The work says how far it has come, and the host waits for that, or until all is done
    void mark(std::int64_t value)
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        mark_ = value;
        changed_.notify_all();
    }

    void awaitMark(std::int64_t value)
    {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [&] { return mark_ >= value || isIdle() || isOver(); });
        requireGood();
    }

    //- The thread is between two items while one lives: what it works with is the host's.
    //  Collective; one at a time.
    class Hold
    {
    public:

        explicit Hold(Lane* lane)
        :
            lane_(lane)
        {}

        Hold(Hold&& other) noexcept
        :
            lane_(std::exchange(other.lane_, nullptr))
        {}

        ~Hold()
        {
            if (lane_)
            {
                const std::lock_guard<std::mutex> lock(lane_->mutex_);
                ++lane_->nReleased_;
                lane_->changed_.notify_all();
            }
        }

    private:

        Lane* lane_;
    };

    Hold hold()
    {
        std::unique_lock<std::mutex> lock(mutex_);
        ++nHolds_;
        changed_.notify_all();
        changed_.wait(lock, [this] { return (isParked_ && nParks_ == nHolds_) || isOver(); });
        requireGood();
        return Hold(this);
    }

    //- What waits, in order. Under a hold only.
    const std::vector<Entry>& entries() const { return queue_.entries(); }

    //- When the process exits the thread ends before what the work has made so far is destroyed.
    //  Takes a little memory each time.
    void renewExitStop() { exitStop_.renew(); }

    //- Number of the next item
    std::int64_t nHanded() const
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        return queue_.nPushed();
    }

private:

    static constexpr std::int64_t park = -1;

    template<class T>
    static T ofMaster(const Comm& comm, const T& value)
    {
        if (comm.size() == 1)
        {
            return value;
        }
        Comm::Bytes bytes(sizeof(T));
        std::memcpy(bytes.data(), &value, sizeof(T));
        comm.broadcast(bytes);
        T result;
        std::memcpy(&result, bytes.data(), sizeof(T));
        return result;
    }

    bool isOver() const { return error_ || stop_; }
    bool isIdle() const { return queue_.empty() && !isWorking_; }

    void requireGood() const
    {
        if (error_)
        {
            std::rethrow_exception(error_);
        }
        if (stop_)
        {
            throw Error("the thread that works beside the solver has been stopped");
        }
    }

    void push(Item item, bool needsSlot, const Verdict& verdict)
    {
        requireGood();
        queue_.push(std::move(item), needsSlot, verdict);
        changed_.notify_all();
    }

    void stop() noexcept
    {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            stop_ = true;
            changed_.notify_all();
            if (isWorking_ || isTalking_)
            {
                threadComm_->interrupt();
            }
        }
        if (thread_.joinable() && thread_.get_id() != std::this_thread::get_id())
        {
            thread_.join();
        }
    }

    void run()
    {
        try
        {
            std::unique_lock<std::mutex> lock(mutex_);
            while (step(lock))
            {}
        }
        catch (const std::exception& fault)
        {
            end(fault.what());
        }
        catch (...)
        {
            end("an exception of unknown type");
        }
    }

    //- Keeps the exception that is being handled
    void end(const char* reason)
    {
        std::unique_lock<std::mutex> lock(mutex_);
        const std::string farewell = farewell_.empty() ? reason : farewell_;
        lock.unlock();
        threadComm_->leave(farewell);
        lock.lock();
        error_ = std::current_exception();
        isWorking_ = false;
        changed_.notify_all();
    }

    bool step(std::unique_lock<std::mutex>& lock)
    {
        changed_.wait(lock, [this] { return stop_ || nHolds_ > nParks_ || !queue_.empty(); });
        if (stop_)
        {
            return false;
        }

        std::int64_t next = nHolds_ > nParks_ ? park : queue_.next();
        std::optional<Entry> entry;
        if (next != park && threadComm_->isMaster())
        {
            // Before the others hear of it: nobody may leave it out any more
            entry = take(next);
        }
        if (threadComm_->size() > 1)
        {
            isTalking_ = true;
            lock.unlock();
            next = ofMaster(*threadComm_, next);
            lock.lock();
            isTalking_ = false;
        }
        if (next == park)
        {
            return rest(lock);
        }
        changed_.wait(lock, [&] { return stop_ || entry || queue_.has(next); });
        if (stop_)
        {
            return false;
        }
        if (!entry)
        {
            entry = take(next);
        }

        lock.unlock();
        work_(next, entry->item);
        entry->item = Item();
        lock.lock();
        queue_.giveBack(*entry);
        isWorking_ = false;
        changed_.notify_all();
        return true;
    }

    Entry take(std::int64_t number)
    {
        isWorking_ = true;
        return queue_.take(number);
    }

    bool rest(std::unique_lock<std::mutex>& lock)
    {
        ++nParks_;
        isParked_ = true;
        changed_.notify_all();
        changed_.wait(lock, [this] { return stop_ || nReleased_ >= nParks_; });
        isParked_ = false;
        return !stop_;
    }

    const OnLag onLag_;
    const std::shared_ptr<const Comm> comm_;
    const std::shared_ptr<Comm> threadComm_;
    const Work work_;

    mutable std::mutex mutex_;
    std::condition_variable changed_;       // whatever follows
    LagQueue<Item> queue_;
    bool isWorking_ = false;
    bool isTalking_ = false;                // with other ranks, of what is next
    bool isParked_ = false;
    bool stop_ = false;
    std::exception_ptr error_;
    std::string farewell_;                  // of the host, where it leaves the other ranks
    std::int64_t mark_ = -1;
    std::int64_t nHolds_ = 0;               // wanted so far
    std::int64_t nParks_ = 0;               // begun
    std::int64_t nReleased_ = 0;

    std::thread thread_;                    // behind what it uses
    ExitStop exitStop_;
};

}
