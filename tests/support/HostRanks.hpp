// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"
#include "model/DeviceRanks.hpp"

#include <cstring>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace inSitu
{

//- Ranks whose devices are the CPU: what is exchanged goes through a Comm, when the work is done
class HostRanks final : public DeviceRanks
{
public:

    explicit HostRanks(std::shared_ptr<Comm> comm)
    :
        comm_(std::move(comm))
    {}

    const std::shared_ptr<Comm>& comm() const { return comm_; }

    const Comm& hosts() const override { return *comm_; }
    void sum(Span<float> values) override { sumOf(values); }
    void sum(Span<double> values) override { sumOf(values); }

    void exchange(const std::vector<Message>& messages) override
    {
        // A Comm has one message to each neighbour
        std::map<int, std::vector<Message>> byRank;
        for (const Message& message : messages)
        {
            byRank[message.rank].push_back(message);
        }
        std::vector<Comm::Neighbour> neighbours;
        for (const auto& [rank, list] : byRank)
        {
            neighbours.push_back({rank, 0, 0});
            for (const Message& message : list)
            {
                neighbours.back().bytesToSend += message.bytesToSend;
                neighbours.back().bytesToReceive += message.bytesToReceive;
            }
        }
        const std::unique_ptr<Exchange> exchange = comm_->exchange(neighbours);
        std::size_t i = 0;
        for (const auto& entry : byRank)
        {
            auto* to = static_cast<char*>(exchange->toSend(i++));
            for (const Message& message : entry.second)
            {
                std::memcpy(to, message.toSend, message.bytesToSend);
                to += message.bytesToSend;
            }
        }
        exchange->start();
        exchange->finish();
        i = 0;
        for (const auto& entry : byRank)
        {
            const auto* from = static_cast<const char*>(exchange->received(i++));
            for (const Message& message : entry.second)
            {
                std::memcpy(message.received, from, message.bytesToReceive);
                from += message.bytesToReceive;
            }
        }
    }

private:

    template<class T>
    void sumOf(Span<T> values)
    {
        comm_->startSum(values);
        comm_->finishSums();
    }

    std::shared_ptr<Comm> comm_;
};

}
