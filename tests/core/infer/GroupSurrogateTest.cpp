// SPDX-License-Identifier: GPL-3.0-or-later
#include "infer/GroupSurrogate.hpp"

#include "LambdaSurrogate.hpp"
#include "ThreadComm.hpp"
#include "WavePart.hpp"

#include <gmock/gmock.h>

#include <type_traits>

namespace inSitu
{
namespace
{

//- Of cells, then faces, by their names
template<class Value>
std::vector<Value> inputOf(const MeshState& mesh, double time)
{
    std::vector<Value> input;
    for (const bool faces : {false, true})
    {
        for (const std::int64_t name : faces ? mesh.names()->faces : mesh.names()->cells)
        {
            const double first = (faces ? -2.5 : 1.25)*name;
            input.insert(input.end(), {Value(first), Value(first*time), Value(name + 3*time)});
        }
    }
    return input;
}


//- By the receiver's name and the way
template<class Value>
std::vector<Value> edgesOf(const MeshState& mesh, double time)
{
    const std::vector<double> features = edgeFeatures(*mesh.graph, *mesh.geometry);
    const std::size_t width = mesh.geometry->nEdgeFeatures();
    std::vector<Value> edges;
    for (std::int32_t e = 0; e < mesh.graph->nEdges(); ++e)
    {
        const double name = static_cast<double>(mesh.names()->cells[mesh.graph->receivers()[e]]);
        edges.insert(edges.end(), {Value(0.5*name + time),
            Value(features[width*e] + 3*features[width*e + 1])});
    }
    return edges;
}


ModelCard card()
{
    const TrainingCase theCase = WaveCase().theCase();
    ModelCard card;
    card.inputs = theCase.fields;
    card.targets = {theCase.fields[0]};
    card.edgeInputs = {{"w", "surfaceVectorField", 3, {0, 1}, {"wx", "wy"}, {}}};
    card.features = {"deltaT"};
    return card;
}


template<class Value>
void predictTogether(int trainers)
{
    onRanks(4, [trainers](Comm& comm)
    {
        WavePart host(WaveCase(7, 6), raggedRanks(42, 4), comm);
        const auto group = std::make_shared<RankGroup>(borrowed(comm), trainers);
        double time = 0;
        int nCalls = 0;
        const auto expectRows = [](const auto& slot, const std::vector<Value>& values)
        {
            const auto* got = static_cast<const Value*>(slot.get());
            for (std::size_t i = 0; i < values.size(); ++i)
            {
                ASSERT_NEAR(got[i], values[i], 1e-6*(1 + std::abs(values[i]))) << i;
            }
        };
        GroupSurrogate surrogate(std::make_unique<LambdaSurrogate>(card(),
            std::vector<double>{0.5, 1.5, 2.5},
            [&](const Sample& sample, Span<double> prediction)
            {
                ++nCalls;
                const MeshState& mesh = sample.mesh;
                EXPECT_EQ(mesh.graph->halo()->neighbours.size(), trainers - 1u);
                EXPECT_EQ(sample.features, std::vector<double>{0.25});
                expectRows(sample.input, inputOf<Value>(mesh, time));
                expectRows(sample.edges, edgesOf<Value>(mesh, time));
                ASSERT_EQ(prediction.size(), 2*mesh.names()->cells.size());
                for (std::size_t i = 0; i < prediction.size(); ++i)
                {
                    prediction[i] = 100.0*mesh.names()->cells[i/2] + i % 2 + time;
                }
            },
            std::is_same_v<Value, float> ? Precision::float32 : Precision::float64), group);
        EXPECT_EQ(surrogate.handlesHalo(), trainers == 1);
        EXPECT_EQ(surrogate.inputReference(), (std::vector<double>{0.5, 1.5, 2.5}));

        for (time = 0.5; time < 3; ++time)
        {
            host.whole().move(time);
            const MeshState mesh = host.mesh().state;
            std::vector<Value> input = inputOf<Value>(mesh, time);
            std::vector<Value> edges = edgesOf<Value>(mesh, time);
            Sample sample;
            sample.mesh = mesh;
            sample.features = {0.25};
            sample.input = {std::shared_ptr<void>(), input.data()};
            sample.edges = {std::shared_ptr<void>(), edges.data()};
            std::vector<double> prediction(2*mesh.graph->nCells());
            surrogate.predict(sample, Span<double>(prediction));
            for (std::size_t i = 0; i < prediction.size(); ++i)
            {
                EXPECT_EQ(prediction[i], 100.0*host.cells()[i/2] + i % 2 + time);
            }
        }
        EXPECT_EQ(nCalls, group->trains() ? 3 : 0);
    });
}

}


TEST(GroupSurrogate, PredictsOnTheUnitedMesh)
{
    predictTogether<double>(1);
    predictTogether<double>(2);
}


TEST(GroupSurrogate, PredictsInTheNetworksPrecision)
{
    predictTogether<float>(2);
}

}
