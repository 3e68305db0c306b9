// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/Comm.hpp"

#include "base/Error.hpp"
#include "base/alignedMemory.hpp"

namespace inSitu
{
namespace
{

class OwnMemory final : public SharedWindow
{
public:

    explicit OwnMemory(std::size_t bytes)
    :
        memory_(takeMemory(bytes), giveMemory),
        bytes_(bytes)
    {}

    void* data() override { return memory_.get(); }
    std::size_t bytes() const override { return bytes_; }
    void meet() override {}

private:

    std::unique_ptr<void, void (*)(void*)> memory_;
    std::size_t bytes_;
};

}


std::shared_ptr<Comm> SerialComm::part(int number, Waiting) const
{
    return number < 0 ? nullptr : std::make_shared<SerialComm>();
}


std::unique_ptr<SharedWindow> SerialComm::shared(std::size_t bytes) const
{
    return std::make_unique<OwnMemory>(bytes);
}


std::shared_ptr<Comm> Comm::forThread()
{
    throw Error("ranks of this kind work with one thread each");
}


std::unique_ptr<Exchange> SerialComm::exchange(const std::vector<Neighbour>&)
{
    throw Error("one rank has no neighbours to exchange with");
}

}
