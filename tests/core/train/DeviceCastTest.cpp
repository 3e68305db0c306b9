// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/Trainer.hpp"

#include "DeviceBench.hpp"

#include <gmock/gmock.h>

#include <algorithm>

// Batches that the device makes of rows as they were gathered, and rows that it keeps, against
// batches of the host

using namespace inSitu;
using testing::HasSubstr;

namespace
{

//- Samples of a TrainCase with two features, on edges with a column for each sign
template<class Value>
struct CastCase
{
    explicit CastCase(int nx = 6, int ny = 5, int nEdgeInputs = 0)
    :
        data(nx, ny),
        nEdges(nEdgeInputs)
    {}

    Sample sample(int k) const { return filled(data.sample(k), k); }

    Sample filled(Sample sample, int k) const
    {
        sample.features = {0.01*std::sin(0.3*k) + 0.02, 3 + 0.7*k};
        if (nEdges > 0)
        {
            std::vector<Value> values;
            for (std::int64_t e = 0; e < nEdges*sample.mesh.graph->nEdges(); ++e)
            {
                values.push_back(static_cast<Value>(std::sin(0.17*e + k)));
            }
            sample.edges = slotOf(std::move(values));
        }
        return sample;
    }

    Normaliser scales(int count) const
    {
        Normaliser result({3, 2, 2, true, {0, 1}, {0, 0, 1},
            std::vector<int>(static_cast<std::size_t>(nEdges), 0)}, 100, {});
        result.setMeshScales(data.meshScales());
        for (int k = 0; k < count; ++k)
        {
            const Sample added = sample(k);
            const auto values = [](const SlotPool::Handle& handle, std::int64_t n)
                { return Span<const Value>(static_cast<const Value*>(handle.get()),
                    static_cast<std::size_t>(n)); };
            const auto targets = values(added.target, 2*data.nCells());
            const std::vector<double> now(targets.begin(), targets.end());
            result.add<Value>(values(added.input, 3*data.nCells()), targets,
                Span<const double>(now), data.nCells(), Span<const double>(added.features),
                SerialComm(), values(added.edges, nEdges*data.mesh.graph->nEdges()));
        }
        return result;
    }

    TrainerLayout layout() const
    {
        TrainerLayout layout = data.layout();
        layout.nFeatures = 2;
        layout.shape.nNodeFeatures += 2;
        layout.nEdgeInputs = nEdges;
        layout.shape.nEdgeFeatures += nEdges;
        layout.noise = 0.1;
        layout.inputOfTarget = {1, -1};
        return layout;
    }

    TrainCase<Value> data;
    int nEdges;
};


TrainerLayout kept(TrainerLayout layout, std::size_t memory = 1 << 20)
{
    layout.buffer.location = "device";
    layout.buffer.memory = memory;
    return layout;
}


const Entries onDevice{{"castOn", "device"}};


template<class Value>
Entries entriesOf(const std::string& capture)
{
    return with(small, {{"precision", sizeof(Value) == 8 ? "float64" : "float32"},
        {"capture", capture}});
}


//- Two meshes in each batch of 3, scales that move, predictions in between
template<class Value>
void train(DeviceBench& bench, const CastCase<Value>& main, const CastCase<Value>& other,
    int first, int last)
{
    for (int k = first; k < last; ++k)
    {
        const Normaliser scales = main.scales(2 + k);
        bench.trainer.start({main.sample(k), other.sample(k + 4), main.sample(2*k + 1)}, scales);
        if (k % 3 == 1)
        {
            bench.prediction(main.sample(k), scales, main.data.nCells());
        }
    }
    bench.trainer.ended(true);
}


template<class Value>
void expectSameBits(const std::string& capture, int nEdgeInputs)
{
    const CastCase<Value> main(6, 5, nEdgeInputs), other(4, 7, nEdgeInputs);
    const Entries entries = entriesOf<Value>(capture);
    DeviceBench host(entries, main.layout());
    DeviceBench cast(with(entries, onDevice), main.layout());
    DeviceBench there(entries, kept(main.layout()));
    for (DeviceBench* bench : {&host, &cast, &there})
    {
        train(*bench, main, other, 0, 11);
        EXPECT_EQ(bench->device->queue->nRecords > 0, capture == "yes");
    }
    EXPECT_EQ(firstDifference(host.trainer.save(), cast.trainer.save()), "");
    EXPECT_EQ(firstDifference(host.trainer.save(), there.trainer.save()), "");

    EXPECT_EQ(host.device->nScalings, 0);
    EXPECT_GE(cast.device->nScalings, 2*2*11);
    EXPECT_FALSE(cast.trainer.keepsSamplesThere());
    EXPECT_TRUE(there.trainer.keepsSamplesThere());
    EXPECT_EQ(cast.trainer.firstStaleEntry(), "");
}

}


TEST(DeviceCast, MakesTheBatchesOfTheHostToTheBit)
{
    for (const std::string capture : {"no", "yes"})
    {
        expectSameBits<double>(capture, 0);
        expectSameBits<float>(capture, 0);
    }
}


TEST(DeviceCast, MakesThemWithValuesOnEdges)
{
    expectSameBits<float>("yes", 2);
    expectSameBits<double>("no", 1);
}


//- Rows that go in several pieces
TEST(DeviceCast, MakesThemOfLargeMeshes)
{
    const CastCase<float> data(160, 150);
    const Entries entries =
        with(entriesOf<float>("no"), {{"model.processorSize", "1"}, {"model.hiddenSize", "4"}});
    DeviceBench host(entries, data.layout());
    DeviceBench cast(with(entries, onDevice), data.layout());
    const Normaliser scales = data.scales(2);
    for (int k = 0; k < 3; ++k)
    {
        for (DeviceBench* bench : {&host, &cast})
        {
            bench->trainer.start({data.sample(k), data.sample(k + 7)}, scales);
        }
    }
    EXPECT_EQ(firstDifference(host.trainer.save(), cast.trainer.save()), "");
}


//- Static columns that change while the graph stays, and points that move
TEST(DeviceCast, FollowsWhatTheMeshKnows)
{
    CastCase<float> main, other(4, 7);
    const Entries entries = entriesOf<float>("yes");
    DeviceBench host(entries, main.layout());
    DeviceBench cast(with(entries, onDevice), main.layout());
    for (int round = 0; round < 3; ++round)
    {
        for (DeviceBench* bench : {&host, &cast})
        {
            train(*bench, main, other, 6*round, 6*round + 6);
        }
        auto statics = std::make_shared<std::vector<float>>(*main.data.mesh.staticFeatures);
        for (std::size_t i = 3; i < statics->size(); i += 5)
        {
            (*statics)[i] += 0.0625f*static_cast<float>(i % 11);
        }
        main.data.mesh.staticFeatures = statics;
        auto geometry = std::make_shared<MeshGeometry>(*main.data.mesh.geometry);
        main.data.mesh.geometry = geometry;
    }
    EXPECT_EQ(firstDifference(host.trainer.save(), cast.trainer.save()), "");
}


namespace
{

//- A buffer of samples as a run has it: the memory of one that has gone is used again, and names
//  come again. Draws are the same for the same number of calls.
template<class Value>
struct Supply
{
    explicit Supply(const CastCase<Value>& theCase)
    :
        data(theCase)
    {}

    void add(int k)
    {
        if (samples.size() == 5)
        {
            samples.erase(samples.begin());
        }
        Sample sample = data.sample(k);
        sample.id = k % 3;
        sample.input = pooled(inputs, sample.input);
        sample.target = pooled(targets, sample.target);
        samples.push_back(sample);
    }

    static SlotPool::Handle pooled(SlotPool& pool, const SlotPool::Handle& values)
    {
        SlotPool::Handle piece = pool.acquire();
        std::memcpy(piece.get(), values.get(), pool.bytes());
        return piece;
    }

    std::vector<Sample> draw(int k) const
    {
        return {samples.back(), samples[k % samples.size()], samples[7*k/3 % samples.size()]};
    }

    const CastCase<Value>& data;
    SlotPool inputs{sizeof(Value)*3*data.data.nNodes()};
    SlotPool targets{sizeof(Value)*2*data.data.nCells()};
    std::vector<Sample> samples;
};

}


TEST(DeviceLocation, IsTheHostsBufferToTheBit)
{
    const CastCase<float> data;
    const std::size_t bytes = sizeof(float)*(3*data.data.nNodes() + 2*data.data.nCells());
    for (const std::string capture : {"no", "yes"})
    {
        const Entries entries = entriesOf<float>(capture);
        std::vector<std::unique_ptr<DeviceBench>> benches;
        benches.push_back(std::make_unique<DeviceBench>(entries, data.layout()));

        // All, some, no more than a batch, less than that
        for (const std::size_t memory : {9*bytes, 4*bytes + 8, 3*bytes, bytes + bytes/2})
        {
            benches.push_back(
                std::make_unique<DeviceBench>(entries, kept(data.layout(), memory)));
        }
        for (const auto& bench : benches)
        {
            Supply<float> supply(data);
            for (int k = 0; k < 25; ++k)
            {
                supply.add(k);
                for (int i = 0; i < 2; ++i)
                {
                    bench->trainer.start(supply.draw(2*k + i), data.scales(3 + k/4));
                }
            }
            // Memory of samples that have gone is not held on to
            EXPECT_LE(supply.inputs.nAllocated(), 7);
            EXPECT_EQ(firstDifference(benches[0]->trainer.save(), bench->trainer.save()), "");
        }
    }
}


//- What is there is not sent again: its place on the host may be overwritten
TEST(DeviceLocation, ASampleIsSentOnce)
{
    const CastCase<double> data;
    const Entries entries = entriesOf<double>("yes");
    DeviceBench host(entries, data.layout());
    DeviceBench cast(with(entries, onDevice), data.layout());
    DeviceBench there(entries, kept(data.layout()));
    std::vector<StateTree> states;
    for (DeviceBench* bench : {&host, &cast, &there})
    {
        const bool spoils = bench != &host;
        std::vector<Sample> batch;
        for (int k = 0; k < 4; ++k)
        {
            batch.push_back(data.sample(k));
        }
        for (int step = 0; step < 7; ++step)
        {
            bench->trainer.start(batch, data.scales(4 + step));
            if (spoils && step == 2)
            {
                for (const Sample& sample : batch)
                {
                    std::fill_n(static_cast<double*>(sample.input.get()), 3, 1e3);
                    std::fill_n(static_cast<double*>(sample.target.get()), 2, -1e3);
                }
            }
        }
        states.push_back(bench->trainer.save());
    }
    EXPECT_EQ(firstDifference(states[0], states[2]), "");
    EXPECT_NE(firstDifference(states[0], states[1]), "");
}


//- Also while samples come and none is learnt
TEST(DeviceLocation, HoldsNoMemoryOfSamplesThatHaveGone)
{
    const CastCase<float> data;
    DeviceBench bench(entriesOf<float>("no"), kept(data.layout()));
    const Normaliser scales = data.scales(4);
    Supply<float> supply(data);
    for (int k = 0; k < 20; ++k)
    {
        supply.add(k);
        if (k < 9)
        {
            bench.trainer.start(supply.draw(k), scales);
        }
        bench.prediction(supply.samples.back(), scales, data.data.nCells());
    }
    EXPECT_LE(supply.inputs.nAllocated(), 7);
}


TEST(DeviceLocation, GoesOnBehindARestart)
{
    const CastCase<float> data;
    const CastCase<float> other(4, 7);
    const Entries entries = entriesOf<float>("yes");
    DeviceBench whole(entries, data.layout());
    DeviceBench first(entries, kept(data.layout()));
    DeviceBench second(entries, kept(data.layout()));
    train(whole, data, other, 0, 12);
    train(first, data, other, 0, 7);
    second.trainer.load(first.trainer.save());
    train(second, data, other, 7, 12);
    EXPECT_EQ(firstDifference(whole.trainer.save(), second.trainer.save()), "");
}


TEST(DeviceLocation, AutoKeepsWhatIsDrawnOftenAndFits)
{
    const CastCase<float> data;
    const auto keeps = [&](const std::string& location, const std::string& batchSize, double bytes,
        std::size_t memory)
    {
        TrainerLayout layout = data.layout();
        layout.buffer = {location, bytes, memory};
        DeviceBench bench(with(small, {{"batchSize", batchSize}}), layout);
        return bench.trainer.keepsSamplesThere();
    };
    const std::size_t free = FakeDevice().freeMemory;
    EXPECT_TRUE(keeps("auto", "4", free/10, free));
    EXPECT_FALSE(keeps("auto", "3", free/10, free));
    EXPECT_FALSE(keeps("auto", "4", free/10 + 1, free));
    EXPECT_TRUE(keeps("auto", "4", 1e30, free/11));
    EXPECT_TRUE(keeps("device", "1", 1e30, free));
    EXPECT_FALSE(keeps("host", "9", 1, free));

    TrainerLayout layout = data.layout();
    layout.buffer = {"auto", 1, free};
    const Entries entries = with(small, {{"device", "cpu"}, {"batchSize", "4"}});
    TrainerBench bench(trainingConfig(entries), layout);
    EXPECT_FALSE(bench.trainer.keepsSamplesThere());
}


TEST(DeviceLocation, WithoutAGpuTheRemedyIsTold)
{
    const CastCase<float> data;
    const auto fault = [&](const Entries& entries, const std::string& location)
    {
        TrainerLayout layout = data.layout();
        layout.devices = std::make_shared<FakeDevice>();
        std::static_pointer_cast<FakeDevice>(layout.devices)->nGpus = 0;
        layout.buffer.location = location;
        try
        {
            TrainerBench bench(trainingConfig(entries), layout);
        }
        catch (const Error& error)
        {
            return std::string(error.what());
        }
        return std::string("none");
    };
    EXPECT_THAT(fault({{"castOn", "device"}}, "auto"), AllOf(HasSubstr("castOn device is for GPUs"),
        HasSubstr("no GPU is visible"), HasSubstr("Remedy: castOn host")));
    EXPECT_THAT(fault({}, "device"), AllOf(HasSubstr("buffer.location device is for GPUs"),
        HasSubstr("location auto")));
    EXPECT_EQ(fault({}, "auto"), "none");
}
