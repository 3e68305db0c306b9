// SPDX-License-Identifier: GPL-3.0-or-later
#include "emulation/Cuda.hpp"

#include <memory>
#include <mutex>
#include <stdexcept>
#include <vector>

#include <ucontext.h>

namespace emulated
{

Dim3 thread, block, threads, blocks;

namespace
{

constexpr std::size_t stackSize = 256*1024;

struct Barrier
{
    unsigned waiting = 0;
    unsigned alive = 0;
    unsigned generation = 0;

    void releaseIfAll()
    {
        if (waiting > 0 && waiting == alive)
        {
            waiting = 0;
            ++generation;
        }
    }
};

struct Fiber
{
    ucontext_t context;
    std::unique_ptr<char[]> stack{new char[stackSize]};
    bool done;
};

std::vector<Fiber> fibers;
ucontext_t scheduler;
Barrier ofBlock;
Barrier ofWarp[32];
struct alignas(16) Slot { char bytes[16]; };
Slot slots[1024];
const std::function<void()>* work;
bool progress;


void wait(Barrier& barrier)
{
    const unsigned generation = barrier.generation;
    ++barrier.waiting;
    barrier.releaseIfAll();
    const unsigned me = thread.x;
    while (barrier.generation == generation)
    {
        swapcontext(&fibers[me].context, &scheduler);
    }
    progress = true;
}


void enter()
{
    const unsigned me = thread.x;
    (*work)();
    fibers[me].done = true;
    --ofBlock.alive;
    ofBlock.releaseIfAll();
    --ofWarp[me/32].alive;
    ofWarp[me/32].releaseIfAll();
    progress = true;
}


void runBlock(unsigned nThreads)
{
    ofBlock = {0, nThreads, 0};
    for (unsigned w = 0; w < (nThreads + 31)/32; ++w)
    {
        ofWarp[w] = {0, nThreads - 32*w < 32 ? nThreads - 32*w : 32, 0};
    }
    for (unsigned i = 0; i < nThreads; ++i)
    {
        Fiber& fiber = fibers[i];
        fiber.done = false;
        getcontext(&fiber.context);
        fiber.context.uc_stack.ss_sp = fiber.stack.get();
        fiber.context.uc_stack.ss_size = stackSize;
        fiber.context.uc_link = &scheduler;
        makecontext(&fiber.context, enter, 0);
    }
    for (bool some = true; some; )
    {
        some = false;
        progress = false;
        for (unsigned i = 0; i < nThreads; ++i)
        {
            if (!fibers[i].done)
            {
                thread.x = i;
                swapcontext(&scheduler, &fibers[i].context);
                some = some || !fibers[i].done;
            }
        }
        if (some && !progress)
        {
            throw std::logic_error("threads of a block wait for each other for ever");
        }
    }
}

}


void waitForBlock()
{
    wait(ofBlock);
}


void waitForWarp()
{
    wait(ofWarp[thread.x/32]);
}


void* slot(unsigned lane)
{
    return &slots[thread.x/32*32 + lane];
}


void run(unsigned blocksX, unsigned blocksY, unsigned nThreads, const std::function<void()>& body)
{
    // Ranks that are threads of a test take turns
    static std::mutex turn;
    const std::lock_guard<std::mutex> lock(turn);
    if (fibers.size() < nThreads)
    {
        fibers = std::vector<Fiber>(nThreads);
    }
    work = &body;
    threads = {nThreads, 1, 1};
    blocks = {blocksX, blocksY, 1};
    for (unsigned y = 0; y < blocksY; ++y)
    {
        for (unsigned x = 0; x < blocksX; ++x)
        {
            block = {x, y, 0};
            thread = {0, 0, 0};
            runBlock(nThreads);
        }
    }
}

}
