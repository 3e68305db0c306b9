// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ThreadRanks.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <set>

namespace inSitu
{

//- One of the ranks that threads play: what it does with the others, which is counted
class ThreadRank
{
public:

    using Bytes = Comm::Bytes;

    //- Adds the time of its life to the traffic
    class Timer
    {
    public:

        explicit Timer(const ThreadRank& rank)
        :
            traffic_(rank.traffic)
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

    //- traffic outlives this
    ThreadRank(std::shared_ptr<ThreadRanks> theRanks, int rank, Traffic& theTraffic)
    :
        ranks(std::move(theRanks)),
        number(static_cast<std::size_t>(rank)),
        traffic(theTraffic),
        nSendingTo(ranks->size, 0),
        nReceivingFrom(ranks->size, 0)
    {}

    void check() const
    {
        const std::lock_guard<std::mutex> lock(ranks->mutex);
        ranks->check(number);
    }

    std::shared_ptr<ThreadRanks::Operation> give(const std::string& kind, const Bytes& bytes) const
    {
        const bool sized = kind != "broadcast" && kind != "gather" && !bytes.empty();
        ++traffic.sums;
        traffic.summedBytes += bytes.size();
        return ranks->give
        (
            number, sized ? kind + " in " + std::to_string(bytes.size()) + " bytes" : kind, {bytes}
        );
    }

    //- Until all ranks have given
    void wait(const ThreadRanks::Operation& operation) const { ranks->wait(number, operation); }

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
            throw Error("rank " + std::to_string(number)
              + " has written into memory that was handed over");
        }
    }

    const std::shared_ptr<ThreadRanks> ranks;
    const std::size_t number;
    Traffic& traffic;

    //- Exchanges that send to, and receive from, each rank so far
    std::vector<std::uint64_t> nSendingTo;
    std::vector<std::uint64_t> nReceivingFrom;
};


class ThreadMessages final : public Exchange
{
public:

    using Bytes = Comm::Bytes;

    //- self outlives this
    ThreadMessages(ThreadRank& self, const std::vector<Comm::Neighbour>& neighbours)
    :
        self_(self)
    {
        std::set<int> seen;
        for (const Comm::Neighbour& neighbour : neighbours)
        {
            if (neighbour.rank < 0 || neighbour.rank >= static_cast<int>(self.ranks->size))
            {
                throw Error("no rank " + std::to_string(neighbour.rank) + " to exchange with");
            }
            if (!seen.insert(neighbour.rank).second)
            {
                throw Error("rank " + std::to_string(neighbour.rank) + " is a neighbour twice");
            }

            const auto rank = static_cast<std::size_t>(neighbour.rank);
            Link link{rank, Bytes(neighbour.bytesToSend), Bytes(neighbour.bytesToReceive), 0, 0};
            link.sendTag = link.out.empty() ? 0 : self.nSendingTo[rank]++;
            link.receiveTag = link.in.empty() ? 0 : self.nReceivingFrom[rank]++;
            links_.push_back(std::move(link));
        }
    }

    void* toSend(std::size_t i) override { return links_.at(i).out.data(); }
    const void* received(std::size_t i) const override { return links_.at(i).in.data(); }

    void start() override
    {
        const ThreadRank::Timer timer(self_);
        if (travelling_)
        {
            throw Error("an exchange was started twice");
        }
        travelling_ = true;

        ThreadRanks& ranks = *self_.ranks;
        const std::lock_guard<std::mutex> lock(ranks.mutex);
        ranks.check(self_.number);
        for (Link& link : links_)
        {
            if (!link.out.empty())
            {
                ranks.mail[{self_.number, link.rank, link.sendTag}].push_back(link.out);
                ++self_.traffic.messages;
                self_.traffic.bytes += link.out.size();
            }
            ThreadRank::poison(link.out.data(), link.out.size());
            ThreadRank::poison(link.in.data(), link.in.size());
        }
        ranks.changed.notify_all();
    }

    void finish() override
    {
        const ThreadRank::Timer timer(self_);
        self_.check();
        if (!travelling_)
        {
            throw Error("an exchange was finished that was not started");
        }

        ThreadRanks& ranks = *self_.ranks;
        for (Link& link : links_)
        {
            self_.checkPoison(link.out.data(), link.out.size());
            if (link.in.empty())
            {
                continue;
            }

            const std::string what = "a message of rank " + std::to_string(link.rank);
            std::deque<Bytes>* box = nullptr;
            {
                const std::lock_guard<std::mutex> lock(ranks.mutex);
                box = &ranks.mail[{link.rank, self_.number, link.receiveTag}];
            }
            ranks.wait(self_.number, what, [&] { return !box->empty(); },
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

    ThreadRank& self_;
    std::vector<Link> links_;
    bool travelling_ = false;
};


//- Its bytes are those of the first one to come
class ThreadWindow final : public SharedWindow
{
public:

    using Bytes = Comm::Bytes;

    //- self outlives this
    ThreadWindow(const ThreadRank& self, std::size_t bytes)
    :
        self_(self),
        bytes_(bytes)
    {
        const auto operation = self.give("window of " + std::to_string(bytes), Bytes());
        self.wait(*operation);

        const std::lock_guard<std::mutex> lock(self.ranks->mutex);
        std::shared_ptr<Bytes>& memory = self.ranks->windows[operation->number];
        if (!memory)
        {
            memory = std::make_shared<Bytes>(bytes + 64);
            ThreadRank::poison(memory->data(), memory->size());
        }
        memory_ = memory;
    }

    //- Fails where the other ranks do something else than end it, too, unless this one is about to
    //  leave
    ~ThreadWindow() override
    {
        if (std::uncaught_exceptions() > nExceptions_)
        {
            return;
        }
        try
        {
            self_.wait(*self_.give("end of a window", Bytes()));
        }
        catch (const Error& fault)
        {
            self_.ranks->fail(self_.number, fault.what());
        }
    }

    void* data() override
    {
        const auto address = reinterpret_cast<std::uintptr_t>(memory_->data());
        return memory_->data() + (64 - address % 64) % 64;
    }

    std::size_t bytes() const override { return bytes_; }
    void meet() override { self_.wait(*self_.give("meeting", Bytes())); }

private:

    const ThreadRank& self_;
    const std::size_t bytes_;
    const int nExceptions_ = std::uncaught_exceptions();
    std::shared_ptr<Bytes> memory_;
};

}
