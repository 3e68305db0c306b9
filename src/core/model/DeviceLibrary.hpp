// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"
#include "model/DeviceQueue.hpp"
#include "model/DeviceRanks.hpp"
#include "model/GraphPass.hpp"
#include "model/MeshGraphNetSizes.hpp"
#include "model/RowScaling.hpp"

#include <c10/core/Device.h>

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>

namespace inSitu
{

//- Type in which states, activations and weights are stored on a GPU. Parameters and sums are
//  double for float64 and float otherwise. With float16 the loss has to be scaled up by the caller:
//  gradients below 6e-8 are zero there.
enum class Storage
{
    float64,
    float32,
    bfloat16,
    float16
};


//- A GPU and how a model computes there
struct DeviceChoice
{
    int index = 0;
    Storage storage = Storage::float32;
    bool tf32 = false;          //!< products of float32 may round their factors to TF32
    bool recompute = false;     //!< keep the states before each block only, compute the rest again
    bool tuned = false;         //!< time the candidates of each product: other bits in each process
    std::shared_ptr<DeviceRanks> ranks = {};    //!< that compute the model together; null: one
};


//- What libinSituCuda.so offers. A run on the CPU never opens it, nor LibTorch's part for CUDA.
class DeviceLibrary
{
public:

    virtual ~DeviceLibrary() = default;

    //- The library beside the core's, opened by the first call. Throws Error with the remedy if it
    //  was not built or cannot be opened.
    static std::shared_ptr<DeviceLibrary> open();

    virtual int nDevices() const = 0;
    virtual std::string nameOf(int index) const = 0;

    //- The same text for one GPU in all processes, and for no other one
    virtual std::string identityOf(int index) const = 0;

    //- Where tensors of a GPU are
    virtual at::Device device(int index) const = 0;

    //- Let the GPUs of these ranks, which are different ones, work together; index: of this rank.
    //  Collective. Throws AgreedError if they cannot.
    virtual std::shared_ptr<DeviceRanks> joinRanks(int index, std::shared_ptr<Comm> comm) = 0;

    //- With ranks, waitFor() throws Error if another rank has left
    virtual std::shared_ptr<DeviceQueue> makeQueue(int index,
        const std::shared_ptr<DeviceRanks>& ranks) = 0;

    //- Another number whenever a model has given back memory that a recording may use
    virtual std::int64_t memoryStamp() const = 0;

    struct Memory
    {
        std::size_t free = 0;
        std::size_t total = 0;
    };

    //- Of the GPU, all programs together; what LibTorch keeps for itself counts as free
    virtual Memory memoryOf(int index) const = 0;

    //- Within a queue. float or double, of the same bits as on the host.
    virtual void scaleRows(const RowScaling& rows) = 0;

    //- T double for Storage::float64, float for the others
    template<class T>
    std::shared_ptr<GraphPass<T>> meshGraphNet(const MeshGraphNetSizes& sizes,
        const ParameterSet& parameters, const DeviceChoice& choice)
    {
        if constexpr (std::is_same_v<T, double>)
        {
            return doublePass(sizes, parameters, choice);
        }
        else
        {
            return floatPass(sizes, parameters, choice);
        }
    }

protected:

    virtual std::shared_ptr<GraphPass<double>> doublePass(const MeshGraphNetSizes& sizes,
        const ParameterSet& parameters, const DeviceChoice& choice) = 0;
    virtual std::shared_ptr<GraphPass<float>> floatPass(const MeshGraphNetSizes& sizes,
        const ParameterSet& parameters, const DeviceChoice& choice) = 0;
};

//- The library's only symbol
using DeviceLibraryFactory = DeviceLibrary*();

}
