// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/Trainer.hpp"

#include "TrainCase.hpp"
#include "io/Hdf5File.hpp"
#include "model/GraphBatch.hpp"
#include "model/Model.hpp"
#include "oracles.hpp"

#include <gtest/gtest.h>

using namespace inSitu;

namespace
{

template<class T>
std::vector<T> part(const std::vector<T>& values, std::size_t index, std::size_t count)
{
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(index*values.size()/count);
    return {first, first + static_cast<std::ptrdiff_t>(values.size()/count)};
}


//- The snapshots of the oracle, normalised there: scales are one here
std::vector<Sample> samplesOf(const StateTree& file, const MeshState& mesh, std::size_t count)
{
    std::vector<Sample> samples(count);
    for (std::size_t i = 0; i < count; ++i)
    {
        samples[i].mesh = mesh;
        samples[i].input = slotOf(part(file.get<double>("node_input"), i, count));
        samples[i].target = slotOf(part(file.get<double>("target"), i, count));
    }
    return samples;
}


MeshState meshOf(const StateTree& file)
{
    const std::vector<std::int64_t> index = file.get<std::int64_t>("edge_index");
    const std::size_t nEdges = index.size()/2;
    const std::vector<std::int32_t> senders(index.begin(), index.begin() + nEdges);
    const std::vector<std::int32_t> receivers(index.begin() + nEdges, index.end());
    const auto nNodes = file.getArray("node_input").shape[1];

    MeshState mesh;
    mesh.graph = std::make_shared<MeshGraph>(
        MeshGraph::fromEdges(static_cast<std::int32_t>(nNodes), senders, receivers));
    mesh.geometry = std::make_shared<MeshGeometry>(makeGeometry(*mesh.graph,
        std::vector<double>(3*nNodes), std::vector<double>(nNodes), {0, 1, 2}));
    return mesh;
}


//- Edge features as they stand in the file, normalised there in another way than by a length
at::Tensor edgesOf(const StateTree& file, const MeshGraph& graph)
{
    const std::vector<double> edges = file.get<double>("edge_input");
    std::vector<double> inOrder;
    for (const std::int32_t edge : graph.faceOf())
    {
        inOrder.insert(inOrder.end(), edges.begin() + 4*edge, edges.begin() + 4*edge + 4);
    }
    return at::tensor(inOrder, at::kDouble).reshape({graph.nEdges(), 4});
}


class WithEdges final : public Model
{
public:

    WithEdges(std::unique_ptr<Model> model, at::Tensor edges)
    :
        model_(std::move(model)),
        edges_(std::move(edges))
    {}

    at::Tensor forward(const GraphBatch& batch) override
    {
        return model_->forward({batch.graph, batch.nodes, edges_});
    }

    std::vector<at::Tensor> parameters() const override { return model_->parameters(); }

    std::vector<std::pair<std::string, at::Tensor>> namedTensors() const override
    {
        return model_->namedTensors();
    }

    void train(bool on) override { model_->train(on); }

    bool rescaleOutput(const std::vector<double>& factor, const std::vector<double>& shift) override
    {
        return model_->rescaleOutput(factor, shift);
    }

    std::string torchScript() const override { return model_->torchScript(); }

private:

    std::unique_ptr<Model> model_;
    at::Tensor edges_;
};


class WithEdgesOptions final : public ModelOptions
{
public:

    WithEdgesOptions(std::unique_ptr<ModelOptions> options, at::Tensor edges)
    :
        options_(std::move(options)),
        edges_(std::move(edges))
    {}

    void describe(Schema& schema) override { options_->describe(schema); }

    std::unique_ptr<Model> build(const ModelShape& shape, Precision precision,
        std::uint64_t seed, ThreadPool& pool) const override
    {
        return std::make_unique<WithEdges>(options_->build(shape, precision, seed, pool), edges_);
    }

private:

    std::unique_ptr<ModelOptions> options_;
    at::Tensor edges_;
};

}


TEST(TrainingTrajectory, AdamOnSnapshotsOfPyTorch)
{
    INSITU_NEEDS_ORACLE("training_adam.h5");
    const StateTree file = readHdf5(oracle("training_adam.h5"));
    const MeshState mesh = meshOf(file);
    const std::vector<Sample> samples = samplesOf(file, mesh, 5);
    const Normaliser identity({4, 3, 0, true, {0, 1, 2}, {0, 1, 2, 3}}, 100, {});

    TrainerLayout layout;
    layout.shape = {4, 4, 3};
    layout.nInputColumns = 4;
    std::ostringstream rate;
    rate << file.getDouble("learning_rate");
    TrainingConfig config = trainingConfig({{"precision", "float64"}, {"batchSize", "5"},
        {"model.type", "meshGraphNet"},
        {"model.processorSize", std::to_string(file.getInt("processor_size"))},
        {"model.hiddenSize", std::to_string(file.getInt("hidden"))},
        {"optimizer.type", "adam"}, {"optimizer.learningRate", rate.str()}});
    config.model = std::make_unique<WithEdgesOptions>(std::move(config.model),
        edgesOf(file, *mesh.graph));
    TrainerBench bench(config, layout);
    Trainer& trainer = bench.trainer;

    for (auto& [name, tensor] : trainer.model().namedTensors())
    {
        const std::vector<float> initial = file.get<float>("parameters_initial/" + name);
        at::Tensor(tensor).copy_(at::tensor(initial).reshape(tensor.sizes()));
    }
    const auto expectPredictions = [&](const char* name)
    {
        const std::vector<double> all = file.get<double>(name);
        for (std::size_t i = 0; i < samples.size(); ++i)
        {
            const std::vector<double> expected = part(all, i, samples.size());
            std::vector<double> values(expected.size());
            trainer.predict(samples[i], identity, Span<double>(values));
            EXPECT_LT(relativeDifference(values, expected), 1e-8) << name << ' ' << i;
        }
    };

    expectPredictions("prediction_before");
    const std::vector<double> loss = file.get<double>("loss");
    const std::vector<double> norm = file.get<double>("gradient_norm");
    for (std::size_t i = 0; i < loss.size(); ++i)
    {
        const Trainer::Step step = trainer.step(samples, identity);
        EXPECT_NEAR(step.loss, loss[i], 1e-9*loss[i]) << "step " << i;
        EXPECT_NEAR(step.gradientNorm, norm[i], 1e-9*norm[i]) << "step " << i;
    }
    expectPredictions("prediction_after");

    for (const auto& [name, tensor] : trainer.model().namedTensors())
    {
        const std::vector<double> expected = file.get<double>("parameters_final/" + name);
        const at::Tensor values = tensor.contiguous();
        const std::vector<double> found(values.data_ptr<double>(),
            values.data_ptr<double>() + values.numel());
        EXPECT_LT(relativeDifference(found, expected), 1e-8) << name;
    }
    const double lossAfter = file.getDouble("loss_after_last_step");
    EXPECT_NEAR(trainer.step(samples, identity).loss, lossAfter, 1e-9*lossAfter);
}
