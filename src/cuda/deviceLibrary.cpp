// SPDX-License-Identifier: GPL-3.0-or-later
#include "CudaQueue.hpp"
#include "DevicePass.hpp"
#include "base/Error.hpp"
#include "model/DeviceLibrary.hpp"

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

    std::shared_ptr<DeviceQueue> makeQueue(int index) override
    {
        requireGpu(index);
        return std::make_shared<device::CudaQueue>(index);
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
