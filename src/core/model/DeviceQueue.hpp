// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace inSitu
{

//- Work of a device that was recorded once, to be put into its queue as a whole
class Recording
{
public:

    virtual ~Recording() = default;
    virtual void replay() = 0;
};


//- A queue of a device. What is put in is done in that order, perhaps after the call has returned.
//  One thread calls.
class DeviceQueue
{
public:

    virtual ~DeviceQueue() = default;

    //- Put in what work does. It may run as late as in waitFor(): it owns what it needs, and what
    //  it reads of the host's memory, or writes there, is left alone until then.
    virtual void put(std::function<void()> work) = 0;

    //- What work does, without doing it. It must not ask the device for anything, nor take memory
    //  that it gives back to others; all memory that it touches stays where it is as long as the
    //  recording is used. Throws what work throws, or if the device cannot record it.
    virtual std::unique_ptr<Recording> record(std::function<void()> work) = 0;

    //- Stands for all that was put in so far
    virtual std::int64_t mark() = 0;

    //- Until that is done. Throws what has gone wrong there.
    virtual void waitFor(std::int64_t mark) = 0;

    //- Another queue of the same device and thread. Neither waits for the other by itself.
    virtual std::shared_ptr<DeviceQueue> makeBeside() = 0;

    //- What is put in from now on is done after what a mark of a queue beside stands for; that queue
    //  lives until then. Nobody waits here.
    virtual void follow(DeviceQueue& other, std::int64_t mark) = 0;

    //- Comes before work of a kind that was never put in. A kernel is loaded when it is first used,
    //  and the device may have to come to rest for that: it never would if it was waiting for a rank
    //  that has left. So where there are other ranks, waits until all that was put in is done.
    virtual void quiesce() = 0;

    //- Work of any kind, and until it is done
    void carryOut(std::function<void()> work)
    {
        quiesce();
        put(std::move(work));
        waitFor(mark());
    }
};

}
