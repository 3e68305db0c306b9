// SPDX-License-Identifier: GPL-3.0-or-later
#include "CudaQueue.hpp"
#include "DevicePass.hpp"
#ifdef INSITU_HAS_NCCL
#include "NcclRanks.hpp"
#endif
#include "base/Error.hpp"
#include "base/agree.hpp"
#include "model/DeviceLibrary.hpp"
#include "scaleRows.hpp"

#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>

namespace inSitu
{
namespace
{

class CudaLibrary final : public DeviceLibrary
{
public:

    int nDevices() const override { return c10::cuda::device_count(); }

    std::string nameOf(int index) const override
    {
        return at::cuda::getDeviceProperties(static_cast<c10::DeviceIndex>(index))->name;
    }

    at::Device device(int index) const override
    {
        requireGpu(index);
        return {at::kCUDA, static_cast<c10::DeviceIndex>(index)};
    }

    std::string identityOf(int index) const override
    {
        requireGpu(index);
        cudaDeviceProp properties;
        C10_CUDA_CHECK(cudaGetDeviceProperties(&properties, index));
        std::string text;
        for (const char byte : properties.uuid.bytes)
        {
            constexpr char digits[] = "0123456789abcdef";
            const auto value = static_cast<unsigned char>(byte);
            text += digits[value/16];
            text += digits[value % 16];
        }
        return text;
    }

    std::shared_ptr<DeviceRanks> joinRanks(int index, std::shared_ptr<Comm> comm) override
    {
        requireGpu(index);
#ifdef INSITU_HAS_NCCL
        return std::make_shared<device::NcclRanks>(index, std::move(comm));
#else
        throw AgreedError("this build is without NCCL, which joins the GPUs of "
            + std::to_string(comm->size()) + " ranks.\n    Remedy: choose trainerRanks 1, or run"
            " Allwmake with PyPI's torch, which brings it");
#endif
    }

    std::shared_ptr<DeviceQueue> makeQueue(int index,
        const std::shared_ptr<DeviceRanks>& ranks) override
    {
        requireGpu(index);
        std::function<void()> check;
#ifdef INSITU_HAS_NCCL
        if (ranks)
        {
            check = [joined = std::dynamic_pointer_cast<device::NcclRanks>(ranks)]
                { joined->check(); };
        }
#else
        static_cast<void>(ranks);
#endif
        return std::make_shared<device::CudaQueue>(index, std::move(check));
    }

    std::int64_t memoryStamp() const override { return device::memoryStamp(); }

    Memory memoryOf(int index) const override
    {
        const c10::cuda::CUDAGuard guard(static_cast<c10::DeviceIndex>(index));
        Memory memory;
        C10_CUDA_CHECK(cudaMemGetInfo(&memory.free, &memory.total));
        const auto stats =
            c10::cuda::CUDACachingAllocator::getDeviceStats(static_cast<c10::DeviceIndex>(index));
        memory.free += static_cast<std::size_t>(
            stats.reserved_bytes[0].current - stats.allocated_bytes[0].current);
        return memory;
    }

    void scaleRows(const RowScaling& rows) override { device::scaleRows(rows); }

protected:

    std::shared_ptr<GraphPass<double>> doublePass(const MeshGraphNetSizes& sizes,
        const ParameterSet& parameters, const DeviceChoice& choice) override
    {
        if (choice.storage != Storage::float64)
        {
            throw Error("a model in float64 is stored in float64 on a GPU; make it in float32 for"
                " a shorter type");
        }
        return make<double>(sizes, parameters, choice);
    }

    std::shared_ptr<GraphPass<float>> floatPass(const MeshGraphNetSizes& sizes,
        const ParameterSet& parameters, const DeviceChoice& choice) override
    {
        switch (choice.storage)
        {
            case Storage::bfloat16:
                return make<device::BFloat16>(sizes, parameters, choice);
            case Storage::float16:
                return make<device::Float16>(sizes, parameters, choice);
            case Storage::float32:
                return make<float>(sizes, parameters, choice);
            case Storage::float64: break;
        }
        throw Error("a model in float32 is not stored in float64 on a GPU; make it in float64");
    }

private:

    template<class T>
    std::shared_ptr<device::DevicePass<T>> make(const MeshGraphNetSizes& sizes,
        const ParameterSet& parameters, const DeviceChoice& choice) const
    {
        return std::make_shared<device::DevicePass<T>>(sizes, parameters, device(choice.index),
            choice);
    }

    void requireGpu(int index) const
    {
        if (index < 0 || index >= nDevices())
        {
            throw Error("there is no GPU number " + std::to_string(index) + ": "
                + std::to_string(nDevices()) + " can be seen");
        }
    }
};

}
}


extern "C" inSitu::DeviceLibrary* inSituDeviceLibrary()
{
    return new inSitu::CudaLibrary();
}
