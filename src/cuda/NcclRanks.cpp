// SPDX-License-Identifier: GPL-3.0-or-later
#include "NcclRanks.hpp"

#include "Runtime.hpp"
#include "waitFor.hpp"
#include "base/Error.hpp"
#include "base/agree.hpp"
#include "base/ownThread.hpp"

#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <c10/cuda/CUDAGuard.h>
#include <nccl.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <thread>

namespace inSitu
{
namespace device
{

struct NcclRanks::Nccl
{
    ncclComm_t comm = nullptr;
    std::thread ending;
};


namespace
{

constexpr long longestMessage = 16 << 20;       //!< bytes, of those that connect ranks

constexpr char remedy[] =
    ".\n    Remedy: NCCL_DEBUG=INFO in the environment tells more; device cpu, or"
    " trainerRanks 1 for one GPU, does without it";


void require(ncclResult_t result, const char* call, ncclComm_t comm = nullptr)
{
    if (result != ncclSuccess)
    {
        const char* last = ncclGetLastError(comm);
        throw Error(std::string(call) + " of NCCL, which joins the GPUs of the ranks, has failed: "
            + ncclGetErrorString(result) + (last && *last ? ", " + std::string(last) : "")
            + remedy);
    }
}


template<class T> constexpr ncclDataType_t typeOf();
template<> constexpr ncclDataType_t typeOf<float>() { return ncclFloat32; }
template<> constexpr ncclDataType_t typeOf<double>() { return ncclFloat64; }


//- Messages that go together. NCCL must not be left waiting for their end.
class Group
{
public:

    Group() { require(ncclGroupStart(), "ncclGroupStart"); }

    ~Group()
    {
        if (open_)
        {
            ncclGroupEnd();
        }
    }

    void end(ncclComm_t comm)
    {
        open_ = false;
        require(ncclGroupEnd(), "ncclGroupEnd", comm);
    }

private:

    bool open_ = true;
};

}


NcclRanks::NcclRanks(int index, std::shared_ptr<Comm> comm)
:
    device_(at::kCUDA, static_cast<c10::DeviceIndex>(index)),
    comm_(std::move(comm)),
    nccl_(std::make_unique<Nccl>())
{
    // For an exchange that is recorded it would wait on the host for the other ranks, to gain nothing
    // with LibTorch's memory
    setenv("NCCL_GRAPH_REGISTER", "0", 0);

    const c10::cuda::CUDAGuard guard(device_);
    Comm::Bytes name(sizeof(ncclUniqueId));
    at::Tensor memory;
    together(*comm_, [&]
    {
        // Whoever found out later that there is none would let the others wait
        memory = at::zeros({longestMessage}, at::dtype(at::kByte).device(device_));
        ncclUniqueId id;
        if (comm_->isMaster())
        {
            require(ncclGetUniqueId(&id), "ncclGetUniqueId");
            std::memcpy(name.data(), &id, sizeof(id));
        }
    });
    comm_->broadcast(name);
    try
    {
        join([&]
        {
            ncclUniqueId id;
            std::memcpy(&id, name.data(), sizeof(id));
            require(ncclCommInitRank(&nccl_->comm, comm_->size(), id, comm_->rank()),
                "ncclCommInitRank");
        });
        join([&] { connect(memory); });
    }
    catch (...)
    {
        end();
        throw;
    }
}


//- What the ranks do at a time, waiting for each other: one that fails ends its side first, and then
//  they say how it went
void NcclRanks::join(const std::function<void()>& action)
{
    together(*comm_, [&]
    {
        try
        {
            action();
        }
        catch (...)
        {
            end();
            throw;
        }
    });
}


//- NCCL connects two ranks at their first message, and waits on the host for that. Here all are
//  alive; later one may have failed, and the others would wait for ever.
void NcclRanks::connect(const at::Tensor& memory)
{
    auto* bytes = static_cast<std::uint8_t*>(memory.mutable_data_ptr());
    std::vector<Message> messages;
    for (int rank = 0; rank < comm_->size(); ++rank)
    {
        if (rank != comm_->rank())
        {
            messages.push_back({rank, bytes, 1, bytes + longestMessage/2 + rank, 1});
        }
    }
    connectingSince_ = Clock::now();
    for (const long size : {64L, longestMessage/16, longestMessage})
    {
        sum(Span<double>(reinterpret_cast<double*>(bytes), size/8));
    }
    exchange(messages);
    connectingSince_.reset();
}


NcclRanks::~NcclRanks()
{
    try
    {
        // Another rank may still read what this one has sent, in memory that goes now. A rank on
        // its way out of a failure has not said so yet: the others would wait, and this one too.
        double here = 0;
        if (nccl_->comm && std::uncaught_exceptions() == 0)
        {
            comm_->sum(Span<double>(&here, 1));
        }
    }
    catch (const std::exception&)
    {
        // It has left and reads no more
    }
    end();
}


//- What waits on the GPU ends soon, but ncclCommAbort() itself not before all recordings are gone,
//  which may be the caller's: it gets a thread
void NcclRanks::abort() noexcept
{
    try
    {
        if (nccl_->comm)
        {
            nccl_->ending = startOwnThread([comm = nccl_->comm] { ncclCommAbort(comm); });
            nccl_->comm = nullptr;
        }
    }
    catch (const std::exception&)
    {
        // There is no thread to be had: end() does it
    }
}


//- No recording is left
void NcclRanks::end() noexcept
{
    if (nccl_->ending.joinable())
    {
        nccl_->ending.join();
    }
    if (nccl_->comm)
    {
        // Not ncclCommDestroy(), which waits for the other ranks: one of them may be no more
        ncclCommAbort(nccl_->comm);
        nccl_->comm = nullptr;
    }
}


//- Until what the stream holds is done, unless it is recorded
void NcclRanks::finish()
{
    if (c10::cuda::currentStreamCaptureStatusMayInitCtx() == c10::cuda::CaptureStatus::None)
    {
        at::cuda::CUDAEvent event;
        event.record();
        waitFor(event, [this] { check(); });
    }
}


template<class T>
void NcclRanks::sumOver(Span<T> values)
{
    const auto stream = static_cast<cudaStream_t>(currentStream(device_));
    require(ncclAllReduce(values.data(), values.data(), values.size(), typeOf<T>(), ncclSum,
        nccl_->comm, stream), "ncclAllReduce", nccl_->comm);
    finish();
}


void NcclRanks::sum(Span<float> values)
{
    sumOver(values);
}


void NcclRanks::sum(Span<double> values)
{
    sumOver(values);
}


void NcclRanks::exchange(const std::vector<Message>& messages)
{
    const auto stream = static_cast<cudaStream_t>(currentStream(device_));
    Group group;
    for (const Message& message : messages)
    {
        if (message.bytesToSend > 0)
        {
            require(ncclSend(message.toSend, message.bytesToSend, ncclUint8, message.rank,
                nccl_->comm, stream), "ncclSend", nccl_->comm);
        }
        if (message.bytesToReceive > 0)
        {
            require(ncclRecv(message.received, message.bytesToReceive, ncclUint8, message.rank,
                nccl_->comm, stream), "ncclRecv", nccl_->comm);
        }
    }
    group.end(nccl_->comm);
    finish();
}


void NcclRanks::check()
{
    constexpr std::chrono::seconds longest(60);
    try
    {
        comm_->progress();
        ncclResult_t state = ncclSuccess;
        require(nccl_->comm ? ncclCommGetAsyncError(nccl_->comm, &state) : ncclInvalidUsage,
            "ncclCommGetAsyncError", nccl_->comm);
        require(state, "An exchange", nccl_->comm);
        if (connectingSince_ && Clock::now() - *connectingSince_ > longest)
        {
            throw Error("the GPUs of the ranks have not reached each other within "
                + std::to_string(longest.count()) + " s" + remedy);
        }
    }
    catch (...)
    {
        abort();
        throw;
    }
}

}
}
