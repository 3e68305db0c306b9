// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/LearningLoop.hpp"

#include "ThreadComm.hpp"
#include "WavePart.hpp"
#include "config/YamlFile.hpp"

#include <gmock/gmock.h>

using namespace inSitu;

namespace
{

//- The threads of the ranks speak by a Comm of their own, on which nobody else hears who has left
TEST(LearningLoopRanks, AThreadThatWaitsForARankThatHasLeftIsTold)
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
            comm.leave("a fault of the host");
            return;
        }
        // Which the thread of the master will never name
        loop.askForReport(0.4, 4);
        try
        {
            loop.settle();
        }
        catch (const Error& error)
        {
            told = error.what();
        }
    });
    EXPECT_THAT(told, testing::HasSubstr("a fault of the host"));
}

}
