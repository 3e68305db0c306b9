// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "MpiChannel.hpp"

#include "base/Comm.hpp"

#include <memory>
#include <vector>

namespace inSitu
{

//- Persistent requests over aligned buffers; messages without a byte are not sent
class MpiExchange final : public Exchange
{
public:

    //- Throws Error for a rank that does not exist or occurs twice, and for a message of more
    //  bytes than MPI counts
    MpiExchange(MpiChannel& channel, const std::vector<Comm::Neighbour>& neighbours);
    ~MpiExchange() override;

    void* toSend(std::size_t i) override;
    const void* received(std::size_t i) const override;
    void start() override;
    void finish() override;

private:

    struct Messages;

    MpiChannel& channel_;
    std::unique_ptr<Messages> messages_;
    Traffic perStart_;
    bool travelling_ = false;
};

}
