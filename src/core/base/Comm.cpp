// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/Comm.hpp"

#include "base/Error.hpp"

namespace inSitu
{

std::unique_ptr<Exchange> SerialComm::exchange(const std::vector<Neighbour>&)
{
    throw Error("one rank has no neighbours to exchange with");
}

}
