// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/ownThread.hpp"

#include <csignal>

#include <atomic>
#include <cfenv>
#include <utility>

namespace inSitu
{
namespace
{

thread_local bool own = false;
std::atomic<int> nOwn{0};


//- All signals but those of a fault of the thread itself are blocked while an object lives; a
//  thread that is started meanwhile keeps that
class SignalsBlocked
{
public:

    SignalsBlocked()
    {
        sigset_t blocked;
        sigfillset(&blocked);
        for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
        {
            sigdelset(&blocked, fault);
        }
        pthread_sigmask(SIG_SETMASK, &blocked, &former_);
    }

    ~SignalsBlocked()
    {
        pthread_sigmask(SIG_SETMASK, &former_, nullptr);
    }

    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;

private:

    sigset_t former_;
};

}


std::thread startOwnThread(std::function<void()> body)
{
    const SignalsBlocked blocked;
    ++nOwn;
    try
    {
        return std::thread([body = std::move(body)]
        {
            own = true;
            std::fenv_t former;
            std::feholdexcept(&former);
            body();
            --nOwn;
        });
    }
    catch (...)
    {
        --nOwn;
        throw;
    }
}


int nOwnThreads()
{
    return nOwn;
}


bool inOwnThread()
{
    return own;
}

}
