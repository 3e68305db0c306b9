// SPDX-License-Identifier: GPL-3.0-or-later
#include "NcclRanks.hpp"

#include "Runtime.hpp"
#include "waitFor.hpp"
#include "base/Error.hpp"
#include "base/agree.hpp"

#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <c10/cuda/CUDAGuard.h>
#include <nccl.h>

#include <cstring>
#include <exception>

namespace inSitu
{
namespace device
{

struct NcclRanks::Nccl
{
    ncclComm_t comm = nullptr;
};


namespace
{

constexpr long longestMessage = 16 << 20;       //!< bytes, of those that connect ranks


void require(ncclResult_t result, const char* call, ncclComm_t comm = nullptr)
{
    if (result != ncclSuccess)
    {
        const char* last = ncclGetLastError(comm);
        throw Error(std::string(call) + " of NCCL, which joins the GPUs of the ranks, has failed: "
            + ncclGetErrorString(result) + (last && *last ? ", " + std::string(last) : "")
            + ".\n    Remedy: NCCL_DEBUG=INFO in the environment tells more; device cpu, or"
            " trainerRanks 1 for one GPU, does without it");
    }
}


template<class T> constexpr ncclDataType_t typeOf();
template<> constexpr ncclDataType_t typeOf<float>() { return ncclFloat32; }
template<> constexpr ncclDataType_t typeOf<double>() { return ncclFloat64; }

}


NcclRanks::NcclRanks(int index, std::shared_ptr<Comm> comm)
:
    device_(at::kCUDA, static_cast<c10::DeviceIndex>(index)),
    comm_(std::move(comm)),
    nccl_(std::make_unique<Nccl>())
{
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
        together(*comm_, [&]
        {
            ncclUniqueId id;
            std::memcpy(&id, name.data(), sizeof(id));
            require(ncclCommInitRank(&nccl_->comm, comm_->size(), id, comm_->rank()),
                "ncclCommInitRank");
        });
        together(*comm_, [&] { connect(memory); });
    }
    catch (...)
    {
        end();
        throw;
    }
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
    try
    {
        for (const long size : {64L, longestMessage/16, longestMessage})
        {
            sum(Span<double>(reinterpret_cast<double*>(bytes), size/8));
        }
        exchange(messages);
    }
    catch (...)
    {
        // NCCL tells those who wait for this one, and all come to say how it went
        end();
        throw;
    }
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


void NcclRanks::end() noexcept
{
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
    require(ncclGroupStart(), "ncclGroupStart");
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
    require(ncclGroupEnd(), "ncclGroupEnd", nccl_->comm);
    finish();
}


void NcclRanks::check()
{
    try
    {
        ncclResult_t state = ncclSuccess;
        require(nccl_->comm ? ncclCommGetAsyncError(nccl_->comm, &state) : ncclInvalidUsage,
            "ncclCommGetAsyncError", nccl_->comm);
        require(state, "An exchange", nccl_->comm);
        comm_->progress();
    }
    catch (...)
    {
        end();
        throw;
    }
}

}
}
