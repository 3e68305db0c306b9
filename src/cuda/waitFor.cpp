// SPDX-License-Identifier: GPL-3.0-or-later
#include "waitFor.hpp"

#include <chrono>
#include <exception>
#include <thread>

namespace inSitu
{
namespace device
{

namespace
{

using Clock = std::chrono::steady_clock;
constexpr std::chrono::microseconds busy(200), pause(50);


void letEnd(const at::cuda::CUDAEvent& event) noexcept
{
    constexpr std::chrono::seconds longest(10);
    try
    {
        for (const auto start = Clock::now(); !event.query() && Clock::now() - start < longest; )
        {
            std::this_thread::sleep_for(pause);
        }
    }
    catch (const std::exception&)
    {
        // The device has failed: nothing is at work
    }
}

}


void waitFor(const at::cuda::CUDAEvent& event, const std::function<void()>& check)
{
    for (const auto start = Clock::now(); !event.query(); )
    {
        try
        {
            check();
        }
        catch (...)
        {
            letEnd(event);
            throw;
        }
        if (Clock::now() - start > busy)
        {
            std::this_thread::sleep_for(pause);
        }
    }
}

}
}
