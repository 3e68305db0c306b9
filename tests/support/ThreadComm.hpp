// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ThreadMessages.hpp"

#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace inSitu
{

//- One of the ranks that are threads of this process. Sums are added in the order of the ranks.
//  Memory that is handed over between start and finish is filled with not-a-numbers, and finish
//  throws if it has been written: real messages would be spoilt.
class ThreadComm final : public Comm
{
public:

    ThreadComm(std::shared_ptr<ThreadRanks> ranks, int rank)
    :
        self_(std::move(ranks), rank, ownTraffic_)
    {}

    //- A part of whole, which outlives this: what it sends counts there
    ThreadComm(const ThreadComm& whole, std::shared_ptr<ThreadRanks> ranks, int rank)
    :
        self_(std::move(ranks), rank, whole.self_.traffic)
    {}

    int rank() const override { return static_cast<int>(self_.number); }
    int size() const override { return static_cast<int>(self_.ranks->size); }
    int nodeSize() const override { return size(); }
    int node() const override { return 0; }

    int numberOf(int rank) const override
    {
        return static_cast<int>(self_.ranks->numbers.at(rank));
    }

    std::shared_ptr<Comm> part(int number, Waiting) const override
    {
        const auto operation = self_.give("part", bytesOf(Span<const int>(&number, 1)));
        self_.wait(*operation);
        std::vector<std::size_t> ranks;
        std::size_t place = 0;
        for (std::size_t rank = 0; rank < operation->given.size(); ++rank)
        {
            place = rank == self_.number ? ranks.size() : place;
            if (at<int>(operation->given[rank][0], 0) == number)
            {
                ranks.push_back(rank);
            }
        }
        if (number < 0)
        {
            return nullptr;
        }
        const std::lock_guard<std::mutex> lock(self_.ranks->mutex);
        std::shared_ptr<ThreadRanks>& part = self_.ranks->parts[{operation->number, number}];
        if (!part)
        {
            part = std::make_shared<ThreadRanks>(*self_.ranks, ranks);
        }
        return std::make_shared<ThreadComm>(*this, part, static_cast<int>(place));
    }

    std::unique_ptr<SharedWindow> shared(std::size_t bytes) const override
    {
        return std::make_unique<ThreadWindow>(self_, bytes);
    }

    void sum(Span<double> values) const override
    {
        const ThreadRank::Timer timer(self_);
        const auto operation = self_.give("sum", bytesOf(values));
        self_.wait(*operation);
        fold(*operation, values, std::plus<double>());
    }

    void max(Span<double> values) const override
    {
        const ThreadRank::Timer timer(self_);
        const auto operation = self_.give("max", bytesOf(values));
        self_.wait(*operation);
        fold(*operation, values, [](double a, double b) { return a > b || a != a ? a : b; });
    }

    void startSum(Span<float> values) override { start(values, "sum of float"); }
    void startSum(Span<double> values) override { start(values, "sum of double"); }

    void finishSums() override
    {
        const ThreadRank::Timer timer(self_);
        self_.check();
        for (const auto& finish : std::exchange(sums_, {}))
        {
            finish();
        }
    }

    void broadcast(Bytes& bytes) const override
    {
        const ThreadRank::Timer timer(self_);
        const auto operation = self_.give("broadcast", isMaster() ? bytes : Bytes());
        self_.wait(*operation);
        bytes = operation->given[0][0];
    }

    std::vector<Bytes> gather(const Bytes& bytes) const override
    {
        const ThreadRank::Timer timer(self_);
        const auto operation = self_.give("gather", bytes);
        self_.wait(*operation);
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
        const ThreadRank::Timer timer(self_);
        if (outgoing.size() != self_.ranks->size)
        {
            throw Error("messages for " + std::to_string(outgoing.size()) + " ranks of "
              + std::to_string(self_.ranks->size));
        }
        ++self_.traffic.sums;
        for (std::size_t to = 0; to < outgoing.size(); ++to)
        {
            self_.traffic.summedBytes += to == self_.number ? 0 : outgoing[to].size();
        }

        const auto operation = self_.ranks->give(self_.number, "swap", outgoing);
        self_.wait(*operation);
        std::vector<Bytes> incoming;
        for (const auto& given : operation->given)
        {
            incoming.push_back(given[self_.number]);
        }
        return incoming;
    }

    std::unique_ptr<Exchange> exchange(const std::vector<Neighbour>& neighbours) override
    {
        return std::make_unique<ThreadMessages>(self_, neighbours);
    }

    void progress() override
    {
        const ThreadRank::Timer timer(self_);
        if (thread_ == std::thread::id())
        {
            thread_ = std::this_thread::get_id();
        }
        if (std::this_thread::get_id() != thread_)
        {
            throw Error("another thread than that of the rank helps its messages along");
        }
        self_.check();
    }

    void leave(const std::string& reason) noexcept override
    {
        self_.ranks->leave(self_.number, reason);
    }

    Traffic traffic() const override { return self_.traffic; }

    std::shared_ptr<Comm> forThread() override
    {
        auto comm = std::make_shared<ThreadComm>(self_.ranks->further(self_.number), rank());
        comm->thread_ = {};     // the one that first helps its messages along
        return comm;
    }

    void interrupt() noexcept override { self_.ranks->interrupt(self_.number); }

private:

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

    template<class T>
    void start(Span<T> values, const std::string& kind)
    {
        const ThreadRank::Timer timer(self_);
        const auto operation = self_.give(kind, bytesOf(values));
        ThreadRank::poison(values.data(), values.size()*sizeof(T));
        sums_.push_back([this, operation, values]
        {
            self_.wait(*operation);
            self_.checkPoison(values.data(), values.size()*sizeof(T));
            fold(*operation, values, std::plus<T>());
        });
    }

    Traffic ownTraffic_;
    ThreadRank self_;
    std::thread::id thread_ = std::this_thread::get_id();

    //- Ends of the sums on their way
    std::vector<std::function<void()>> sums_;
};


//- Calls body on n threads, each with the Comm of its rank. A rank that throws leaves. The first
//  exception in the order of the ranks is thrown again when all have ended, or else a fault that
//  was noticed where nothing can be thrown.
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
    if (!ranks->family->fault.empty())
    {
        throw Error(ranks->family->fault);
    }
}


//- The same Comm for those who want to share it, e.g. with a trainer. It must outlive them.
inline std::shared_ptr<Comm> borrowed(Comm& comm)
{
    return {std::shared_ptr<void>(), &comm};
}

}
