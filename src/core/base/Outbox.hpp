// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace inSitu
{

//- What one thread has another one do: posted there, done here, in the same order. A direct one
//  does it at once, where there is one thread only.
class Outbox
{
public:

    explicit Outbox(bool direct)
    :
        direct_(direct)
    {}

    void post(std::function<void()> action)
    {
        if (direct_)
        {
            action();
            return;
        }
        const std::lock_guard<std::mutex> lock(mutex_);
        actions_.push_back(std::move(action));
    }

    //- Do what was posted. If an action throws, what was posted behind it waits for the next call.
    void deliver()
    {
        while (true)
        {
            std::function<void()> action;
            {
                const std::lock_guard<std::mutex> lock(mutex_);
                if (actions_.empty())
                {
                    return;
                }
                action = std::move(actions_.front());
                actions_.erase(actions_.begin());
            }
            action();
        }
    }

private:

    const bool direct_;
    std::mutex mutex_;
    std::vector<std::function<void()>> actions_;
};

}
