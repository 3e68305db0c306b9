// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"
#include "base/Span.hpp"

#include <cstddef>
#include <vector>

namespace inSitu
{

//- The ranks that compute one model, each on a device of its own. What is exchanged lies in the
//  devices' memory; a call puts its work into the queue whose work calls it, and may be recorded.
//  All ranks make the same calls in the same order.
class DeviceRanks
{
public:

    virtual ~DeviceRanks() = default;

    //- The same ranks on their hosts, for the threads that make these calls
    virtual const Comm& hosts() const = 0;

    int size() const { return hosts().size(); }

    //- Replace each entry by its sum over the ranks; the same bits on all
    virtual void sum(Span<float> values) = 0;
    virtual void sum(Span<double> values) = 0;

    //- What goes to a rank and what comes from it. Nothing is sent where there are no bytes.
    struct Message
    {
        int rank;
        const void* toSend;
        std::size_t bytesToSend;
        void* received;
        std::size_t bytesToReceive;
    };

    //- All at once. Messages between two ranks meet in the order in which they are given. This call
    //  alone concerns those alone that it names.
    virtual void exchange(const std::vector<Message>& messages) = 0;
};

}
