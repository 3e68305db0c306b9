// SPDX-License-Identifier: GPL-3.0-or-later

// All ranks run all tests in step. A rank whose expectations fail leaves, so that the others do not
// wait for it.

#include "MpiComm.hpp"

#include "base/Error.hpp"
#include "commChecks.hpp"
#include "mpiCheck.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

namespace inSitu
{
namespace
{

//- With which check, and the longest piece of a message in bytes
class MpiComms : public testing::TestWithParam<std::tuple<commChecks::Check, std::size_t>>
{};


TEST_P(MpiComms, Keep)
{
    MpiComm comm(MPI_COMM_WORLD, std::get<1>(GetParam()));
    MpiComm other(MPI_COMM_WORLD);
    std::get<0>(GetParam()).body(comm, other);
    if (HasFailure())
    {
        comm.leave("a test has failed");
        other.leave("a test has failed");
    }
}


// The longer messages of the checks in one piece, or in several
INSTANTIATE_TEST_SUITE_P
(
    Ranks, MpiComms,
    testing::Combine
    (
        testing::ValuesIn(commChecks::all()),
        testing::Values(MpiComm::longestPiece, std::size_t(500))
    ),
    [](const auto& info)
    {
        const bool whole = std::get<1>(info.param) == MpiComm::longestPiece;
        return std::get<0>(info.param).name + std::string(whole ? "" : "InPieces");
    }
);


TEST(MpiComm, LeavesItsParentAlone)
{
    // A message on the parent's own tags is not taken for one of ours
    const int next = (MpiComm(MPI_COMM_WORLD).rank() + 1) % MpiComm(MPI_COMM_WORLD).size();
    MpiComm comm(MPI_COMM_WORLD);
    double sent = 2.5 + comm.rank();
    double received = 0;
    MPI_Request requests[2];
    MPI_Isend(&sent, 1, MPI_DOUBLE, next, 0, MPI_COMM_WORLD, &requests[0]);

    std::vector<double> values{1.5};
    comm.sum(values);
    EXPECT_EQ(values[0], 1.5*comm.size());
    comm.gather(Comm::Bytes(9));

    MPI_Irecv(&received, 1, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
        &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    EXPECT_EQ(received, 2.5 + (comm.rank() + comm.size() - 1) % comm.size());
}


TEST(MpiComm, WorksOnPartOfTheRanks)
{
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    {
        MpiComm comm(half);
        MPI_Comm_free(&half);
        std::vector<double> values{1.5 + rank};
        comm.max(values);
        const auto all = comm.gather(Comm::Bytes{static_cast<std::uint8_t>(rank)});
        if (comm.isMaster())
        {
            // The order is turned round
            EXPECT_EQ(values[0], 1.5 + rank);
            EXPECT_EQ(all.back()[0], rank % 2);
        }
    }
}


TEST(MpiComm, BelongsToItsThread)
{
    MpiComm comm(MPI_COMM_WORLD);
    std::string refused;
    std::thread([&]
    {
        try
        {
            std::vector<double> values(1);
            comm.sum(values);
        }
        catch (const Error& error)
        {
            refused = error.what();
        }
        comm.leave("from the wrong thread, so nobody hears it");
    }).join();
    EXPECT_THAT(refused, testing::HasSubstr("MPI_THREAD_MULTIPLE"));

    std::vector<double> values{1.5};
    comm.sum(values);
    EXPECT_EQ(values[0], 1.5*comm.size());
}


TEST(MpiComm, GivesNoSecondThreadARankOfItsOwn)
{
    MpiComm comm(MPI_COMM_WORLD);
    if (comm.size() == 1)
    {
        EXPECT_EQ(comm.forThread()->size(), 1);     // which sends nothing
        return;
    }
    try
    {
        comm.forThread();
        FAIL() << "no error";
    }
    catch (const Error& error)
    {
        EXPECT_THAT(error.what(), testing::HasSubstr("MPI_THREAD_MULTIPLE"));
        EXPECT_THAT(error.what(), testing::HasSubstr("-fileHandler collated"));
    }
}


// These run where MPI was started for several threads: argument --threads

TEST(MpiThreads, TwoThreadsOfARankDoNotMixTheirMessages)
{
    MpiComm comm(MPI_COMM_WORLD);
    const std::shared_ptr<Comm> other = comm.forThread();
    int nWrong = 0;
    const auto sums = [](const Comm& ranks, double factor, int& wrong)
    {
        const int n = ranks.size();
        for (int i = 0; i < 300; ++i)
        {
            std::vector<double> values{factor*(ranks.rank() + 1), 1.0*i};
            ranks.sum(Span<double>(values));
            wrong += values[0] != factor*n*(n + 1)/2 || values[1] != i*n;
        }
    };
    std::thread thread([&] { sums(*other, 0.25, nWrong); });
    int nWrongHere = 0;
    sums(comm, 7, nWrongHere);
    thread.join();
    EXPECT_EQ(nWrong + nWrongHere, 0);
}


TEST(MpiThreads, ThreadsOfAPartLeaveByThemselvesUnderTheNumbersOfTheWhole)
{
    MpiComm whole(MPI_COMM_WORLD);
    const int last = whole.size() - 1;
    // All but the first; that one is a part by itself, whose thread needs no messages
    const std::shared_ptr<Comm> part = whole.part(whole.rank() > 0, Comm::Waiting::busy);
    const std::shared_ptr<Comm> other = part->forThread();
    ASSERT_EQ(other->size(), part->size());
    std::string message;
    std::thread thread([&]
    {
        double n = 1;
        other->sum(Span<double>(&n, 1));
        EXPECT_EQ(n, other->size());
        if (whole.rank() == last)
        {
            other->leave("no luck");
            return;
        }
        try
        {
            for (int i = 0; i < 1000000 && other->size() > 1; ++i)
            {
                other->sum(Span<double>(&n, 1));
            }
        }
        catch (const Error& error)
        {
            message = error.what();
        }
    });
    thread.join();
    if (whole.rank() > 0 && whole.rank() < last)
    {
        EXPECT_EQ(message, "rank " + std::to_string(last) + ": no luck");
    }
    // Those who are the same ranks in other threads go on
    double n = 1;
    part->sum(Span<double>(&n, 1));
    EXPECT_EQ(n, part->size());
    whole.sum(Span<double>(&n, 1));
    EXPECT_EQ(other->traffic().sums > 0, part->size() > 1);
}


TEST(MpiThreads, AWaitEndsWhenItIsInterrupted)
{
    MpiComm comm(MPI_COMM_WORLD);
    const std::shared_ptr<Comm> other = comm.forThread();
    std::string message;
    std::thread thread([&]
    {
        try
        {
            // Nobody sends
            const auto exchange = other->exchange({{(comm.rank() + 1) % comm.size(), 0, 8}});
            exchange->start();
            exchange->finish();
        }
        catch (const Error& error)
        {
            message = error.what();
        }
    });
    double meet = 1;
    comm.sum(Span<double>(&meet, 1));
    other->interrupt();
    thread.join();
    EXPECT_THAT(message, testing::HasSubstr("was interrupted"));
    comm.sum(Span<double>(&meet, 1));
    EXPECT_EQ(meet, comm.size()*comm.size());
}


// Long messages need both sides: the first rank only works and calls progress() until a file tells
// that the second has sent and received
TEST(MpiComm, MessagesTravelWhileOneSideWorks)
{
    MpiComm comm(MPI_COMM_WORLD);
    const std::string arrived = "arrived";
    std::remove(arrived.c_str());
    const auto isThere = [&] { return std::ifstream(arrived).good(); };
    std::vector<Comm::Neighbour> pair;
    if (comm.rank() < 2 && comm.size() > 1)
    {
        pair.push_back({1 - comm.rank(), 8000000, 8000000});
    }
    const auto exchange = comm.exchange(pair);
    comm.sum(Span<double>());

    exchange->start();
    if (!pair.empty() && comm.isMaster())
    {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (!isThere() && std::chrono::steady_clock::now() < end)
        {
            comm.progress();
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        EXPECT_TRUE(isThere());
    }
    exchange->finish();
    if (!pair.empty() && !comm.isMaster())
    {
        std::ofstream file(arrived);
    }
}


TEST(MpiComm, RefusesWhatMpiCannotCount)
{
    MpiComm comm(MPI_COMM_WORLD);
    const std::size_t tooMany = std::size_t(1) << 31;
    double none = 0;
    EXPECT_THROW(comm.startSum(Span<double>(&none, tooMany)), Error);
    try
    {
        comm.exchange({{0, 8, tooMany}});
        ADD_FAILURE();
    }
    catch (const Error& error)
    {
        EXPECT_THAT(error.what(), testing::HasSubstr("a message of 2.00 GiB"));
    }
    EXPECT_EQ(comm.traffic().sums, 0);
}


TEST(MpiComm, UsesTheMemoryOfSumsAgain)
{
    MpiComm comm(MPI_COMM_WORLD);
    std::vector<float> values(1000, 1.0f);
    for (int step = 0; step < 30; ++step)
    {
        // Longer and shorter ones, more of them, none mixed up with another
        std::vector<std::vector<float>> all;
        for (int i = 0; i < 5; ++i)
        {
            all.emplace_back((37*(step + 1)*(i + 1)) % 400, 1.5f*i + comm.rank());
        }
        for (std::vector<float>& one : all)
        {
            comm.startSum(one);
        }
        comm.finishSums();
        const float ranks = 0.5f*comm.size()*(comm.size() - 1);
        for (int i = 0; i < 5; ++i)
        {
            EXPECT_THAT(all[i], testing::Each(1.5f*i*comm.size() + ranks));
        }
    }
}


TEST(MpiComm, OutlivesWhatIsUnfinished)
{
    // As when the stack is unwound: nothing that still travels is given back
    {
        MpiComm comm(MPI_COMM_WORLD);
        const int next = (comm.rank() + 1) % comm.size();
        const int last = (comm.rank() + comm.size() - 1) % comm.size();
        const auto exchange = comm.exchange(next == last
          ? std::vector<Comm::Neighbour>{{next, 100000, 100000}}
          : std::vector<Comm::Neighbour>{{next, 100000, 0}, {last, 0, 100000}});
        exchange->start();
        std::vector<double> values(50000);
        comm.startSum(values);
    }
    MpiComm comm(MPI_COMM_WORLD);
    std::vector<double> values{1.5};
    comm.sum(values);
    EXPECT_EQ(values[0], 1.5*comm.size());
}


TEST(MpiCheck, NamesTheCallAndRepeatsMpi)
{
    EXPECT_NO_THROW(mpiCheck(MPI_SUCCESS, "MPI_Isend"));
    try
    {
        mpiCheck(MPI_ERR_RANK, "MPI_Isend");
        ADD_FAILURE();
    }
    catch (const Error& error)
    {
        EXPECT_THAT(error.what(), testing::StartsWith("MPI_Isend failed: "));
        EXPECT_THAT(error.what(), testing::HasSubstr("rank"));
    }
}


//- Failures only, with the rank
class Failures : public testing::EmptyTestEventListener
{
public:

    explicit Failures(int rank)
    :
        rank_(rank)
    {}

    void OnTestStart(const testing::TestInfo& test) override
    {
        test_ = test.name();
    }

    void OnTestPartResult(const testing::TestPartResult& result) override
    {
        if (result.failed())
        {
            std::printf("rank %d, %s, line %d:\n%s\n", rank_, test_.c_str(), result.line_number(),
                result.message());
        }
    }

private:

    int rank_;
    std::string test_;
};

}
}


int main(int argc, char** argv)
{
    try
    {
        inSitu::MpiComm comm(MPI_COMM_WORLD);
        std::puts("a communicator was made before MPI ran");
        return 1;
    }
    catch (const inSitu::Error&)
    {}

    const bool threads = argc > 1 && std::string(argv[1]) == "--threads";
    int level = 0;
    MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    if (threads && level != MPI_THREAD_MULTIPLE)
    {
        std::puts("SKIPPED  this MPI has no MPI_THREAD_MULTIPLE");
        MPI_Finalize();
        return 0;
    }
    GTEST_FLAG_SET(filter, threads ? "MpiThreads.*" : "-MpiThreads.*");
    testing::InitGoogleMock(&argc, argv);

    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != 0)
    {
        testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
        delete listeners.Release(listeners.default_result_printer());
        listeners.Append(new inSitu::Failures(rank));
    }

    // Dies after MPI has ended, as objects may
    const auto last = std::make_unique<inSitu::MpiComm>(MPI_COMM_WORLD);
    const auto exchange = last->exchange({{rank, 8, 8}});

    const int code = RUN_ALL_TESTS();
    MPI_Finalize();
    return code;
}
