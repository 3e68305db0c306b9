// SPDX-License-Identifier: GPL-3.0-or-later

#include "ThreadComm.hpp"

#include "commChecks.hpp"

#include <gmock/gmock.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace inSitu
{
namespace
{

class ThreadComms : public testing::TestWithParam<std::tuple<commChecks::Check, int>>
{};


TEST_P(ThreadComms, Keep)
{
    const auto& [check, n] = GetParam();
    const auto others = std::make_shared<ThreadRanks>(n);
    onRanks(n, [&, body = check.body](Comm& comm)
    {
        ThreadComm other(others, comm.rank());
        body(comm, other);
    });
}


INSTANTIATE_TEST_SUITE_P
(
    Ranks, ThreadComms,
    testing::Combine(testing::ValuesIn(commChecks::all()), testing::Values(1, 2, 3, 4)),
    [](const auto& info)
    {
        return std::get<0>(info.param).name + std::to_string(std::get<1>(info.param));
    }
);


//- What onRanks throws
std::string failure(int n, const std::function<void(Comm&)>& body)
{
    try
    {
        onRanks(n, body);
    }
    catch (const std::exception& error)
    {
        return error.what();
    }
    return "nothing";
}


TEST(ThreadComm, EndsAllWhenOneFails)
{
    std::vector<std::string> heard(4);
    EXPECT_EQ(failure(4, [&heard](Comm& comm)
    {
        std::vector<double> values{1.5};
        comm.sum(values);
        if (comm.rank() == 2)
        {
            throw std::out_of_range("no cell 7");
        }
        try
        {
            comm.sum(values);
        }
        catch (const Error& error)
        {
            heard[comm.rank()] = error.what();
        }
    }), "no cell 7");
    EXPECT_THAT(heard, testing::ElementsAre("rank 2: no cell 7", "rank 2: no cell 7", "",
        "rank 2: no cell 7"));
}


TEST(ThreadComm, ThrowsTheFirstErrorInTheOrderOfRanks)
{
    EXPECT_EQ(failure(3, [](Comm& comm)
    {
        if (comm.rank() > 0)
        {
            throw Error("of " + std::to_string(comm.rank()));
        }
    }), "of 1");
}


TEST(ThreadComm, NamesWhatEndsInDeadlock)
{
    EXPECT_THAT(failure(3, [](Comm& comm)
    {
        if (comm.rank() != 1)
        {
            Comm::Bytes bytes;
            comm.broadcast(bytes);
        }
    }), testing::HasSubstr("waits in vain for broadcast: a rank has ended"));

    EXPECT_THAT(failure(2, [](Comm& comm)
    {
        const auto exchange = comm.exchange({{1 - comm.rank(), 8, 8}});
        if (comm.rank() == 0)
        {
            exchange->start();
            exchange->finish();
        }
    }), testing::HasSubstr("waits in vain for a message of rank 1"));
}


TEST(ThreadComm, NoticesAWindowThatOneRankAloneEnds)
{
    // Where the others go on with something else, or with nothing
    EXPECT_THAT(failure(3, [](Comm& comm)
    {
        auto window = comm.shared(64);
        if (comm.rank() == 1)
        {
            window.reset();
        }
        comm.sum(Span<double>());
    }), testing::AllOf(testing::HasSubstr("end of a window"), testing::HasSubstr("sum")));

    EXPECT_EQ(failure(2, [](Comm& comm)
    {
        try
        {
            const auto window = comm.shared(64);
            if (comm.rank() == 1)
            {
                throw Error("caught again, so that it does not leave");
            }
        }
        catch (const Error&)
        {}
    }), "rank 0 waits in vain for end of a window: a rank has ended");
}


TEST(ThreadComm, WindowsEndQuietlyWhereARankLeaves)
{
    EXPECT_EQ(failure(3, [](Comm& comm)
    {
        const auto window = comm.shared(64);
        if (comm.rank() == 1)
        {
            comm.leave("no cell 7");
        }
    }), "nothing");
}


TEST(ThreadComm, NamesCallsInAnotherOrder)
{
    EXPECT_THAT(failure(2, [](Comm& comm)
    {
        std::vector<double> values(2);
        comm.isMaster() ? comm.sum(values) : comm.max(values);
    }), testing::AllOf(testing::HasSubstr("sum in 16 bytes"), testing::HasSubstr("max in")));

    EXPECT_THAT(failure(2, [](Comm& comm)
    {
        std::vector<double> values(3 + comm.rank());
        comm.sum(values);
    }), testing::AllOf(testing::HasSubstr("24 bytes"), testing::HasSubstr("32 bytes")));
}


TEST(ThreadComm, SpoilsMemoryThatTravels)
{
    onRanks(2, [](Comm& comm)
    {
        std::vector<float> values{1.5f, 2.5f};
        comm.startSum(values);
        EXPECT_THAT(values, testing::Each(testing::IsNan()));
        comm.finishSums();
        EXPECT_THAT(values, testing::ElementsAre(3, 5));

        const auto exchange = comm.exchange({{1 - comm.rank(), 8, 8}});
        *static_cast<double*>(exchange->toSend(0)) = 2.5;
        exchange->start();
        EXPECT_THAT(*static_cast<const double*>(exchange->received(0)), testing::IsNan());
        EXPECT_THAT(*static_cast<const double*>(exchange->toSend(0)), testing::IsNan());
        exchange->finish();
        EXPECT_EQ(*static_cast<const double*>(exchange->received(0)), 2.5);
    });
}


TEST(ThreadComm, NoticesWhoWritesIntoIt)
{
    EXPECT_THAT(failure(2, [](Comm& comm)
    {
        std::vector<double> values(3);
        comm.startSum(values);
        values[2] = 7.5;
        comm.finishSums();
    }), testing::HasSubstr("memory that was handed over"));

    EXPECT_THAT(failure(2, [](Comm& comm)
    {
        const auto exchange = comm.exchange({{1 - comm.rank(), 8, 8}});
        exchange->start();
        *static_cast<double*>(exchange->toSend(0)) = 7.5;
        exchange->finish();
    }), testing::HasSubstr("memory that was handed over"));
}

}
}
