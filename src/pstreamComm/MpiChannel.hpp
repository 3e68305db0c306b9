// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"

#include <mpi.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace inSitu
{

//- A communicator on which a rank tells all others that it has left. Shared by all channels between
//  parts of these ranks.
class MpiNotices
{
public:

    //- Of a duplicate; numbers: what messages call its ranks. Collective.
    MpiNotices(MPI_Comm parent, std::vector<int> numbers);

    //- Collective, only if sound(). Does nothing when MPI has ended.
    ~MpiNotices();

    MpiNotices(const MpiNotices&) = delete;
    MpiNotices& operator=(const MpiNotices&) = delete;

    MPI_Comm comm() const { return comm_; }

    int numberOf(int rank) const { return numbers_.at(rank); }

    //- Several threads may call MPI at a time
    bool anyThread() const { return anyThread_; }

    //- Throws Error if this thread may not call MPI
    void checkThread() const;

    //- Throws Error if a rank has left, or the work of this one was interrupted. Tests a request,
    //  which lets MPI work on all that travel.
    void hear();

    //- Comm::interrupt
    void interrupt() noexcept { interrupted_ = true; }

    //- Comm::leave
    void leave(const std::string& reason) noexcept;

    //- No rank is known to have left, and no wait has failed
    bool sound() const { return sound_; }
    void spoil() { sound_ = false; }

private:

    static constexpr int maxNotice = 2000;

    MPI_Comm comm_ = MPI_COMM_NULL;
    const std::vector<int> numbers_;
    const std::thread::id thread_ = std::this_thread::get_id();
    bool anyThread_ = false;
    std::atomic<bool> interrupted_{false};

    bool sound_ = true;
    std::string left_;                          //!< who has left and why
    std::string notice_;                        //!< from another rank
    MPI_Request noticeRequest_ = MPI_REQUEST_NULL;
    std::string farewell_;                      //!< to the others
    std::vector<MPI_Request> farewellRequests_;
};


//- A communicator of its own for ranks that work together. Every wait looks out for the notice that
//  a rank has left, so none lasts for ever.
class MpiChannel
{
public:

    //- Of a duplicate. Collective. Throws Error if MPI does not run.
    explicit MpiChannel(MPI_Comm parent);

    //- comm: of some of the ranks of whole, which outlives this; belongs to the channel. Collective
    //  in it.
    MpiChannel(const MpiChannel& whole, MPI_Comm comm, Comm::Waiting waiting);

    struct ForThread {};

    //- The ranks of host once more, for another thread of each: nobody leaves these by leaving
    //  those, and what is sent is not in their traffic. Collective.
    MpiChannel(const MpiChannel& host, ForThread);

    //- Gives the communicator back, which is collective: only after all operations, and only if
    //  sound(). Does nothing when MPI has ended.
    ~MpiChannel();

    MpiChannel(const MpiChannel&) = delete;
    MpiChannel& operator=(const MpiChannel&) = delete;

    MPI_Comm comm() const { return work_; }
    int rank() const { return rank_; }
    int size() const { return size_; }
    int nodeSize() const { return nodeSize_; }
    int node() const { return node_; }
    int numberOf(int rank) const { return numbers_.at(rank); }

    //- Before every call. Throws Error if a rank has left or this thread may not call MPI. Lets MPI
    //  work on all that travel.
    void check();

    //- Until all requests are complete, whose statuses it returns. Throws Error if a rank has left
    //  or one has failed; the requests may then still be active.
    const std::vector<MPI_Status>& wait(std::vector<MPI_Request>& requests, const char* call);

    bool anyThread() const { return notices_->anyThread(); }

    //- Comm::interrupt
    void interrupt() noexcept { notices_->interrupt(); }

    //- Comm::leave
    void leave(const std::string& reason) noexcept { notices_->leave(reason); }

    bool sound() const { return notices_->sound(); }

    //- Tag for another exchange that sends to, or receives from, a rank. Both sides count alike.
    int nextSendTag(int rank) { return tag(nSendingTo_[rank]++); }
    int nextReceiveTag(int rank) { return tag(nReceivingFrom_[rank]++); }

    //- Of messages that belong to no exchange
    static constexpr int collectiveTag = 0;

    //- Of the ranks as a whole: all parts count here
    Traffic& traffic;

private:

    void setUp();
    int tag(int count) const { return 1 + count % (lastTag_ - 1); }

    std::shared_ptr<MpiNotices> notices_;
    MPI_Comm work_ = MPI_COMM_NULL;
    Traffic ownTraffic_;
    const Comm::Waiting waiting_;
    int rank_ = 0;
    int size_ = 0;
    int nodeSize_ = 0;
    int node_ = 0;
    int lastTag_ = 0;
    std::vector<int> numbers_;                  //!< of the ranks, in messages

    std::vector<MPI_Status> statuses_;
    std::vector<int> nSendingTo_;
    std::vector<int> nReceivingFrom_;
};


//- Counts the time of its life as spent in calls
class TrafficTimer
{
public:

    explicit TrafficTimer(Traffic& traffic)
    :
        traffic_(traffic)
    {}

    ~TrafficTimer()
    {
        const auto end = std::chrono::steady_clock::now();
        traffic_.seconds += std::chrono::duration<double>(end - begin_).count();
    }

private:

    Traffic& traffic_;
    const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};


//- Keep until the process ends what MPI may still read or write: it cannot take back what it has
//  begun when a rank has left
template<class T>
void abandon(std::unique_ptr<T> memory)
{
    static auto* kept = new std::vector<std::shared_ptr<T>>;
    kept->emplace_back(std::move(memory));
}

}
