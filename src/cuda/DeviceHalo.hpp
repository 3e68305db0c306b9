// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Runtime.hpp"
#include "graph/HaloPlan.hpp"
#include "model/DeviceRanks.hpp"

#include <memory>

namespace inSitu
{
namespace device
{

//- Rows that travel between the GPUs of neighbouring ranks, as HaloExchange has them between hosts:
//  what cells send goes forward into halo rows, and the gradients of those go back. T: storage
//  type.
template<class T>
class DeviceHalo
{
public:

    //- ranks null: nothing travels
    DeviceHalo(const at::Device& device, std::shared_ptr<DeviceRanks> ranks);

    //- Columns 0..ld-1 of the rows of cells that others have as halo, of rows [samples, nodes,
    //  stride], to halo [samples, halo rows, ld] of theirs. view is of a graph with this plan.
    void forward(Stream stream, const GraphView& view, const HaloPlan& plan, const T* rows,
        long stride, int ld, T* halo);

    //- The rows of the edges that leave halo rows, of rows [samples, edges, ld], back to the ranks
    //  of the cells; returns [samples, sent, ld] of those that come here
    const T* backward(Stream stream, const GraphView& view, const HaloPlan& plan, const T* rows,
        int ld);

private:

    void travel(const HaloPlan& plan, int nSamples, int ld, std::int32_t HaloPlan::Neighbour::* out,
        long nOut, std::int32_t HaloPlan::Neighbour::* in, long nIn, T* received);

    at::Device device_;
    std::shared_ptr<DeviceRanks> ranks_;
    Buffer<T> toSend_;
    Buffer<T> returned_;
};

}
}
