// SPDX-License-Identifier: GPL-3.0-or-later
#include "DeviceHalo.hpp"

namespace inSitu
{
namespace device
{

template<class T>
DeviceHalo<T>::DeviceHalo(const at::Device& device, std::shared_ptr<DeviceRanks> ranks)
:
    device_(device),
    ranks_(std::move(ranks))
{}


//- What was chosen, and what is received, has the neighbours one behind the other in each sample
template<class T>
void DeviceHalo<T>::travel(const HaloPlan& plan, int nSamples, int ld,
    std::int32_t HaloPlan::Neighbour::* out, long nOut, std::int32_t HaloPlan::Neighbour::* in,
    long nIn, T* received)
{
    std::vector<DeviceRanks::Message> messages;
    for (long sample = 0; sample < nSamples; ++sample)
    {
        const T* from = toSend_.data() + sample*nOut*ld;
        T* to = received + sample*nIn*ld;
        for (const HaloPlan::Neighbour& neighbour : plan.neighbours)
        {
            const long nFrom = static_cast<long>(neighbour.*out)*ld;
            const long nTo = static_cast<long>(neighbour.*in)*ld;
            messages.push_back(
                {neighbour.rank, from, nFrom*sizeof(T), to, nTo*sizeof(T)});
            from += nFrom;
            to += nTo;
        }
    }
    ranks_->exchange(messages);
}


template<class T>
void DeviceHalo<T>::forward(Stream stream, const GraphView& view, const HaloPlan& plan,
    const T* rows, long stride, int ld, T* halo)
{
    chooseRows<T>(stream, {view.nNodes, view.nSamples, rows, stride, view.sent, view.nSent, ld,
        toSend_.resize(view.nSamples*view.nSent*ld, device_)});
    travel(plan, view.nSamples, ld, &HaloPlan::Neighbour::nCells, view.nSent,
        &HaloPlan::Neighbour::nRows, view.nHalo, halo);
}


template<class T>
const T* DeviceHalo<T>::backward(Stream stream, const GraphView& view, const HaloPlan& plan,
    const T* rows, int ld)
{
    chooseRows<T>(stream, {view.nEdges, view.nSamples, rows, ld, view.haloEdge, view.nHalo, ld,
        toSend_.resize(view.nSamples*view.nHalo*ld, device_)});
    T* returned = returned_.resize(view.nSamples*view.nSent*ld, device_);
    travel(plan, view.nSamples, ld, &HaloPlan::Neighbour::nRows, view.nHalo,
        &HaloPlan::Neighbour::nCells, view.nSent, returned);
    return returned;
}

#ifndef INSITU_CUDA_EMULATED
template class DeviceHalo<Float16>;
#endif
template class DeviceHalo<double>;
template class DeviceHalo<float>;
template class DeviceHalo<BFloat16>;

}
}
