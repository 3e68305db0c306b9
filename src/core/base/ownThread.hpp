// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <thread>

namespace inSitu
{

//- Start a thread of this library: floating-point traps are off in it, whatever they are in the
//  calling thread, and signals are left to the threads of the host. body must not throw.
std::thread startOwnThread(std::function<void()> body);

//- The calling thread is such a one
bool inOwnThread();

//- Those that have been started and have not ended
int nOwnThreads();

}
