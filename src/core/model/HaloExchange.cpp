// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/HaloExchange.hpp"

#include <algorithm>
#include <cstring>

namespace inSitu
{

template<class T>
HaloExchange<T>::HaloExchange(std::shared_ptr<Comm> comm)
:
    comm_(std::move(comm))
{}


template<class T>
void HaloExchange<T>::use(const std::shared_ptr<const HaloPlan>& plan, long samples, long width)
{
    const auto found = std::find_if(links_.begin(), links_.end(), [&](const auto& link)
        { return link->plan == plan && link->samples == samples && link->width == width; });
    if (found != links_.end())
    {
        std::rotate(links_.begin(), found, found + 1);
        return;
    }

    std::vector<Comm::Neighbour> there, back;
    for (const HaloPlan::Neighbour& neighbour : plan->neighbours)
    {
        const std::size_t row = samples*width*sizeof(T);
        there.push_back({neighbour.rank, neighbour.nCells*row, neighbour.nRows*row});
        back.push_back({neighbour.rank, neighbour.nRows*row, neighbour.nCells*row});
    }
    if (links_.size() == maxLinks)
    {
        links_.pop_back();
    }
    links_.insert(links_.begin(), std::make_unique<Link>(
        Link{plan, samples, width, comm_->exchange(there), comm_->exchange(back)}));
}


template<class T>
void HaloExchange<T>::send(Exchange& exchange, const Rows<const T>& rows,
    Span<const std::int32_t> chosen, std::int32_t HaloPlan::Neighbour::* number)
{
    const Link& link = *links_.front();
    const std::int32_t* row = chosen.data();
    for (std::size_t i = 0; i < link.plan->neighbours.size(); ++i)
    {
        const std::int32_t n = link.plan->neighbours[i].*number;
        T* target = static_cast<T*>(exchange.toSend(i));
        for (long sample = 0; sample < link.samples; ++sample)
        {
            for (std::int32_t k = 0; k < n; ++k, target += link.width)
            {
                std::memcpy(target, rows.data + sample*rows.stride + row[k]*rows.ld,
                    link.width*sizeof(T));
            }
        }
        row += n;
    }
    exchange.start();
}


template<class T>
void HaloExchange<T>::receive(Exchange& exchange, const Rows<T>& rows,
    std::int32_t HaloPlan::Neighbour::* number)
{
    exchange.finish();
    const Link& link = *links_.front();
    long row = 0;
    for (std::size_t i = 0; i < link.plan->neighbours.size(); ++i)
    {
        const std::int32_t n = link.plan->neighbours[i].*number;
        const T* source = static_cast<const T*>(exchange.received(i));
        for (long sample = 0; sample < link.samples; ++sample)
        {
            T* target = rows.data + sample*rows.stride + row*rows.ld;
            for (std::int32_t k = 0; k < n; ++k, source += link.width, target += rows.ld)
            {
                std::memcpy(target, source, link.width*sizeof(T));
                std::fill(target + link.width, target + rows.ld, T(0));
            }
        }
        row += n;
    }
}


template<class T>
void HaloExchange<T>::startForward(const Rows<const T>& cells)
{
    const Link& link = *links_.front();
    send(*link.forward, cells, link.plan->cells, &HaloPlan::Neighbour::nCells);
}


template<class T>
void HaloExchange<T>::finishForward(const Rows<T>& halo)
{
    receive(*links_.front()->forward, halo, &HaloPlan::Neighbour::nRows);
}


template<class T>
void HaloExchange<T>::startBackward(const Rows<const T>& edges,
    Span<const std::int32_t> haloEdge)
{
    send(*links_.front()->backward, edges, haloEdge, &HaloPlan::Neighbour::nRows);
}


template<class T>
void HaloExchange<T>::finishBackward(const Rows<T>& returned)
{
    receive(*links_.front()->backward, returned, &HaloPlan::Neighbour::nCells);
}

template class HaloExchange<float>;
template class HaloExchange<double>;

}
