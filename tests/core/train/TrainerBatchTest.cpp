// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/Trainer.hpp"

#include "TrainCase.hpp"
#include "train/BatchAssembler.hpp"

#include <gmock/gmock.h>

#include <cmath>

using namespace inSitu;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

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
        const double raw = (*data.mesh.staticFeatures)[wallRow*5 + c];
        const double scale = c == 3 ? data.meshScales().edgeLength : c == 4 ? 0.03125 : 1;
        EXPECT_EQ(value(seen.nodes, 1, wallRow, 3 + c), raw/scale);
    }
    EXPECT_NE(value(seen.nodes, 1, wallRow, 3 + 3), 0);
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


TEST(TrainerBatch, IncrementsUndoTheNoiseOfTheInputThatTheyStartFrom)
{
    const Case data;
    const Normaliser scales = data.normaliser();
    Seen clean, noisy;
    TrainerLayout layout = data.layout();
    TrainerBench cleanBench(probeConfig(clean), layout);
    cleanBench.trainer.step({data.sample(4)}, scales);

    // Target 0 is the field of input 2, target 1 is no input
    layout.noise = 0.25;
    layout.inputOfTarget = {2, -1};
    TrainerBench noisyBench(probeConfig(noisy), layout);
    const double loss = noisyBench.trainer.step({data.sample(4)}, scales).loss;

    const at::Tensor noise = noisy.nodes - clean.nodes;
    const Scaling input = scales.input();
    const Scaling target = scales.target();
    double expected = 0;
    for (std::int64_t i = 0; i < data.nCells(); ++i)
    {
        for (int c = 0; c < 2; ++c)
        {
            const double undone =
                c == 0 ? value(noise, 0, i, 2)*input.scale[2]/target.scale[0] : 0;
            const double wanted =
                (Case::target(4, i, c) - target.shift[c])/target.scale[c] - undone;
            expected += std::pow(0.7*(c + 1) - wanted, 2)/(2*data.nCells());
        }
    }
    EXPECT_NEAR(loss, expected, 1e-12*expected);
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
    const auto mask = std::make_shared<std::vector<double>>();
    double expected = 0;
    double sum = 0;
    const Normaliser scales = data.normaliser();
    const Scaling scaling = scales.target();
    for (std::int64_t i = 0; i < data.nCells(); ++i)
    {
        geometry->cellVolumes[i] = 0.5 + 0.1*i;
        mask->push_back(i % 3 == 1);
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
    data.mesh.cellMask = mask;
    Seen seen;
    TrainerBench bench(probeConfig(seen, {{"loss.weights", "volume"}}), data.layout());

    EXPECT_NEAR(bench.trainer.step({data.sample(6)}, scales).loss, expected/sum, 1e-13);
}


TEST(TrainerBatch, AZoneThatIsEmptyOrOfAnotherSizeIsRefused)
{
    Case data;
    const Normaliser scales = data.normaliser();
    const auto complaint = [&](std::size_t size, double value)
    {
        data.mesh.cellMask = std::make_shared<std::vector<double>>(size, value);
        Seen seen;
        TrainerBench bench(probeConfig(seen), data.layout());
        try
        {
            bench.trainer.step({data.sample(0)}, scales);
        }
        catch (const Error& error)
        {
            return std::string(error.what());
        }
        return std::string("accepted");
    };

    EXPECT_THAT(complaint(data.nCells(), 0), HasSubstr("cellZone"));
    EXPECT_THAT(complaint(data.nCells() - 1, 1), HasSubstr("30 cells, but there are 29"));
}


TEST(TrainerBatch, ABatchOverSeveralMeshesIsTheMeanOverItsSamples)
{
    const Case data;
    const Case larger(9, 4);
    const Normaliser scales = data.normaliser();
    const std::vector<std::pair<std::string, std::string>> entries
        {{"precision", "float64"}, {"model.type", "meshGraphNet"}, {"model.processorSize", "2"},
         {"model.hiddenSize", "8"}, {"optimizer.type", "sgd"}, {"optimizer.learningRate", "0.25"}};
    const auto learn = [&](const std::vector<Sample>& batch)
    {
        TrainerBench bench(trainingConfig(entries), data.layout());
        const at::Tensor before = bench.weights().clone();
        const double loss = bench.trainer.step(batch, scales).loss;
        return std::make_pair(loss, bench.weights() - before);
    };

    const Sample a = data.sample(4), b = larger.sample(2), c = data.sample(7);
    const auto together = learn({a, b, c});

    double loss = 0;
    at::Tensor change = at::zeros_like(together.second);
    for (const Sample& sample : {a, b, c})
    {
        const auto alone = learn({sample});
        loss += alone.first/3;
        change += alone.second/3;
    }
    EXPECT_NEAR(together.first, loss, 1e-14);
    EXPECT_LT((together.second - change).norm().item<double>(),
        1e-14*change.norm().item<double>() + 1e-15);
    EXPECT_GT(change.norm().item<double>(), 1e-3);
}


TEST(TrainerBatch, AFeatureIsOneMoreColumnInAllRows)
{
    const Case data;
    Normaliser scales({3, 2, 1, true, {0, 1}, {0, 0, 1}}, 100, {});
    const std::vector<double> inputs{1, 2, 3, 2, 4, 7}, targets{1, 2, 3, 5};
    for (const double deltaT : {0.25, 0.75})
    {
        scales.add(Span<const double>(inputs), Span<const double>(targets),
            Span<const double>(targets), 2, Span<const double>(&deltaT, 1), SerialComm());
    }
    TrainerLayout layout = data.layout();
    layout.nFeatures = 1;
    layout.shape.nNodeFeatures += 1;
    Seen seen;
    TrainerBench bench(probeConfig(seen), layout);
    Sample first = data.sample(0), second = data.sample(1);
    first.features = {0.625};
    second.features = {0.5};

    bench.trainer.step({first, second}, scales);

    // mean 0.5, deviation 0.25
    EXPECT_TRUE(at::equal(seen.nodes[0].select(1, 3), at::full({data.nNodes()}, 0.5, at::kDouble)));
    EXPECT_TRUE(at::equal(seen.nodes[1].select(1, 3), at::zeros({data.nNodes()}, at::kDouble)));
    EXPECT_EQ(value(seen.nodes, 1, data.nCells() + 2, 4 + 1),
        (*data.mesh.staticFeatures)[(data.nCells() + 2)*5 + 1]);
}


TEST(TrainerBatch, EdgeInputsAreDividedAndPassedSampleBySample)
{
    const Case data;
    const auto nEdges = static_cast<std::size_t>(data.mesh.graph->nEdges());
    const auto value = [](int k, std::size_t edge, int c) { return 0.1*k + 0.3*edge - 2.0*c; };
    const auto sample = [&](int k)
    {
        std::vector<double> edges;
        for (std::size_t edge = 0; edge < nEdges; ++edge)
        {
            edges.insert(edges.end(), {value(k, edge, 0), value(k, edge, 1)});
        }
        Sample result = data.sample(k);
        result.edges = slotOf(std::move(edges));
        return result;
    };

    ThreadPool pool(2);
    BatchAssembler assembler
        ({3, 0, data.layout().staticColumns, 2, Precision::float64, 2}, pool, {});
    InputScales scales = data.normaliser().inputScales();
    scales.edges = {0.5, 4};
    const std::vector<double> fixed = edgeFeatures(*data.mesh.graph, *data.mesh.geometry);
    for (const int k : {3, 8})
    {
        const GraphBatch batch = assembler.inputs({sample(k)}, scales);
        EXPECT_TRUE(batch.edgesVary);
        ASSERT_EQ(batch.edges.sizes(), (std::vector<std::int64_t>{(int)nEdges, 5}));
        EXPECT_EQ(batch.edges[17][3].item<double>(), value(k, 17, 0)/0.5);
        EXPECT_EQ(batch.edges[17][4].item<double>(), value(k, 17, 1)/4);
        EXPECT_EQ(batch.edges[17][1].item<double>(), fixed[17*3 + 1]/scales.mesh.edgeLength);
        EXPECT_EQ(assembler.firstStaleEntry(), "");
    }
    EXPECT_THAT([&] { assembler.inputs(std::vector<Sample>{sample(1), sample(2)}, scales); },
        ThrowsMessage<Error>(HasSubstr("one by one")));
    EXPECT_THAT([&] { assembler.inputs({data.sample(1)}, scales); },
        ThrowsMessage<Error>(HasSubstr("without values on edges")));

    // A batch of the trainer is the mean over its samples
    Normaliser counted({3, 2, 0, true, {0, 1}, {0, 0, 1}, {0, 0}}, 100, {});
    counted.setMeshScales(data.meshScales());
    const Sample first = sample(2);
    const std::vector<double> values(2*static_cast<std::size_t>(data.nCells()), 0.5);
    counted.add<double>({static_cast<const double*>(first.input.get()),
        3*static_cast<std::size_t>(data.nCells())}, Span<const double>(values),
        Span<const double>(values), data.nCells(), {}, SerialComm(),
        {static_cast<const double*>(first.edges.get()), 2*nEdges});
    TrainerLayout layout = data.layout();
    layout.nEdgeInputs = 2;
    layout.shape.nEdgeFeatures += 2;
    const auto loss = [&](const std::vector<Sample>& batch)
    {
        TrainerBench bench(trainingConfig({{"precision", "float64"},
            {"model.type", "meshGraphNet"}, {"model.processorSize", "1"},
            {"model.hiddenSize", "8"}}), layout);
        return bench.trainer.step(batch, counted).loss;
    };
    const double together = loss({sample(4), sample(6)});
    EXPECT_NEAR(together, (loss({sample(4)}) + loss({sample(6)}))/2, 1e-12*together);
    EXPECT_NE(loss({sample(4)}), loss({sample(6)}));
}


TEST(TrainerBatch, TensorsAreReusedOnOneMeshAndMadeAgainOnAnother)
{
    const Case data;
    const Case other;
    const Normaliser scales = data.normaliser();
    ThreadPool pool(1);
    std::vector<std::string> built;
    BatchAssembler assembler({3, 0, data.layout().staticColumns, 2, Precision::float64}, pool,
        [&](const std::string& cache, const std::string& reason, double)
        {
            built.push_back(cache + ' ' + reason);
        });

    const GraphBatch first = assembler.inputs(std::vector<Sample>{data.sample(0), data.sample(1)}, scales.inputScales());
    const GraphBatch single = assembler.inputs({data.sample(2)}, scales.inputScales());
    const GraphBatch second = assembler.inputs(std::vector<Sample>{data.sample(3), data.sample(4)}, scales.inputScales());
    EXPECT_EQ(second.nodes.data_ptr(), first.nodes.data_ptr());
    EXPECT_EQ(second.edges.data_ptr(), first.edges.data_ptr());
    EXPECT_EQ(single.edges.data_ptr(), first.edges.data_ptr());
    EXPECT_THAT(built,
        ElementsAre("batchNodeFeatures start", "edgeFeatures start", "nodeFeatures start"));

    const GraphBatch moved = assembler.inputs(std::vector<Sample>{other.sample(3), other.sample(4)}, scales.inputScales());
    EXPECT_NE(moved.edges.data_ptr(), first.edges.data_ptr());
    EXPECT_EQ(moved.graph, other.mesh.graph);
    EXPECT_THAT(std::vector<std::string>(built.begin() + 3, built.end()),
        ElementsAre("batchNodeFeatures topology", "edgeFeatures topology"));

    EXPECT_THAT([&] { assembler.inputs(std::vector<Sample>{data.sample(0), other.sample(1)}, scales.inputScales()); },
        ThrowsMessage<Error>(HasSubstr("different meshes")));
}


TEST(TrainerBatch, MotionRefreshesEdgesAloneAndKeepsThoseOfEachSample)
{
    const Case data;
    const Normaliser scales = data.normaliser();
    ThreadPool pool(1);
    std::vector<std::string> built;
    BatchAssembler assembler({3, 0, data.layout().staticColumns, 2, Precision::float64}, pool,
        [&](const std::string& cache, const std::string& reason, double)
        {
            built.push_back(cache + ' ' + reason);
        });
    Sample before = data.sample(0), after = data.sample(1);
    const auto geometry = std::make_shared<MeshGeometry>(*data.mesh.geometry);
    geometry->centres[3*7] += 0.0625;
    after.mesh.geometry = geometry;

    const at::Tensor still = assembler.inputs({before}, scales.inputScales()).edges.clone();
    const at::Tensor moved = assembler.inputs({after}, scales.inputScales()).edges.clone();
    const at::Tensor again = assembler.inputs({before}, scales.inputScales()).edges.clone();

    EXPECT_TRUE(at::equal(still, again));
    EXPECT_FALSE(at::equal(still, moved));
    EXPECT_THAT(built, ElementsAre("nodeFeatures start", "edgeFeatures start",
        "edgeFeatures geometry", "edgeFeatures geometry"));
    EXPECT_EQ(assembler.firstStaleEntry(), "");
}


TEST(TrainerBatch, AStaleCacheIsFoundAndNamed)
{
    const Case data;
    const Normaliser scales = data.normaliser();
    Seen seen;
    TrainerBench bench(probeConfig(seen, {{"loss.weights", "volume"}}), data.layout());
    bench.trainer.step({data.sample(0)}, scales);
    EXPECT_EQ(bench.trainer.firstStaleEntry(), "");

    auto& features = const_cast<std::vector<float>&>(*data.mesh.staticFeatures);
    features[5*3 + 1] += 0.25f;
    EXPECT_THAT(bench.trainer.firstStaleEntry(), HasSubstr("nodeFeatures: entry 0 3 1 is"));
    features[5*3 + 1] -= 0.25f;

    auto& geometry = const_cast<MeshGeometry&>(*data.mesh.geometry);
    geometry.centres[3*4] += 0.5;
    EXPECT_THAT(bench.trainer.firstStaleEntry(), HasSubstr("edgeFeatures: entry"));
    geometry.centres[3*4] -= 0.5;
    geometry.cellVolumes[11] *= 2;
    EXPECT_THAT(bench.trainer.firstStaleEntry(), HasSubstr("lossWeights: weight of cell 11"));
}
