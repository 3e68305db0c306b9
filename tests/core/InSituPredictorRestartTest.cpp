// SPDX-License-Identifier: GPL-3.0-or-later
#include "InSituPredictor.hpp"

#include "base/agree.hpp"
#include "infer/Inspection.hpp"
#include "infer/Rollout.hpp"
#include "ThreadComm.hpp"
#include "TrainerFixture.hpp"
#include "WavePart.hpp"

#include <gmock/gmock.h>

#include <mutex>

// A rollout over several ranks that stops and goes on

using testing::HasSubstr;
using testing::ThrowsMessage;

namespace inSitu
{
namespace
{

class InSituPredictorRestart : public InSituTrainerTest
{
protected:

    void SetUp() override
    {
        InSituTrainerTest::SetUp();
        WaveCase host(7, 6);
        auto trainer = make(base + training + "  precision: float64\n", host, "a");
        run(*trainer, host, 1, 13);
        write(*trainer, 13);
    }

    struct Where
    {
        int nRanks;
        int shift = 0;                  //!< of the decomposition
        bool named = true;
        WaveCase whole = WaveCase(7, 6);
    };

    //- Calls body on each rank with a predictor
    void onParts(const Where& where,
        const std::function<void(InSituPredictor&, WavePart&)>& body) const
    {
        onRanks(where.nRanks, [&](Comm& comm)
        {
            FaceMesh::Indices ranks;
            for (int cell = 0; cell < where.whole.nCells(); ++cell)
            {
                ranks.push_back((cell/5 + where.shift) % where.nRanks);
            }
            WavePart host(where.whole, ranks, comm);
            if (!where.named)
            {
                host.forgetNames();
            }
            InSituPredictor predictor(block("model: stable/model.pt\nmode: rollout\nnThreads: 1\n"),
                "reader", top, {}, borrowed(comm), std::make_shared<CollectingLog>());
            TrainingCase theCase = host.theCase();
            theCase.outputFolder = theCase.stableFolder = top + "/reader";
            predictor.begin(theCase, host.mesh());
            body(predictor, host);
        });
    }

    //- Leaves a rollout in the middle of its second step; moved: its input lies on the mesh before
    void leaveOn(const Where& where, bool moved = false) const
    {
        onParts(where, [this, moved](InSituPredictor& predictor, WavePart& host)
        {
            Rollout& rollout = predictor.rollout();
            rollout.begin(host.fields(time(12)));
            rollout.feed(now(12), host.fields(time(12)));
            rollout.tick(now(13));
            EXPECT_TRUE(rollout.tick(now(14)));
            rollout.advance(now(14));
            rollout.feed(now(14), host.fields(time(13.6)));
            EXPECT_FALSE(rollout.tick(now(15)));
            if (moved)
            {
                host.whole().move(0.3);
                predictor.setGeometry(host.mesh());
            }
            predictor.write(top + "/r");
        });
    }

    //- What it comes to afterwards, by cells of the whole mesh, and its measure
    std::vector<double> goOnOn(const Where& where) const
    {
        std::mutex mutex;
        std::vector<double> result(3*42 + 1);
        onParts(where, [&](InSituPredictor& predictor, WavePart& host)
        {
            predictor.resume(top + "/r");
            Rollout& rollout = predictor.rollout();
            EXPECT_EQ(rollout.step(), 1);
            EXPECT_TRUE(rollout.tick(now(16)));
            const Span<const double> values = rollout.advance(now(16));
            predictor.note(now(16), host.fields(time(16)));
            const std::lock_guard<std::mutex> lock(mutex);
            for (std::size_t i = 0; i < values.size(); ++i)
            {
                result[3*host.cells()[i/3] + i % 3] = values[i];
            }
        });
        std::istringstream row(contents(top + "/reader/rollout.dat"));
        std::string line;
        while (std::getline(row, line) && line[0] == '#')
        {}
        std::istringstream words(line.substr(line.find('\t', line.find('\t') + 1)));
        words >> result.back();
        fs::remove_all(top + "/reader");
        return result;
    }

    static double time(double step) { return 0.1*step; }
};

}


TEST_F(InSituPredictorRestart, GoesOnOnTheSameOrOtherRanks)
{
    leaveOn({1});
    const std::vector<double> expected = goOnOn({1});
    EXPECT_GT(expected.back(), 0);
    for (const auto& [before, after] : std::vector<std::pair<Where, Where>>
        {{{2}, {2}}, {{3}, {2}}, {{2}, {2, 1}}, {{1}, {3}}, {{3}, {1}}})
    {
        leaveOn(before);
        EXPECT_EQ(fs::exists(top + "/r/rank1.h5"), before.nRanks > 1);
        const std::vector<double> found = goOnOn(after);
        for (std::size_t i = 0; i < expected.size(); ++i)
        {
            ASSERT_NEAR(found[i], expected[i], 1e-11*std::max(std::abs(expected[i]), 1.0))
                << before.nRanks << " to " << after.nRanks << ", " << i;
        }
    }

    const Inspection inspection = inspect(top + "/r");
    EXPECT_TRUE(inspection.good()) << inspection.text(false);
    EXPECT_THAT(inspection.text(false), HasSubstr("ranks: 3"));
}


TEST_F(InSituPredictorRestart, WhereRowsCannotBeToldItSaysSoOnAllRanks)
{
    leaveOn({2});
    const auto goesOnOn = [this](const Where& where) { return [=] { goOnOn(where); }; };
    EXPECT_THAT(goesOnOn({3, 0, false}), ThrowsMessage<Error>(testing::AllOf(
        HasSubstr("cannot go on: it was saved on 2 ranks with other rows"),
        HasSubstr("It starts anew without that folder"))));
    EXPECT_THAT(goesOnOn({2, 0, true, WaveCase(6, 7)}),
        ThrowsMessage<Error>(HasSubstr("its mesh is another one")));

    leaveOn({2}, true);
    goOnOn({2});
    EXPECT_THAT(goesOnOn({3}),
        ThrowsMessage<Error>(HasSubstr("values on a mesh that has moved or changed")));

    fs::resize_file(top + "/r/rank1.h5", 100);
    EXPECT_THAT(goesOnOn({2}), ThrowsMessage<Error>(HasSubstr("rank1.h5 has 100 bytes")));
}

}
