// SPDX-License-Identifier: GPL-3.0-or-later
#include "waitFor.hpp"

#include <chrono>
#include <thread>

namespace inSitu
{
namespace device
{

void waitFor(const at::cuda::CUDAEvent& event, const std::function<void()>& check)
{
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::microseconds busy(200), pause(50);
    for (const auto start = Clock::now(); !event.query(); )
    {
        check();
        if (Clock::now() - start > busy)
        {
            std::this_thread::sleep_for(pause);
        }
    }
}

}
}
