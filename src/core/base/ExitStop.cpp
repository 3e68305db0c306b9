// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/ExitStop.hpp"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <utility>
#include <vector>

namespace inSitu
{

struct ExitStop::Living
{
    std::mutex mutex;
    std::vector<ExitStop*> objects;
};


// Never destroyed: objects may be static themselves
ExitStop::Living& ExitStop::living()
{
    static auto* const all = new Living;
    return *all;
}


// By the handler of the newest object for all: what was there when they were made is older
void ExitStop::stopAll()
{
    const std::lock_guard<std::mutex> lock(living().mutex);
    for (ExitStop* object : std::exchange(living().objects, {}))
    {
        object->stop_();
    }
}


ExitStop::ExitStop(std::function<void()> stop)
:
    stop_(std::move(stop))
{
    const std::lock_guard<std::mutex> lock(living().mutex);
    living().objects.push_back(this);
    std::atexit(&ExitStop::stopAll);
}


void ExitStop::renew()
{
    std::atexit(&ExitStop::stopAll);
}


ExitStop::~ExitStop()
{
    const std::lock_guard<std::mutex> lock(living().mutex);
    auto& objects = living().objects;
    objects.erase(std::remove(objects.begin(), objects.end(), this), objects.end());
}

}
