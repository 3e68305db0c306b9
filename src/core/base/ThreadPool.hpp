// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

namespace inSitu
{

//- A fixed team of threads for loops over fixed chunks. The caller works too, so
//  n threads means n-1 workers. The number of threads decides who computes a chunk,
//  never what is in it: with chunks cut independently of the team, results have the
//  same bits for any team. Workers sleep between loops (they spin for microseconds at
//  most), have the floating-point environment of the constructing thread, but without its traps,
//  and are joined by the destructor.
class ThreadPool
{
public:

    explicit ThreadPool(int nThreads);
    ~ThreadPool();

    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    int nThreads() const;

    //- Call body(chunk, thread) once for each chunk in [0, nChunks), in any order;
    //  thread in [0, nThreads) selects scratch memory; 0 is the caller. Returns when all are done.
    //  The first exception of a body is rethrown here. Not re-entrant. Allocates nothing.
    template<class Body>
    void run(int nChunks, const Body& body)
    {
        runLoop(nChunks, &body, [](const void* theBody, int chunk, int thread)
        {
            (*static_cast<const Body*>(theBody))(chunk, thread);
        });
    }

private:

    using Call = void (*)(const void* body, int chunk, int thread);

    void runLoop(int nChunks, const void* body, Call call);

    struct Impl;
    std::unique_ptr<Impl> impl_;
};

//- Cores this process may use: those of its affinity mask, but no more than the quota of its
//  control groups, rounded up; at least 1
int availableCores();

}
