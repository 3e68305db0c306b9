// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/ownThread.hpp"

#include "base/ExitStop.hpp"
#include "base/Outbox.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <memory>
#include <string>

#include <fenv.h>

namespace inSitu
{
namespace
{

TEST(OwnThread, HasNoTrapsWhateverTheHostHas)
{
    fenv_t former;
    fegetenv(&former);
    fesetround(FE_UPWARD);
    feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
    int traps = -1, rounding = -1;
    startOwnThread([&]
    {
        traps = fegetexcept();
        rounding = fegetround();
    }).join();
    EXPECT_EQ(fegetexcept(), FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
    fesetenv(&former);

    EXPECT_EQ(traps, 0);
    EXPECT_EQ(rounding, FE_UPWARD);
}


TEST(OwnThread, LeavesSignalsToTheHost)
{
    sigset_t before, inside, after;
    pthread_sigmask(SIG_BLOCK, nullptr, &before);
    startOwnThread([&] { pthread_sigmask(SIG_BLOCK, nullptr, &inside); }).join();
    pthread_sigmask(SIG_BLOCK, nullptr, &after);

    for (const int signal : {SIGUSR1, SIGUSR2, SIGTERM, SIGINT})
    {
        EXPECT_EQ(sigismember(&inside, signal), 1) << signal;
        EXPECT_EQ(sigismember(&before, signal), 0) << signal << ", after threads of other tests";
        EXPECT_EQ(sigismember(&after, signal), 0) << signal;
    }
    EXPECT_EQ(sigismember(&inside, SIGSEGV), 0);
    EXPECT_EQ(sigismember(&inside, SIGFPE), 0);
}


TEST(OwnThread, KnowsItself)
{
    bool inside = false;
    int nInside = 0;
    const int nBefore = nOwnThreads();
    startOwnThread([&]
    {
        inside = inOwnThread();
        nInside = nOwnThreads();
    }).join();
    EXPECT_TRUE(inside);
    EXPECT_FALSE(inOwnThread());
    EXPECT_EQ(nInside, nBefore + 1);
    EXPECT_EQ(nOwnThreads(), nBefore);
}


TEST(ExitStopDeathTest, WhatLivesIsStoppedWhenTheProcessExits)
{
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT
    (
        {
            const auto say = [](const char* text) { std::fputs(text, stderr); };
            const auto* first = new ExitStop([=] { say("first "); });
            {
                const ExitStop gone([=] { say("gone "); });
            }
            const auto* kept = new ExitStop([=] { say("kept "); });
            static_cast<void>(first);
            static_cast<void>(kept);
            std::exit(3);
        },
        testing::ExitedWithCode(3), "^first kept $"
    );
}


//- Static things are destroyed in the opposite order of their first use
TEST(ExitStopDeathTest, ARenewedOneComesBeforeWhatWasMadeMeanwhile)
{
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    for (const bool renewed : {false, true})
    {
        EXPECT_EXIT
        (
            {
                struct Late
                {
                    ~Late() { std::fputs("late ", stderr); }
                };
                auto* stop = new ExitStop([] { std::fputs("stop ", stderr); });
                static const Late late;
                if (renewed)
                {
                    stop->renew();
                }
                std::exit(3);
            },
            testing::ExitedWithCode(3), renewed ? "^stop late $" : "^late stop $"
        );
    }
}


TEST(Outbox, KeepsTheOrderAndWhatIsBehindAFault)
{
    Outbox outbox(false);
    std::string said;
    outbox.post([&] { said += 'a'; });
    startOwnThread([&] { outbox.post([] { throw 7; }); }).join();
    outbox.post([&]
    {
        said += 'b';
        outbox.post([&] { said += 'c'; });
    });
    EXPECT_EQ(said, "");
    EXPECT_THROW(outbox.deliver(), int);
    EXPECT_EQ(said, "a");
    outbox.deliver();
    EXPECT_EQ(said, "abc");

    Outbox direct(true);
    direct.post([&] { said += 'd'; });
    EXPECT_EQ(said, "abcd");
}

}
}
