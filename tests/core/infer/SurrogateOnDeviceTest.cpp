// SPDX-License-Identifier: GPL-3.0-or-later
#include "infer/NetworkSurrogate.hpp"

#include "FakeDevice.hpp"
#include "SurrogateCase.hpp"

#include <gtest/gtest.h>

// A surrogate on a device that is the CPU and does nothing before it must

using namespace inSitu;

namespace
{

struct SurrogateOnDevice : testing::Test
{
    std::unique_ptr<NetworkSurrogate> make(bool there)
    {
        SurrogateScales scales;
        scales.input.nodes = c.content.input;
        scales.input.mesh = c.data.meshScales();
        scales.target = c.content.target;
        scales.inputReference = c.content.inputReference;
        scales.targetReference = c.content.targetReference;
        auto surrogate = std::make_unique<NetworkSurrogate>(c.card,
            SurrogateCase::options().build({8, 3, 2}, Precision::float32, 11, c.pool), scales,
            c.pool, [](const std::string&, const std::string&, double) {});
        const std::string device = surrogate->useDevice(there ? "auto" : "cpu",
            std::make_shared<SerialComm>(),
            [this](const std::string& text) { notes.push_back(text); }, fake);
        EXPECT_EQ(device, there ? "cuda:0 (fake)" : "cpu");
        return surrogate;
    }

    std::vector<double> predict(Surrogate& surrogate, const MeshState& mesh, int k)
    {
        Sample sample = c.data.sample(k);
        sample.mesh = mesh;
        std::vector<double> prediction(static_cast<std::size_t>(2*c.data.nCells()));
        surrogate.predict(sample, Span<double>(prediction));
        return prediction;
    }

    SurrogateCase c;
    std::shared_ptr<FakeDevice> fake = std::make_shared<FakeDevice>();
    std::vector<std::string> notes;
};

}


TEST_F(SurrogateOnDevice, PredictsAsOnTheHost)
{
    const auto here = make(false);
    const auto there = make(true);
    for (int k = 0; k < 8; ++k)
    {
        EXPECT_EQ(predict(*there, c.data.mesh, k), predict(*here, c.data.mesh, k)) << k;
    }
    EXPECT_EQ(fake->queue->nRecords, 1);
    EXPECT_TRUE(notes.empty());
}


TEST_F(SurrogateOnDevice, FollowsNewWeightsAndPoints)
{
    const auto here = make(false);
    const auto there = make(true);
    MeshState mesh = c.data.mesh;
    for (int k = 0; k < 24; ++k)
    {
        if (k % 6 == 5)
        {
            auto geometry = std::make_shared<MeshGeometry>(*mesh.geometry);
            for (double& x : geometry->centres)
            {
                x *= 1.1 + 0.01*(k % 4);
            }
            mesh.geometry = geometry;
        }
        if (k % 10 == 9)
        {
            const auto next = SurrogateCase::options().build({8, 3, 2}, Precision::float32, k, c.pool);
            for (NetworkSurrogate* surrogate : {here.get(), there.get()})
            {
                SurrogateScales scales;
                scales.input.nodes = c.content.input;
                scales.input.mesh = c.data.meshScales();
                scales.target = c.content.target;
                scales.inputReference = c.content.inputReference;
                scales.targetReference = c.content.targetReference;
                surrogate->update(*next, scales, c.card);
            }
        }
        EXPECT_EQ(predict(*there, mesh, k), predict(*here, mesh, k)) << k;
    }
    EXPECT_GT(fake->queue->nRecords, 1);
}


TEST_F(SurrogateOnDevice, ScriptsStayOnTheHost)
{
    const TemporaryFolder folder;
    c.write(folder);
    const auto network = c.load(folder / "model.pt");
    const auto comm = std::make_shared<SerialComm>();
    EXPECT_EQ(network->useDevice("cpu", comm, {}), "cpu");
    EXPECT_EQ(network->useDevice("auto", comm, {}).rfind("cpu (", 0), 0u);
    EXPECT_ANY_THROW(network->useDevice("cuda", comm, {}));
}
