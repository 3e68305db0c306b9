// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"
#include "base/Span.hpp"
#include "graph/HaloPlan.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace inSitu
{

//- Rows that travel between neighbours: what cells send goes forward into halo rows, and the
//  gradients of halo rows go back to the cells' ranks. The messages of a plan and a number of
//  samples are kept, so that steady state makes none. T: float double.
template<class T>
class HaloExchange
{
public:

    explicit HaloExchange(std::shared_ptr<Comm> comm);

    //- Of the calls that follow; width columns of each row travel. All ranks alike.
    void use(const std::shared_ptr<const HaloPlan>& plan, long samples, long width);

    //- Rows of all samples: row r of sample s is at data + s*stride + r*ld
    template<class Value>
    struct Rows
    {
        Value* data;
        long stride;
        long ld;
    };

    //- The cells' rows go out; behind finishForward() the halo rows are filled, columns beyond
    //  width with 0
    void startForward(const Rows<const T>& cells);
    void finishForward(const Rows<T>& halo);

    //- The rows of these edges, one for each halo row, go out; behind finishBackward() there is a
    //  row for each entry of HaloPlan::cells
    void startBackward(const Rows<const T>& edges, Span<const std::int32_t> haloEdge);
    void finishBackward(const Rows<T>& returned);

private:

    struct Link
    {
        std::shared_ptr<const HaloPlan> plan;
        long samples;
        long width;
        std::unique_ptr<Exchange> forward;
        std::unique_ptr<Exchange> backward;
    };

    void send(Exchange& exchange, const Rows<const T>& rows, Span<const std::int32_t> chosen,
        std::int32_t HaloPlan::Neighbour::* number);
    void receive(Exchange& exchange, const Rows<T>& rows,
        std::int32_t HaloPlan::Neighbour::* number);

    // Batches and predictions take turns, also on meshes of earlier times
    static constexpr std::size_t maxLinks = 8;

    std::shared_ptr<Comm> comm_;
    std::vector<std::unique_ptr<Link>> links_;  // the one in use comes first
};

}
