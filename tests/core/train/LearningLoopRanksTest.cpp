// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/LearningLoop.hpp"

#include "ThreadComm.hpp"
#include "WavePart.hpp"
#include "config/YamlFile.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <thread>

using namespace inSitu;

namespace
{

//- isBusy: the thread of the rank that leaves waits for the other one's
std::string toldOfALeaver(bool isBusy)
{
    const Settings settings = readSettings(parseYaml("inputs: [U, p]\ntargets: [U, p]\n"
        "reportInterval: 1\nnThreads: 1\nmode: async\n"
        "training: {model: {type: meshGraphNet, processorSize: 1, hiddenSize: 4}}\n",
        "controlDict"), "surrogate", ".", {});
    std::string told;
    onRanks(2, [&](Comm& comm)
    {
        WaveCase whole(7, 6);
        WavePart host(whole, raggedRanks(whole.nCells(), 2), comm);
        const CaseMesh mesh = host.mesh();
        Profiler profiler;
        LearningLoop loop(settings, host.theCase(), mesh, borrowed(comm), profiler,
            [](const std::string&, const std::string&, double) {},
            [](const std::string& warning) { ADD_FAILURE() << warning; }, {});
        for (int step = 1; step <= 4; ++step)
        {
            loop.execute({0.1*step, step, 0.1}, host.fields(0.1*step));
        }
        loop.settle();
        if (comm.isMaster())
        {
            if (isBusy)
            {
                loop.askForReport(0.4, 4);
                std::this_thread::sleep_for(std::chrono::milliseconds(20));
            }
            comm.leave("a fault of the host");
            return;
        }
        EXPECT_THROW(for (;;) { comm.progress(); }, Error);
        try
        {
            // Which the thread of the master will never do
            loop.askForReport(0.4, 4);
            loop.settle();
        }
        catch (const Error& error)
        {
            told = error.what();
        }
    });
    return told;
}


//- The threads of the ranks speak by a Comm of their own, on which the host's farewell is not heard
TEST(LearningLoopRanks, AThreadThatWaitsForARankThatHasLeftIsTold)
{
    for (const bool isBusy : {false, true})
    {
        EXPECT_THAT(toldOfALeaver(isBusy), testing::HasSubstr("rank 0: a fault of the host"));
    }
}

}
