// SPDX-License-Identifier: GPL-3.0-or-later
#include "NcclRanks.hpp"

#include "Runtime.hpp"
#include "base/Error.hpp"
#include "base/agree.hpp"

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


template<class T>
void sumOver(Span<T> values, ncclComm_t comm, const at::Device& device)
{
    const auto stream = static_cast<cudaStream_t>(currentStream(device));
    require(ncclAllReduce(values.data(), values.data(), values.size(), typeOf<T>(), ncclSum, comm,
        stream), "ncclAllReduce", comm);
}

}


NcclRanks::NcclRanks(int index, std::shared_ptr<Comm> comm)
:
    device_(at::kCUDA, static_cast<c10::DeviceIndex>(index)),
    comm_(std::move(comm)),
    nccl_(std::make_unique<Nccl>())
{
    const c10::cuda::CUDAGuard guard(device_);
    Comm::Bytes name(sizeof(ncclUniqueId));
    together(*comm_, [&]
    {
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
        together(*comm_, [&] { connect(); });
    }
    catch (...)
    {
        end();
        throw;
    }
}


//- NCCL connects two ranks at their first message, and waits on the host for that. Here all are
//  alive; later one may have failed, and the others would wait for ever.
void NcclRanks::connect()
{
    constexpr long longest = 16 << 20;
    const at::Tensor memory = at::zeros({longest}, at::dtype(at::kByte).device(device_));
    auto* bytes = static_cast<std::uint8_t*>(memory.mutable_data_ptr());
    for (const long size : {64L, longest/16, longest})
    {
        sum(Span<double>(reinterpret_cast<double*>(bytes), size/8));
    }
    std::vector<Message> messages;
    for (int rank = 0; rank < comm_->size(); ++rank)
    {
        if (rank != comm_->rank())
        {
            messages.push_back({rank, bytes, 1, bytes + longest/2 + rank, 1});
        }
    }
    exchange(messages);
    C10_CUDA_CHECK(cudaStreamSynchronize(static_cast<cudaStream_t>(currentStream(device_))));
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


void NcclRanks::sum(Span<float> values)
{
    sumOver(values, nccl_->comm, device_);
}


void NcclRanks::sum(Span<double> values)
{
    sumOver(values, nccl_->comm, device_);
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
