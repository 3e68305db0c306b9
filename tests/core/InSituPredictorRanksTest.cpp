// SPDX-License-Identifier: GPL-3.0-or-later
#include "InSituPredictor.hpp"

#include "ThreadComm.hpp"
#include "TrainerFixture.hpp"
#include "WavePart.hpp"

#include <gmock/gmock.h>

// A comparison over several ranks, with the network on all of them or on some

using testing::HasSubstr;
using testing::StartsWith;
using testing::ThrowsMessage;

namespace inSitu
{
namespace
{

class InSituPredictorRanks : public InSituTrainerTest
{
protected:

    //- Leaves stable/model.pt, of a mesh on which edges have a weight or not
    void learn(bool weighted)
    {
        WaveCase host(7, 6);
        InSituTrainer trainer(block(base + training), "surrogate", top, {},
            std::make_shared<SerialComm>(), std::make_shared<CollectingLog>());
        TrainingCase theCase = host.theCase();
        theCase.outputFolder = top + "/a";
        theCase.stableFolder = top + "/stable";
        trainer.begin(theCase, weighted ? withWeights(host.mesh()) : host.mesh());
        run(trainer, host, 1, 12);
        write(trainer, 12);
    }

    //- As on a mesh with sliding interfaces
    static CaseMesh withWeights(CaseMesh mesh)
    {
        MeshGeometry geometry = *mesh.state.geometry;
        geometry.weighted = true;
        geometry.weights.assign(geometry.displacements.size()/3, 0.75);
        mesh.state.geometry = std::make_shared<MeshGeometry>(std::move(geometry));
        return mesh;
    }

    //- Calls body on three ranks with a predictor that has not begun
    void onParts(int trainers, const std::function<void(InSituPredictor&, TrainingCase, WavePart&,
        Comm&)>& body) const
    {
        onRanks(3, [&](Comm& comm)
        {
            WavePart host(WaveCase(7, 6), raggedRanks(42, 3), comm);
            InSituPredictor predictor(block("model: stable/model.pt\nnThreads: 1\ntrainerRanks: "
                + std::to_string(trainers) + '\n'), "reader", top, {}, borrowed(comm),
                std::make_shared<CollectingLog>());
            TrainingCase theCase = host.theCase();
            theCase.outputFolder = theCase.stableFolder = top + "/reader";
            body(predictor, theCase, host, comm);
        });
    }

    void compare(InSituPredictor& predictor, WavePart& host, int from, int to) const
    {
        for (int step = from; step <= to; ++step)
        {
            predictor.compare(now(step), host.fields(time(step)));
        }
    }
};

}


TEST_F(InSituPredictorRanks, WhatOneRankHasLostIsDroppedOnAll)
{
    learn(false);
    for (const int trainers : {0, 1, 2})
    {
        for (const bool lost : {false, true})
        {
            SCOPED_TRACE(std::to_string(trainers) + (lost ? " train, lost" : " train"));
            onParts(trainers, [&](InSituPredictor& predictor, TrainingCase theCase, WavePart& host,
                Comm& comm)
            {
                predictor.begin(theCase, host.mesh());
                compare(predictor, host, 1, 4);
                std::vector<PendingAccess::Pending> pending(predictor.nPending());
                ASSERT_EQ(pending.size(), 2u);
                for (std::size_t i = 0; i < pending.size(); ++i)
                {
                    predictor.getPending(i, pending[i]);
                }
                if (lost && comm.rank() == 2)
                {
                    pending.pop_back();
                }
                CaseMesh mesh = host.mesh();
                mesh.state.graph = std::make_shared<MeshGraph>(*mesh.state.graph);
                predictor.setTopology(mesh, pending);
                EXPECT_EQ(predictor.nPending(), lost ? 0u : 2u) << comm.rank();
                compare(predictor, host, 5, 5);
                EXPECT_EQ(predictor.prediction().size(), lost ? 0u : 3*host.cells().size());
                compare(predictor, host, 6, 7);
                EXPECT_EQ(predictor.prediction().size(), 3*host.cells().size());
                predictor.check();
                predictor.finish();
            });
            const std::string end = contents(top + "/reader/metrics.jsonl");
            EXPECT_EQ(end.find("\"mapped\":2") != std::string::npos, !lost) << end;
            EXPECT_EQ(end.find("\"topologyChange\":2") != std::string::npos, lost) << end;
            fs::remove_all(top + "/reader");
        }
    }
}


TEST_F(InSituPredictorRanks, ChecksTheMeshOfTheGroup)
{
    learn(false);
    onParts(1, [this](InSituPredictor& predictor, TrainingCase theCase, WavePart& host, Comm& comm)
    {
        CaseMesh mesh = host.mesh();
        const auto features = std::make_shared<std::vector<float>>(*mesh.state.staticFeatures);
        mesh.state.staticFeatures = features;
        predictor.begin(theCase, mesh);
        compare(predictor, host, 1, 4);
        EXPECT_NO_THROW(predictor.check());

        if (comm.rank() == 1)
        {
            (*features)[3] += 0.5f;
        }
        if (comm.isMaster())
        {
            EXPECT_THAT([&] { predictor.check(); }, ThrowsMessage<Error>(
                StartsWith("selfCheck: the mesh of the group is stale: static feature ")));
        }
        else
        {
            EXPECT_NO_THROW(predictor.check());
        }
    });
}


TEST_F(InSituPredictorRanks, RefusesSlidingInterfacesAtOnceUnlessTheNetworkIsOnAll)
{
    learn(true);
    for (const int trainers : {0, 1, 2})
    {
        onParts(trainers, [&](InSituPredictor& predictor, TrainingCase theCase, WavePart& host,
            Comm&)
        {
            const auto begin = [&] { predictor.begin(theCase, withWeights(host.mesh())); };
            if (trainers == 0)
            {
                EXPECT_NO_THROW(begin());
            }
            else
            {
                EXPECT_THAT(begin, ThrowsMessage<Error>(
                    HasSubstr("trainerRanks: on a mesh with sliding interfaces")));
            }
        });
    }
}

}
