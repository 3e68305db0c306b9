// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/Trainer.hpp"

#include "TrainCase.hpp"
#include "train/BatchAssembler.hpp"

#include <gmock/gmock.h>

using namespace inSitu;
using testing::HasSubstr;

// What the model gets and what becomes of its output, seen through a model that notes its
// batch and answers with its bias in every row.

namespace
{

using Case = TrainCase<double>;

struct Seen
{
    at::Tensor nodes;
    at::Tensor edges;
    bool training = false;
};


class Probe final : public Model
{
public:

    Probe(Seen& seen, int nOutputs)
    :
        seen_(seen),
        bias_(at::arange(1, nOutputs + 1, at::kDouble).mul_(0.7).requires_grad_())
    {}

    at::Tensor forward(const GraphBatch& batch) override
    {
        seen_.nodes = batch.nodes.clone();
        seen_.edges = batch.edges;
        return bias_.expand({batch.nodes.size(0), batch.nodes.size(1), bias_.size(0)});
    }

    std::vector<at::Tensor> parameters() const override { return {bias_}; }

    std::vector<std::pair<std::string, at::Tensor>> namedTensors() const override
    {
        return {{"bias", bias_.detach()}};
    }

    void train(bool on) override { seen_.training = on; }

    bool rescaleOutput(const std::vector<double>&, const std::vector<double>&) override
    {
        return false;
    }

    std::string torchScript() const override { return {}; }

private:

    Seen& seen_;
    at::Tensor bias_;
};


class ProbeOptions final : public ModelOptions
{
public:

    explicit ProbeOptions(Seen& seen)
    :
        seen_(seen)
    {}

    void describe(Schema&) override {}

    std::unique_ptr<Model> build(const ModelShape& shape, Precision, std::uint64_t,
        ThreadPool&) const override
    {
        return std::make_unique<Probe>(seen_, shape.nOutputs);
    }

private:

    Seen& seen_;
};


TrainingConfig probeConfig(Seen& seen,
    std::vector<std::pair<std::string, std::string>> entries = {})
{
    entries.emplace_back("precision", "float64");
    TrainingConfig config = trainingConfig(entries);
    config.model = std::make_unique<ProbeOptions>(seen);
    return config;
}


double value(const at::Tensor& tensor, std::int64_t i, std::int64_t j, std::int64_t k)
{
    return tensor[i][j][k].item<double>();
}

}


TEST(TrainerBatch, RowsAreNormalisedInputsAndStaticColumns)
{
    const Case data;
    const Normaliser scales = data.normaliser();
    Seen seen;
    TrainerBench bench(probeConfig(seen), data.layout());

    bench.trainer.step({data.sample(4), data.sample(11)}, scales);

    ASSERT_EQ(seen.nodes.sizes(), (std::vector<std::int64_t>{2, data.nNodes(), 8}));
    EXPECT_TRUE(seen.training);
    const Scaling scaling = scales.input();
    const std::int64_t wallRow = data.nCells() + 2;
    EXPECT_NEAR(value(seen.nodes, 0, 13, 1),
        (Case::input(4, 13, 1) - scaling.shift[1])/scaling.scale[1], 1e-14);
    EXPECT_NEAR(value(seen.nodes, 1, wallRow, 2),
        (Case::input(11, wallRow, 2) - scaling.shift[2])/scaling.scale[2], 1e-14);
    for (int c = 0; c < 5; ++c)
    {
        const float expected = (*data.mesh.staticFeatures)[wallRow*5 + c];
        EXPECT_EQ(value(seen.nodes, 1, wallRow, 3 + c), expected);
    }
    EXPECT_NEAR(seen.edges[17][1].item<double>(),
        edgeFeatures(*data.mesh.graph, *data.mesh.geometry)[17*3 + 1]
            /meanEdgeLength(*data.mesh.graph, *data.mesh.geometry), 1e-15);
}


TEST(TrainerBatch, NoiseIsOnInputsOfCellsInTrainingOnly)
{
    const Case data(29, 31);
    const Normaliser scales = data.normaliser();
    Seen clean, noisy;
    TrainerLayout layout = data.layout();
    TrainerBench cleanBench(probeConfig(clean), layout);
    layout.noise = 0.25;
    TrainerBench noisyBench(probeConfig(noisy), layout);

    cleanBench.trainer.step({data.sample(0)}, scales);
    noisyBench.trainer.step({data.sample(0)}, scales);
    const at::Tensor noise = noisy.nodes - clean.nodes;
    const at::Tensor onCells = noise.narrow(1, 0, data.nCells()).narrow(2, 0, 3);
    EXPECT_NEAR(onCells.std().item<double>(), 0.25, 0.01);
    EXPECT_NEAR(onCells.mean().item<double>(), 0, 0.02);
    EXPECT_NEAR(noise.norm().item<double>(), onCells.norm().item<double>(), 1e-10);

    noisyBench.trainer.step({data.sample(0)}, scales);
    EXPECT_GT(((noisy.nodes - clean.nodes) - noise).abs().max().item<double>(), 0.1);

    cleanBench.prediction(data.sample(3), scales, data.nCells());
    noisyBench.prediction(data.sample(3), scales, data.nCells());
    EXPECT_FALSE(noisy.training);
    EXPECT_TRUE(at::equal(noisy.nodes, clean.nodes));
}


TEST(TrainerBatch, PredictionIsPhysical)
{
    const Case data;
    const Normaliser scales = data.normaliser(3, 2, 0.4, false);
    Seen seen;
    TrainerBench bench(probeConfig(seen), data.layout());

    const auto prediction = bench.prediction(data.sample(3), scales, data.nCells());

    const Scaling scaling = scales.target();
    ASSERT_NE(scaling.shift[1], 0);
    EXPECT_NEAR(prediction[22], 0.7*scaling.scale[0] + scaling.shift[0], 1e-15);
    EXPECT_NEAR(prediction[59], 1.4*scaling.scale[1] + scaling.shift[1], 1e-15);
}


TEST(TrainerBatch, LossCountsCellsOfTheZoneByVolume)
{
    Case data;
    auto geometry = std::make_shared<MeshGeometry>(*data.mesh.geometry);
    TrainerLayout layout = data.layout();
    double expected = 0;
    double sum = 0;
    const Normaliser scales = data.normaliser();
    const Scaling scaling = scales.target();
    for (std::int64_t i = 0; i < data.nCells(); ++i)
    {
        geometry->cellVolumes[i] = 0.5 + 0.1*i;
        layout.cellMask.push_back(i % 3 == 1);
        const double weight = i % 3 == 1 ? 0.5 + 0.1*i : 0;
        sum += weight;
        for (int c = 0; c < 2; ++c)
        {
            const double target = (Case::target(6, i, c) - scaling.shift[c])/scaling.scale[c];
            const double d = 0.7*(c + 1) - target;
            expected += weight*d*d/2;
        }
    }
    data.mesh.geometry = geometry;
    Seen seen;
    TrainerBench bench(probeConfig(seen, {{"loss.weights", "volume"}}), layout);

    EXPECT_NEAR(bench.trainer.step({data.sample(6)}, scales).loss, expected/sum, 1e-13);
}


TEST(TrainerBatch, EmptyZoneAndMixedMeshesAreRefused)
{
    const Case data;
    const Normaliser scales = data.normaliser();
    const auto complaint = [&](TrainerLayout layout, const std::vector<Sample>& batch)
    {
        Seen seen;
        TrainerBench bench(probeConfig(seen), std::move(layout));
        try
        {
            bench.trainer.step(batch, scales);
        }
        catch (const Error& error)
        {
            return std::string(error.what());
        }
        return std::string("accepted");
    };

    TrainerLayout empty = data.layout();
    empty.cellMask.assign(data.nCells(), 0);
    EXPECT_THAT(complaint(empty, {data.sample(0)}), HasSubstr("cellZone"));
    TrainerLayout wrong = data.layout();
    wrong.cellMask.assign(data.nCells() - 1, 1);
    EXPECT_THAT(complaint(wrong, {data.sample(0)}), HasSubstr("30 cells, but there are 29"));
    EXPECT_THAT(complaint(data.layout(), {data.sample(0), Case().sample(1)}), HasSubstr("meshes"));
}


TEST(TrainerBatch, TensorsAreReusedOnOneMeshAndMadeAgainOnAnother)
{
    const Case data;
    const Case other;
    const Scaling scaling = data.normaliser().input();
    ThreadPool pool(1);
    BatchAssembler assembler(3, 5, 2, 0.4, Precision::float64, pool);

    const GraphBatch first = assembler.inputs({data.sample(0), data.sample(1)}, scaling);
    const GraphBatch single = assembler.inputs({data.sample(2)}, scaling);
    const GraphBatch second = assembler.inputs({data.sample(3), data.sample(4)}, scaling);
    EXPECT_EQ(second.nodes.data_ptr(), first.nodes.data_ptr());
    EXPECT_EQ(second.edges.data_ptr(), first.edges.data_ptr());
    EXPECT_EQ(single.edges.data_ptr(), first.edges.data_ptr());

    const GraphBatch moved = assembler.inputs({other.sample(3), other.sample(4)}, scaling);
    EXPECT_NE(moved.edges.data_ptr(), first.edges.data_ptr());
    EXPECT_EQ(moved.graph, other.mesh.graph);
}
