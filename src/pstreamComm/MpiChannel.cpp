// SPDX-License-Identifier: GPL-3.0-or-later
#include "MpiChannel.hpp"

#include "base/Error.hpp"
#include "mpiCheck.hpp"

#include <algorithm>
#include <numeric>

namespace inSitu
{

namespace
{

//- With its errors returned, not fatal
MPI_Comm duplicate(MPI_Comm parent)
{
    MPI_Comm comm = MPI_COMM_NULL;
    mpiCheck(MPI_Comm_dup(parent, &comm), "MPI_Comm_dup");
    mpiCheck(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    return comm;
}


std::vector<int> numbersOf(MPI_Comm comm)
{
    if (!mpiRuns())
    {
        throw Error("MPI does not run in this process: a communicator of its ranks is needed");
    }
    int size = 0;
    mpiCheck(MPI_Comm_size(comm, &size), "MPI_Comm_size");
    std::vector<int> numbers(size);
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
}


//- No longer than maxLength, cut between characters of UTF-8
std::string shortened(std::string text, std::size_t maxLength)
{
    if (text.size() > maxLength)
    {
        std::size_t length = maxLength;
        while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xc0) == 0x80)
        {
            --length;
        }
        text.resize(length);
    }
    return text;
}

}


MpiNotices::MpiNotices(MPI_Comm parent, std::vector<int> numbers)
:
    numbers_(std::move(numbers))
{
    int level = MPI_THREAD_SINGLE;
    mpiCheck(MPI_Query_thread(&level), "MPI_Query_thread");
    anyThread_ = level == MPI_THREAD_MULTIPLE;

    comm_ = duplicate(parent);
    notice_.resize(maxNotice);
    mpiCheck(MPI_Irecv(&notice_[0], maxNotice, MPI_CHAR, MPI_ANY_SOURCE, 0, comm_,
        &noticeRequest_), "MPI_Irecv");
}


MpiNotices::~MpiNotices()
{
    if (mpiRuns())
    {
        MPI_Cancel(&noticeRequest_);
        MPI_Wait(&noticeRequest_, MPI_STATUS_IGNORE);
        MPI_Comm_free(&comm_);
    }
}


void MpiNotices::hear()
{
    if (interrupted_)
    {
        sound_ = false;
        throw Error("the work of this thread with other ranks was interrupted");
    }
    if (left_.empty())
    {
        int arrived = 0;
        MPI_Status status;
        mpiCheck(MPI_Test(&noticeRequest_, &arrived, &status), "MPI_Test");
        if (!arrived)
        {
            return;
        }
        int length = 0;
        mpiCheck(MPI_Get_count(&status, MPI_CHAR, &length), "MPI_Get_count");
        notice_.resize(length);
        left_ = "rank " + std::to_string(numberOf(status.MPI_SOURCE)) + ": " + notice_;
        sound_ = false;
    }
    throw Error(left_);
}


void MpiNotices::checkThread() const
{
    if (!anyThread_ && std::this_thread::get_id() != thread_)
    {
        throw Error("MPI was called in another thread than the one that it runs in: this MPI is "
            "not started for several threads (MPI_THREAD_MULTIPLE)");
    }
}


MpiChannel::MpiChannel(MPI_Comm parent)
:
    traffic(ownTraffic_),
    notices_(std::make_shared<MpiNotices>(parent, numbersOf(parent))),
    work_(duplicate(parent)),
    waiting_(Comm::Waiting::busy)
{
    setUp();
    numbers_ = numbersOf(work_);
}


MpiChannel::MpiChannel(const MpiChannel& host, ForThread)
:
    traffic(ownTraffic_),
    notices_(std::make_shared<MpiNotices>(host.work_, host.numbers_)),
    work_(duplicate(host.work_)),
    waiting_(host.waiting_)
{
    setUp();
    numbers_ = host.numbers_;
}


MpiChannel::MpiChannel(const MpiChannel& whole, MPI_Comm comm, Comm::Waiting waiting)
:
    traffic(whole.traffic),
    notices_(whole.notices_),
    work_(comm),
    waiting_(waiting)
{
    mpiCheck(MPI_Comm_set_errhandler(work_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    setUp();

    std::vector<int> here(size_), there(size_);
    std::iota(here.begin(), here.end(), 0);
    MPI_Group part = MPI_GROUP_NULL;
    MPI_Group all = MPI_GROUP_NULL;
    mpiCheck(MPI_Comm_group(work_, &part), "MPI_Comm_group");
    mpiCheck(MPI_Comm_group(whole.work_, &all), "MPI_Comm_group");
    mpiCheck(MPI_Group_translate_ranks(part, size_, here.data(), all, there.data()),
        "MPI_Group_translate_ranks");
    MPI_Group_free(&part);
    MPI_Group_free(&all);
    for (const int rank : there)
    {
        numbers_.push_back(whole.numberOf(rank));
    }
}


void MpiChannel::setUp()
{
    mpiCheck(MPI_Comm_rank(work_, &rank_), "MPI_Comm_rank");
    mpiCheck(MPI_Comm_size(work_, &size_), "MPI_Comm_size");
    nSendingTo_.assign(size_, 0);
    nReceivingFrom_.assign(size_, 0);

    // Ranks keep their order
    MPI_Comm node = MPI_COMM_NULL;
    mpiCheck(MPI_Comm_split_type(work_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node),
        "MPI_Comm_split_type");
    mpiCheck(MPI_Comm_size(node, &nodeSize_), "MPI_Comm_size");
    node_ = rank_;
    mpiCheck(MPI_Bcast(&node_, 1, MPI_INT, 0, node), "MPI_Bcast");
    mpiCheck(MPI_Comm_free(&node), "MPI_Comm_free");

    int* bound = nullptr;
    int known = 0;
    mpiCheck(MPI_Comm_get_attr(work_, MPI_TAG_UB, &bound, &known), "MPI_Comm_get_attr");
    lastTag_ = known ? *bound : 32767;      // what the standard promises
}


MpiChannel::~MpiChannel()
{
    if (mpiRuns())
    {
        MPI_Comm_free(&work_);
    }
}


void MpiChannel::check()
{
    notices_->checkThread();
    notices_->hear();
}


const std::vector<MPI_Status>& MpiChannel::wait
(
    std::vector<MPI_Request>& requests,
    const char* call
)
{
    constexpr int pollsBeforeYield = 1000;
    constexpr std::chrono::microseconds nap(100);

    statuses_.resize(requests.size());
    for (int poll = 0; ; ++poll)
    {
        int done = 0;
        int code = MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done,
            statuses_.data());
        if (code == MPI_ERR_IN_STATUS)
        {
            const auto failed = std::find_if(statuses_.begin(), statuses_.end(),
                [](const MPI_Status& status)
                {
                    return status.MPI_ERROR != MPI_SUCCESS && status.MPI_ERROR != MPI_ERR_PENDING;
                });
            code = failed != statuses_.end() ? failed->MPI_ERROR : code;
        }
        if (code != MPI_SUCCESS)
        {
            notices_->spoil();
            mpiCheck(code, call);
        }
        if (done)
        {
            return statuses_;
        }

        notices_->hear();

        // The core may be needed by the rank that is waited for
        if (poll >= pollsBeforeYield && waiting_ == Comm::Waiting::patient)
        {
            std::this_thread::sleep_for(nap);
        }
        else if (poll >= pollsBeforeYield)
        {
            std::this_thread::yield();
        }
    }
}


void MpiNotices::leave(const std::string& reason) noexcept
{
    // Who has heard of another that left has nothing to tell
    if (!left_.empty() || !mpiRuns() || (!anyThread_ && std::this_thread::get_id() != thread_))
    {
        return;
    }
    sound_ = false;

    try
    {
        int rank = 0;
        int size = 0;
        MPI_Comm_rank(comm_, &rank);
        MPI_Comm_size(comm_, &size);
        left_ = "rank " + std::to_string(numberOf(rank)) + " has left: " + reason;
        farewell_ = shortened(reason, maxNotice);
        farewellRequests_.reserve(size);
        for (int other = 0; other < size; ++other)
        {
            MPI_Request request = MPI_REQUEST_NULL;
            if
            (
                other != rank
             && MPI_Isend(farewell_.data(), static_cast<int>(farewell_.size()), MPI_CHAR, other, 0,
                    comm_, &request) == MPI_SUCCESS
            )
            {
                farewellRequests_.push_back(request);
            }
        }

        // So short a message needs nobody's answer, but perhaps a connection first
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
        int done = 0;
        while (!done && std::chrono::steady_clock::now() < end)
        {
            if (MPI_Testall(static_cast<int>(farewellRequests_.size()), farewellRequests_.data(),
                &done, MPI_STATUSES_IGNORE) != MPI_SUCCESS)
            {
                return;
            }
        }
    }
    catch (...)
    {
        // Without memory nobody can be told; the end of this process is noticed all the same
    }
}

}
