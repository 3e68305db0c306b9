// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"
#include "base/Error.hpp"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
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
        ended(static_cast<std::size_t>(n), false),
        interrupted(static_cast<std::size_t>(n), false)
    {}

    std::mutex mutex;
    std::condition_variable changed;
    std::vector<bool> ended;
    std::vector<bool> interrupted;
    std::optional<std::string> left;
    std::size_t leaver = 0;

    //- Noticed where nothing can be thrown: onRanks does
    std::string fault;
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
        nCalls(size, 0),
        nFurther(size, 0)
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
        nCalls(size, 0),
        nFurther(size, 0)
    {
        for (const std::size_t rank : ranks)
        {
            numbers.push_back(whole.numbers[rank]);
        }
    }

    //- The same once more for other threads, which leave by themselves
    explicit ThreadRanks(const ThreadRanks* host)
    :
        size(host->size),
        family(std::make_shared<ThreadFamily>(static_cast<int>(host->family->ended.size()))),
        mutex(family->mutex),
        changed(family->changed),
        numbers(host->numbers),
        nCalls(size, 0),
        nFurther(size, 0)
    {}

    //- Throws if a rank has left, or this one has been interrupted
    void check(std::size_t rank) const
    {
        if (family->interrupted[numbers[rank]])
        {
            throw Error("interrupted");
        }
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
            return met() || family->left || family->interrupted[numbers[rank]] || hopeless();
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

    void interrupt(std::size_t rank)
    {
        const std::lock_guard<std::mutex> lock(mutex);
        family->interrupted[numbers[rank]] = true;
        changed.notify_all();
    }

    //- For what notices a fault where it cannot throw
    void fail(std::size_t rank, const std::string& fault)
    {
        {
            const std::lock_guard<std::mutex> lock(mutex);
            if (family->left)
            {
                return;
            }
            family->fault = fault;
        }
        leave(rank, fault);
    }

    void end(std::size_t rank)
    {
        const std::lock_guard<std::mutex> lock(mutex);
        family->ended[numbers[rank]] = true;
        changed.notify_all();
    }

    bool hasEnded(std::size_t rank) const { return family->ended[numbers[rank]]; }

    //- The same ranks once more, for other threads
    std::shared_ptr<ThreadRanks> further(std::size_t rank)
    {
        const std::lock_guard<std::mutex> lock(mutex);
        const std::size_t number = nFurther.at(rank)++;
        while (furthers.size() <= number)
        {
            furthers.push_back(std::make_shared<ThreadRanks>(this));
        }
        return furthers[number];
    }

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

    std::vector<std::shared_ptr<ThreadRanks>> furthers;             //!< for other threads
    std::vector<std::size_t> nFurther;                              //!< of them, by each rank
};

}
