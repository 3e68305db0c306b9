// SPDX-License-Identifier: GPL-3.0-or-later

#include "base/ThreadPool.hpp"

#include "base/Error.hpp"
#include "base/cpuQuota.hpp"
#include "base/ownThread.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace inSitu
{

namespace
{

//- Wait for a condition with a short spin; false: not met, so sleep
template<class Condition>
bool spin(const Condition& met)
{
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(20);
    while (!met())
    {
        if (std::chrono::steady_clock::now() > end)
        {
            return false;
        }
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
    return true;
}

}


struct ThreadPool::Impl
{
    std::vector<std::thread> workers;
    std::mutex mutex;
    std::condition_variable wake;
    std::condition_variable done;

    // Changed under the mutex, read without it while spinning
    std::atomic<std::uint64_t> loop{0};
    std::atomic<bool> stop{false};

    // Workers in the loop. It ends without those that are not awake yet: they find it closed.
    static constexpr int closed = -1;
    std::atomic<int> working{closed};

    // The loop in progress
    const void* body = nullptr;
    Call call = nullptr;
    int nChunks = 0;
    std::atomic<int> next{0};
    std::atomic<bool> busy{false};
    std::exception_ptr error;

    void takeChunks(int thread)
    {
        int chunk;
        while ((chunk = next.fetch_add(1, std::memory_order_relaxed)) < nChunks)
        {
            try
            {
                call(body, chunk, thread);
            }
            catch (...)
            {
                std::lock_guard<std::mutex> lock(mutex);
                if (!error)
                {
                    error = std::current_exception();
                }
                next = nChunks;
            }
        }
    }

    bool join()
    {
        int n = working;
        while (n != closed && !working.compare_exchange_weak(n, n + 1))
        {}
        return n != closed;
    }

    void work(int thread)
    {
        std::uint64_t seen = 0;
        while (true)
        {
            const auto called = [&] { return loop != seen || stop; };
            if (!spin(called))
            {
                std::unique_lock<std::mutex> lock(mutex);
                wake.wait(lock, called);
            }
            if (stop)
            {
                return;
            }
            seen = loop;
            if (!join())
            {
                continue;
            }
            takeChunks(thread);
            if (working.fetch_sub(1) == 1)
            {
                std::lock_guard<std::mutex> lock(mutex);
                done.notify_one();
            }
        }
    }

    void halt()
    {
        {
            std::lock_guard<std::mutex> lock(mutex);
            stop = true;
        }
        wake.notify_all();
        for (std::thread& worker : workers)
        {
            worker.join();
        }
    }
};


ThreadPool::ThreadPool(int nThreads)
:
    impl_(std::make_unique<Impl>())
{
    if (nThreads < 1)
    {
        throw Error("a team of " + std::to_string(nThreads) + " threads: at least 1 is needed");
    }
    try
    {
        for (int thread = 1; thread < nThreads; ++thread)
        {
            impl_->workers.push_back(
                startOwnThread([impl = impl_.get(), thread] { impl->work(thread); }));
        }
    }
    catch (...)
    {
        impl_->halt();
        throw;
    }
}


ThreadPool::~ThreadPool()
{
    impl_->halt();
}


int ThreadPool::nThreads() const
{
    return static_cast<int>(impl_->workers.size()) + 1;
}


void ThreadPool::runLoop(int nChunks, const void* body, Call call)
{
    Impl& pool = *impl_;
    if (nChunks < 1)
    {
        return;
    }
    if (pool.busy.exchange(true))
    {
        throw Error("a loop was started inside a loop of the same team of threads");
    }

    pool.body = body;
    pool.call = call;
    pool.nChunks = nChunks;
    pool.next = 0;
    pool.error = nullptr;
    const int nWorkers = static_cast<int>(pool.workers.size());
    if (nWorkers > 0 && nChunks > 1)
    {
        pool.working = 0;
        {
            std::lock_guard<std::mutex> lock(pool.mutex);
            ++pool.loop;
        }
        pool.wake.notify_all();
        pool.takeChunks(0);

        const auto finished = [&]
        {
            int none = 0;
            return pool.working.compare_exchange_strong(none, Impl::closed);
        };
        if (!spin(finished))
        {
            std::unique_lock<std::mutex> lock(pool.mutex);
            pool.done.wait(lock, finished);
        }
    }
    else
    {
        pool.takeChunks(0);
    }

    const std::exception_ptr error = pool.error;
    pool.busy = false;
    if (error)
    {
        std::rethrow_exception(error);
    }
}


int availableCores()
{
    cpu_set_t set;
    CPU_ZERO(&set);
    int cores = static_cast<int>(std::thread::hardware_concurrency());
    if (sched_getaffinity(0, sizeof(set), &set) == 0)
    {
        cores = CPU_COUNT(&set);
    }
    if (const auto quota = cpuQuota())
    {
        cores = static_cast<int>(std::min<double>(cores, std::ceil(*quota)));
    }
    return std::max(cores, 1);
}

}
