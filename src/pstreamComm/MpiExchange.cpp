// SPDX-License-Identifier: GPL-3.0-or-later
#include "MpiExchange.hpp"

#include "base/Error.hpp"
#include "base/Text.hpp"
#include "base/alignedMemory.hpp"
#include "mpiCheck.hpp"

#include <climits>
#include <set>
#include <string>

namespace inSitu
{

//- What MPI works on
struct MpiExchange::Messages
{
    struct Release
    {
        void operator()(void* memory) const { giveMemory(memory); }
    };

    using Memory = std::unique_ptr<void, Release>;

    struct Incoming
    {
        int rank;
        int bytes;
    };

    std::vector<Memory> outgoing;
    std::vector<Memory> incoming;

    // Receives first, one for each entry of expected
    std::vector<MPI_Request> requests;
    std::vector<Incoming> expected;
};


MpiExchange::MpiExchange(MpiChannel& channel, const std::vector<Comm::Neighbour>& neighbours)
:
    channel_(channel),
    messages_(std::make_unique<Messages>())
{
    channel.check();

    std::set<int> seen;
    for (const Comm::Neighbour& neighbour : neighbours)
    {
        if (neighbour.rank < 0 || neighbour.rank >= channel.size())
        {
            throw Error("rank " + std::to_string(neighbour.rank) + " is no neighbour: there are "
              + std::to_string(channel.size()) + " ranks");
        }
        const std::string who = "rank " + std::to_string(channel.numberOf(neighbour.rank));
        if (!seen.insert(neighbour.rank).second)
        {
            throw Error(who + " is a neighbour twice");
        }
        for (const std::size_t bytes : {neighbour.bytesToSend, neighbour.bytesToReceive})
        {
            if (bytes > INT_MAX)
            {
                throw Error("a message of " + bytesText(bytes) + " between rank "
                  + std::to_string(channel.numberOf(channel.rank())) + " and " + who
                  + " is more than MPI counts; more ranks have smaller ones");
            }
        }
    }

    Messages& messages = *messages_;
    for (const Comm::Neighbour& neighbour : neighbours)
    {
        messages.incoming.emplace_back(takeMemory(neighbour.bytesToReceive));
        if (neighbour.bytesToReceive > 0)
        {
            const int bytes = static_cast<int>(neighbour.bytesToReceive);
            messages.expected.push_back({neighbour.rank, bytes});
            messages.requests.push_back(MPI_REQUEST_NULL);
            mpiCheck(MPI_Recv_init(messages.incoming.back().get(), bytes, MPI_BYTE,
                neighbour.rank, channel.nextReceiveTag(neighbour.rank), channel.comm(),
                &messages.requests.back()), "MPI_Recv_init");
        }
    }
    for (const Comm::Neighbour& neighbour : neighbours)
    {
        messages.outgoing.emplace_back(takeMemory(neighbour.bytesToSend));
        if (neighbour.bytesToSend > 0)
        {
            messages.requests.push_back(MPI_REQUEST_NULL);
            mpiCheck(MPI_Send_init(messages.outgoing.back().get(),
                static_cast<int>(neighbour.bytesToSend), MPI_BYTE, neighbour.rank,
                channel.nextSendTag(neighbour.rank), channel.comm(),
                &messages.requests.back()), "MPI_Send_init");
            ++perStart_.messages;
            perStart_.bytes += neighbour.bytesToSend;
        }
    }
}


MpiExchange::~MpiExchange()
{
    if (travelling_)
    {
        abandon(std::move(messages_));
    }
    else if (mpiRuns())
    {
        for (MPI_Request& request : messages_->requests)
        {
            MPI_Request_free(&request);
        }
    }
}


void* MpiExchange::toSend(std::size_t i)
{
    return messages_->outgoing.at(i).get();
}


const void* MpiExchange::received(std::size_t i) const
{
    return messages_->incoming.at(i).get();
}


void MpiExchange::start()
{
    const TrafficTimer timer(channel_.traffic);
    channel_.check();
    if (travelling_)
    {
        throw Error("an exchange was started twice");
    }
    travelling_ = true;
    if (!messages_->requests.empty())
    {
        mpiCheck(MPI_Startall(static_cast<int>(messages_->requests.size()),
            messages_->requests.data()), "MPI_Startall");
    }
    channel_.traffic.messages += perStart_.messages;
    channel_.traffic.bytes += perStart_.bytes;
}


void MpiExchange::finish()
{
    const TrafficTimer timer(channel_.traffic);
    channel_.check();
    if (!travelling_)
    {
        throw Error("an exchange was finished that was not started");
    }
    const std::vector<MPI_Status>& statuses = channel_.wait(messages_->requests, "an exchange");
    travelling_ = false;

    for (std::size_t i = 0; i < messages_->expected.size(); ++i)
    {
        int bytes = 0;
        mpiCheck(MPI_Get_count(&statuses[i], MPI_BYTE, &bytes), "MPI_Get_count");
        if (bytes != messages_->expected[i].bytes)
        {
            throw Error("a message of rank "
              + std::to_string(channel_.numberOf(messages_->expected[i].rank)) + " holds "
              + std::to_string(bytes) + " bytes, not "
              + std::to_string(messages_->expected[i].bytes));
        }
    }
}

}
