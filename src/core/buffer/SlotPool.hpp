// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace inSitu
{

//- Equal pieces of aligned memory that go round: a piece returns to the pool when its
//  last handle dies, also after the pool itself is gone. Memory is taken from the system
//  only when no free piece is left, so a steady state allocates nothing.
class SlotPool
{
public:

    //- A piece of bytes() bytes, aligned to 64, contents unspecified
    using Handle = std::shared_ptr<void>;

    explicit SlotPool(std::size_t bytesPerSlot);

    Handle acquire();

    std::size_t bytes() const;

    //- Pieces ever taken from the system
    int nAllocated() const;

private:

    struct Shared;
    std::shared_ptr<Shared> shared_;
};

}
