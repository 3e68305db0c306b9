// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"
#include "base/Error.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace inSitu
{

//- All ranks that have begun together, and all parts of them
struct ThreadFamily
{
    explicit ThreadFamily(int n)
    :
        ended(static_cast<std::size_t>(n), false)
    {}

    std::mutex mutex;
    std::condition_variable changed;
    std::vector<bool> ended;
    std::optional<std::string> left;
    std::size_t leaver = 0;
};


//- What the threads that play ranks share. All waits end: with what is waited for, with the notice
//  of a rank that has left, or with an Error where a rank has ended or nothing happens for long.
struct ThreadRanks
{
    using Bytes = Comm::Bytes;

    //- What each rank has given to one call of all ranks
    struct Operation
    {
        std::string kind;                       //!< equal on all ranks, or their order differs
        std::uint64_t number = 0;               //!< of calls before
        std::vector<std::vector<Bytes>> given;
        std::size_t nGiven = 0;
    };

    explicit ThreadRanks(int n)
    :
        size(static_cast<std::size_t>(n)),
        family(std::make_shared<ThreadFamily>(n)),
        mutex(family->mutex),
        changed(family->changed),
        numbers(size),
        nCalls(size, 0)
    {
        std::iota(numbers.begin(), numbers.end(), 0);
    }

    //- A part of whole: those of these numbers in it
    ThreadRanks(const ThreadRanks& whole, const std::vector<std::size_t>& ranks)
    :
        size(ranks.size()),
        family(whole.family),
        mutex(family->mutex),
        changed(family->changed),
        nCalls(size, 0)
    {
        for (const std::size_t rank : ranks)
        {
            numbers.push_back(whole.numbers[rank]);
        }
    }

    //- Throws if a rank has left
    void check(std::size_t rank) const
    {
        if (family->left)
        {
            throw Error(*family->left
              + (family->leaver == numbers[rank] ? " (this rank has left)" : ""));
        }
    }

    std::shared_ptr<Operation> give
    (
        std::size_t rank,
        const std::string& kind,
        std::vector<Bytes> bytes
    )
    {
        const std::lock_guard<std::mutex> lock(mutex);
        check(rank);

        std::shared_ptr<Operation>& operation = operations[nCalls[rank]];
        if (!operation)
        {
            operation = std::make_shared<Operation>();
            operation->kind = kind;
            operation->number = nCalls[rank];
            operation->given.resize(size);
        }
        if (operation->kind != kind)
        {
            throw Error("one rank calls " + operation->kind + ", rank " + std::to_string(rank)
              + ' ' + kind);
        }

        const std::shared_ptr<Operation> given = operation;
        given->given[rank] = std::move(bytes);
        if (++given->nGiven == size)
        {
            operations.erase(nCalls[rank]);
        }
        ++nCalls[rank];
        changed.notify_all();
        return given;
    }

    //- Wait until met() or, as it never will be, hopeless()
    template<class Met, class Hopeless>
    void wait(std::size_t rank, const std::string& what, const Met& met, const Hopeless& hopeless)
    {
        std::unique_lock<std::mutex> lock(mutex);
        const bool awake = changed.wait_for(lock, std::chrono::seconds(120), [&]
        {
            return met() || family->left || hopeless();
        });
        if (!met())
        {
            check(rank);
            throw Error("rank " + std::to_string(rank) + " waits in vain for " + what
              + (awake ? ": a rank has ended" : ": nothing has happened for two minutes"));
        }
    }

    void wait(std::size_t rank, const Operation& operation)
    {
        const auto met = [&] { return operation.nGiven == size; };
        wait(rank, operation.kind, met, [&]
        {
            for (std::size_t other = 0; other < size; ++other)
            {
                if (hasEnded(other) && nCalls[other] <= operation.number)
                {
                    return true;
                }
            }
            return false;
        });
    }

    void leave(std::size_t rank, const std::string& reason)
    {
        const std::lock_guard<std::mutex> lock(mutex);
        if (!family->left)
        {
            family->left = "rank " + std::to_string(numbers[rank]) + ": " + reason;
            family->leaver = numbers[rank];
        }
        changed.notify_all();
    }

    void end(std::size_t rank)
    {
        const std::lock_guard<std::mutex> lock(mutex);
        family->ended[numbers[rank]] = true;
        changed.notify_all();
    }

    bool hasEnded(std::size_t rank) const { return family->ended[numbers[rank]]; }

    const std::size_t size;

    const std::shared_ptr<ThreadFamily> family;
    std::mutex& mutex;
    std::condition_variable& changed;
    std::vector<std::size_t> numbers;                               //!< in the family
    std::map<std::pair<std::uint64_t, int>, std::shared_ptr<ThreadRanks>> parts;
    std::map<std::uint64_t, std::shared_ptr<Bytes>> windows;        //!< by the call that made them

    std::vector<std::uint64_t> nCalls;                              //!< of all ranks, by each
    std::map<std::uint64_t, std::shared_ptr<Operation>> operations; //!< in which ranks are missing
    std::map<std::tuple<std::size_t, std::size_t, std::uint64_t>, std::deque<Bytes>> mail;
                                                                    //!< from, to, exchange
};


//- One of the ranks that are threads of this process. Sums are added in the order of the ranks.
//  Memory that is handed over between start and finish is filled with not-a-numbers, and finish
//  throws if it has been written: real messages would be spoilt.
class ThreadComm final : public Comm
{
public:

    ThreadComm(std::shared_ptr<ThreadRanks> ranks, int rank)
    :
        ranks_(std::move(ranks)),
        rank_(static_cast<std::size_t>(rank)),
        nSendingTo_(ranks_->size, 0),
        nReceivingFrom_(ranks_->size, 0)
    {}

    int rank() const override { return static_cast<int>(rank_); }
    int size() const override { return static_cast<int>(ranks_->size); }
    int nodeSize() const override { return size(); }
    int node() const override { return 0; }
    int numberOf(int rank) const override { return static_cast<int>(ranks_->numbers.at(rank)); }

    std::shared_ptr<Comm> part(int number, Waiting) const override
    {
        const auto operation = give("part", bytesOf(Span<const int>(&number, 1)));
        ranks_->wait(rank_, *operation);
        std::vector<std::size_t> ranks;
        std::size_t place = 0;
        for (std::size_t rank = 0; rank < operation->given.size(); ++rank)
        {
            place = rank == rank_ ? ranks.size() : place;
            if (at<int>(operation->given[rank][0], 0) == number)
            {
                ranks.push_back(rank);
            }
        }
        if (number < 0)
        {
            return nullptr;
        }
        const std::lock_guard<std::mutex> lock(ranks_->mutex);
        std::shared_ptr<ThreadRanks>& part = ranks_->parts[{operation->number, number}];
        if (!part)
        {
            part = std::make_shared<ThreadRanks>(*ranks_, ranks);
        }
        return std::make_shared<ThreadComm>(part, static_cast<int>(place));
    }

    std::unique_ptr<SharedWindow> shared(std::size_t bytes) const override;

    void sum(Span<double> values) const override
    {
        const Timer timer(traffic_);
        const auto operation = give("sum", bytesOf(values));
        ranks_->wait(rank_, *operation);
        fold(*operation, values, std::plus<double>());
    }

    void max(Span<double> values) const override
    {
        const Timer timer(traffic_);
        const auto operation = give("max", bytesOf(values));
        ranks_->wait(rank_, *operation);
        fold(*operation, values, [](double a, double b) { return a > b || a != a ? a : b; });
    }

    void startSum(Span<float> values) override { start(values, "sum of float"); }
    void startSum(Span<double> values) override { start(values, "sum of double"); }

    void finishSums() override
    {
        const Timer timer(traffic_);
        check();
        for (const auto& finish : std::exchange(sums_, {}))
        {
            finish();
        }
    }

    void broadcast(Bytes& bytes) const override
    {
        const Timer timer(traffic_);
        const auto operation = give("broadcast", isMaster() ? bytes : Bytes());
        ranks_->wait(rank_, *operation);
        bytes = operation->given[0][0];
    }

    std::vector<Bytes> gather(const Bytes& bytes) const override
    {
        const Timer timer(traffic_);
        const auto operation = give("gather", bytes);
        ranks_->wait(rank_, *operation);
        std::vector<Bytes> all;
        if (isMaster())
        {
            for (const auto& given : operation->given)
            {
                all.push_back(given[0]);
            }
        }
        return all;
    }

    std::vector<Bytes> swap(const std::vector<Bytes>& outgoing) const override
    {
        const Timer timer(traffic_);
        if (outgoing.size() != ranks_->size)
        {
            throw Error("messages for " + std::to_string(outgoing.size()) + " ranks of "
              + std::to_string(ranks_->size));
        }
        ++traffic_.sums;
        for (std::size_t to = 0; to < outgoing.size(); ++to)
        {
            traffic_.summedBytes += to == rank_ ? 0 : outgoing[to].size();
        }

        const auto operation = ranks_->give(rank_, "swap", outgoing);
        ranks_->wait(rank_, *operation);
        std::vector<Bytes> incoming;
        for (const auto& given : operation->given)
        {
            incoming.push_back(given[rank_]);
        }
        return incoming;
    }

    std::unique_ptr<Exchange> exchange(const std::vector<Neighbour>& neighbours) override;

    void progress() override
    {
        const Timer timer(traffic_);
        if (std::this_thread::get_id() != thread_)
        {
            throw Error("another thread than that of the rank helps its messages along");
        }
        check();
    }

    void leave(const std::string& reason) noexcept override { ranks_->leave(rank_, reason); }

    Traffic traffic() const override { return traffic_; }

private:

    class Messages;
    class Window;

    //- Adds the time of its life
    class Timer
    {
    public:

        explicit Timer(Traffic& traffic)
        :
            traffic_(traffic)
        {}

        ~Timer()
        {
            traffic_.seconds +=
                std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
        }

    private:

        Traffic& traffic_;
        const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    };

    template<class T>
    static Bytes bytesOf(Span<T> values)
    {
        Bytes bytes(values.size()*sizeof(T));
        if (!bytes.empty())
        {
            std::memcpy(bytes.data(), values.data(), bytes.size());
        }
        return bytes;
    }

    template<class T>
    static T at(const Bytes& bytes, std::size_t i)
    {
        T value;
        std::memcpy(&value, bytes.data() + i*sizeof(T), sizeof(T));
        return value;
    }

    //- In the order of the ranks
    template<class T, class Combine>
    static void fold
    (
        const ThreadRanks::Operation& operation,
        Span<T> values,
        const Combine& combine
    )
    {
        for (std::size_t i = 0; i < values.size(); ++i)
        {
            values[i] = at<T>(operation.given[0][0], i);
            for (std::size_t rank = 1; rank < operation.given.size(); ++rank)
            {
                values[i] = combine(values[i], at<T>(operation.given[rank][0], i));
            }
        }
    }

    //- Not-a-numbers, for either precision
    static void poison(void* data, std::size_t nBytes)
    {
        if (nBytes > 0)
        {
            std::memset(data, 0xff, nBytes);
        }
    }

    void checkPoison(const void* data, std::size_t nBytes) const
    {
        const auto* bytes = static_cast<const std::uint8_t*>(data);
        if (std::any_of(bytes, bytes + nBytes, [](std::uint8_t byte) { return byte != 0xff; }))
        {
            throw Error("rank " + std::to_string(rank_)
              + " has written into memory that was handed over");
        }
    }

    void check() const
    {
        const std::lock_guard<std::mutex> lock(ranks_->mutex);
        ranks_->check(rank_);
    }

    std::shared_ptr<ThreadRanks::Operation> give(const std::string& kind, const Bytes& bytes) const
    {
        const bool sized = kind != "broadcast" && kind != "gather" && kind != "meeting";
        ++traffic_.sums;
        traffic_.summedBytes += bytes.size();
        return ranks_->give
        (
            rank_, sized ? kind + " in " + std::to_string(bytes.size()) + " bytes" : kind, {bytes}
        );
    }

    template<class T>
    void start(Span<T> values, const std::string& kind)
    {
        const Timer timer(traffic_);
        const auto operation = give(kind, bytesOf(values));
        poison(values.data(), values.size()*sizeof(T));
        sums_.push_back([this, operation, values]
        {
            ranks_->wait(rank_, *operation);
            checkPoison(values.data(), values.size()*sizeof(T));
            fold(*operation, values, std::plus<T>());
        });
    }

    std::shared_ptr<ThreadRanks> ranks_;
    std::size_t rank_;
    const std::thread::id thread_ = std::this_thread::get_id();
    mutable Traffic traffic_;

    //- Ends of the sums on their way
    std::vector<std::function<void()>> sums_;

    //- Exchanges that send to, and receive from, each rank so far
    std::vector<std::uint64_t> nSendingTo_;
    std::vector<std::uint64_t> nReceivingFrom_;
};


class ThreadComm::Messages final : public Exchange
{
public:

    Messages(ThreadComm& comm, const std::vector<Neighbour>& neighbours)
    :
        comm_(comm)
    {
        std::set<int> seen;
        for (const Neighbour& neighbour : neighbours)
        {
            if (neighbour.rank < 0 || neighbour.rank >= comm.size())
            {
                throw Error("no rank " + std::to_string(neighbour.rank) + " to exchange with");
            }
            if (!seen.insert(neighbour.rank).second)
            {
                throw Error("rank " + std::to_string(neighbour.rank) + " is a neighbour twice");
            }

            const auto rank = static_cast<std::size_t>(neighbour.rank);
            Link link{rank, Bytes(neighbour.bytesToSend), Bytes(neighbour.bytesToReceive), 0, 0};
            link.sendTag = link.out.empty() ? 0 : comm.nSendingTo_[rank]++;
            link.receiveTag = link.in.empty() ? 0 : comm.nReceivingFrom_[rank]++;
            links_.push_back(std::move(link));
        }
    }

    void* toSend(std::size_t i) override { return links_.at(i).out.data(); }
    const void* received(std::size_t i) const override { return links_.at(i).in.data(); }

    void start() override
    {
        const Timer timer(comm_.traffic_);
        if (travelling_)
        {
            throw Error("an exchange was started twice");
        }
        travelling_ = true;

        ThreadRanks& ranks = *comm_.ranks_;
        const std::lock_guard<std::mutex> lock(ranks.mutex);
        ranks.check(comm_.rank_);
        for (Link& link : links_)
        {
            if (!link.out.empty())
            {
                ranks.mail[{comm_.rank_, link.rank, link.sendTag}].push_back(link.out);
                ++comm_.traffic_.messages;
                comm_.traffic_.bytes += link.out.size();
            }
            poison(link.out.data(), link.out.size());
            poison(link.in.data(), link.in.size());
        }
        ranks.changed.notify_all();
    }

    void finish() override
    {
        const Timer timer(comm_.traffic_);
        comm_.check();
        if (!travelling_)
        {
            throw Error("an exchange was finished that was not started");
        }

        ThreadRanks& ranks = *comm_.ranks_;
        for (Link& link : links_)
        {
            comm_.checkPoison(link.out.data(), link.out.size());
            if (link.in.empty())
            {
                continue;
            }

            const std::string what = "a message of rank " + std::to_string(link.rank);
            std::deque<Bytes>* box = nullptr;
            {
                const std::lock_guard<std::mutex> lock(ranks.mutex);
                box = &ranks.mail[{link.rank, comm_.rank_, link.receiveTag}];
            }
            ranks.wait(comm_.rank_, what, [&] { return !box->empty(); },
                [&] { return ranks.hasEnded(link.rank); });

            const std::lock_guard<std::mutex> lock(ranks.mutex);
            const Bytes message = std::move(box->front());
            box->pop_front();
            if (message.size() != link.in.size())
            {
                throw Error(what + " holds " + std::to_string(message.size()) + " bytes, not "
                  + std::to_string(link.in.size()));
            }
            std::copy(message.begin(), message.end(), link.in.begin());
        }
        travelling_ = false;
    }

private:

    struct Link
    {
        std::size_t rank;
        Bytes out;
        Bytes in;
        std::uint64_t sendTag;
        std::uint64_t receiveTag;
    };

    ThreadComm& comm_;
    std::vector<Link> links_;
    bool travelling_ = false;
};


inline std::unique_ptr<Exchange> ThreadComm::exchange(const std::vector<Neighbour>& neighbours)
{
    return std::make_unique<Messages>(*this, neighbours);
}


//- Its bytes are those of the first one to come
class ThreadComm::Window final : public SharedWindow
{
public:

    Window(const ThreadComm& comm, std::size_t bytes)
    :
        comm_(comm),
        bytes_(bytes)
    {
        const auto operation = comm.give("window", bytesOf(Span<const std::size_t>(&bytes, 1)));
        comm.ranks_->wait(comm.rank_, *operation);

        const std::lock_guard<std::mutex> lock(comm.ranks_->mutex);
        std::shared_ptr<Bytes>& memory = comm.ranks_->windows[operation->number];
        if (!memory)
        {
            memory = std::make_shared<Bytes>(bytes + 64);
            poison(memory->data(), memory->size());
        }
        memory_ = memory;
    }

    void* data() override
    {
        const auto address = reinterpret_cast<std::uintptr_t>(memory_->data());
        return memory_->data() + (64 - address % 64) % 64;
    }

    std::size_t bytes() const override { return bytes_; }

    void meet() override { comm_.ranks_->wait(comm_.rank_, *comm_.give("meeting", Bytes())); }

private:

    const ThreadComm& comm_;
    std::size_t bytes_;
    std::shared_ptr<Bytes> memory_;
};


inline std::unique_ptr<SharedWindow> ThreadComm::shared(std::size_t bytes) const
{
    return std::make_unique<Window>(*this, bytes);
}


//- Calls body on n threads, each with the Comm of its rank. A rank that throws leaves. The first
//  exception in the order of the ranks is thrown again when all have ended.
inline void onRanks(int n, const std::function<void(Comm&)>& body)
{
    const auto ranks = std::make_shared<ThreadRanks>(n);
    std::vector<std::exception_ptr> errors(ranks->size);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < n; ++rank)
    {
        threads.emplace_back([&, rank]
        {
            ThreadComm comm(ranks, rank);
            try
            {
                body(comm);
            }
            catch (const std::exception& error)
            {
                errors[rank] = std::current_exception();
                comm.leave(error.what());
            }
            catch (...)
            {
                errors[rank] = std::current_exception();
                comm.leave("an unknown error");
            }
            ranks->end(static_cast<std::size_t>(rank));
        });
    }
    for (std::thread& thread : threads)
    {
        thread.join();
    }
    for (const std::exception_ptr& error : errors)
    {
        if (error)
        {
            std::rethrow_exception(error);
        }
    }
}


//- The same Comm for those who want to share it, e.g. with a trainer. It must outlive them.
inline std::shared_ptr<Comm> borrowed(Comm& comm)
{
    return {std::shared_ptr<void>(), &comm};
}

}
