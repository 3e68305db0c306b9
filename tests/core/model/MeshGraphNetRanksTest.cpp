// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/Error.hpp"
#include "Hex.hpp"
#include "model/GraphBatch.hpp"
#include "model/Initialise.hpp"
#include "model/MeshGraphNet.hpp"
#include "SplitMesh.hpp"
#include "ThreadComm.hpp"
#include "WatchedComm.hpp"

#include <gmock/gmock.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/torch.h>

#include <cmath>
#include <functional>
#include <mutex>
#include <numeric>
#include <random>

// One network on a whole mesh, and on its parts

namespace inSitu
{
namespace
{

//- Boundary rows on four sides, coupled to itself in y
FaceMesh periodicBlock()
{
    const Hex hex(7, 5, 3);
    FaceMesh mesh;
    mesh.nCells = hex.nCells();
    mesh.owner = hex.owner;
    mesh.neighbour = hex.neighbour;
    for (const int side : {0, 1, 2, 3, 4, 5})
    {
        FaceMesh::Patch patch{hex.sides[side].firstFace, hex.sides[side].cells};
        if (side/2 == 1)
        {
            patch.neighbourCells = hex.sides[side ^ 1].cells;
            patch.neighbourFirstFace = hex.sides[side ^ 1].firstFace;
        }
        mesh.patches.push_back(patch);
    }
    return mesh;
}


//- Slabs of unequal thickness with a ragged border: some cells lie on the wrong side
FaceMesh::Indices raggedRanks(std::int32_t nCells, int nRanks)
{
    std::mt19937 random(31);
    FaceMesh::Indices ranks;
    for (std::int32_t cell = 0; cell < nCells; ++cell)
    {
        const std::int32_t slab = nRanks*cell*cell/(nCells*nCells);
        ranks.push_back(random() % 7 == 0 ? random() % nRanks : slab);
    }
    return ranks;
}


at::Tensor draw(at::IntArrayRef shape, at::ScalarType type, std::uint64_t seed)
{
    at::Generator generator = makeGenerator(seed);
    return at::randn(shape, generator, at::TensorOptions().dtype(at::kDouble)).to(type);
}


struct Numbers
{
    at::Tensor output;              // of cells and boundary faces
    at::Tensor parameters;          // gradients
    at::Tensor nodes;
    at::Tensor edges;
};


class MeshGraphNetRanks : public testing::TestWithParam<std::tuple<int, Precision, const char*>>
{
protected:

    MeshGraphNetRanks()
    {
        options.processorSize = 3;
        options.hiddenSize = 19;
        options.hiddenDimEdgeEncoder = 13;
        options.aggregation = std::get<2>(GetParam());
        type = precision() == Precision::float64 ? at::kDouble : at::kFloat;
        at::set_num_threads(1);

        nodes = draw({samples, whole.nNodes(), shape.nNodeFeatures}, type, 11);
        edges = draw({whole.nEdges(), shape.nEdgeFeatures}, type, 13);
        weight = draw({samples, whole.nNodes(), shape.nOutputs}, type, 17);
    }

    static int nRanks() { return std::get<0>(GetParam()); }
    static Precision precision() { return std::get<1>(GetParam()); }

    std::unique_ptr<Model> build(ThreadPool& pool) const
    {
        auto model = options.build(shape, precision(), 3, pool);
        at::NoGradGuard noGrad;
        at::Tensor flat = model->parameters()[0];
        flat.add_(draw({flat.numel()}, type, 5), 0.1);
        return model;
    }

    //- A loss with a gradient that is not constant
    Numbers passes(Model& model, const GraphBatch& batch, const at::Tensor& share) const
    {
        Numbers result;
        const at::Tensor in = batch.nodes.detach().clone().requires_grad_(true);
        const at::Tensor along = batch.edges.detach().clone().requires_grad_(true);
        result.output = model.forward({batch.graph, in, along});
        const at::Tensor loss = (share*result.output + 0.3*result.output*result.output).sum();
        const auto gradients =
            torch::autograd::grad({loss}, {model.parameters()[0], in, along});
        result.parameters = gradients[0];
        result.nodes = gradients[1];
        result.edges = gradients[2];
        return result;
    }

    void expectClose(const at::Tensor& part, const at::Tensor& truth, const char* what) const
    {
        if (truth.numel() == 0)
        {
            return;
        }
        const double scale = truth.abs().max().item<double>();
        const double error = (part - truth).abs().max().item<double>()/scale;
        EXPECT_LT(error, precision() == Precision::float64 ? 1e-13 : 2e-5) << what;
    }

    MeshGraphNetOptions options;
    ModelShape shape{5, 3, 2};
    std::int64_t samples = 2;
    at::ScalarType type;
    FaceMesh mesh = periodicBlock();
    MeshGraph whole = mesh.graph();
    at::Tensor nodes, edges, weight;
};

}


TEST_P(MeshGraphNetRanks, PassesOfPartsAreThoseOfTheWhole)
{
    ThreadPool pool(2);
    const auto model = build(pool);
    const GraphBatch batch{std::make_shared<const MeshGraph>(whole), nodes, edges};
    const Numbers truth = passes(*model, batch, weight);
    const GraphBatch one{batch.graph, nodes.narrow(0, 1, 1).contiguous(), edges};
    const at::Tensor predicted = [&]
    {
        at::NoGradGuard noGrad;
        return model->forward(one);
    }();

    const auto ranks = raggedRanks(mesh.nCells, nRanks());
    std::int64_t nCut = 0;
    std::mutex mutex;
    onRanks(nRanks(), [&](Comm& comm)
    {
        ThreadPool ownPool(1 + comm.rank() % 2);
        const auto part = MeshPart(mesh, ranks, comm.rank());
        const auto graph = part.graph(comm);
        const auto ownModel = build(ownPool);
        WatchedComm watched(comm, [](int) {});
        ownModel->joinRanks(borrowed(watched));

        std::vector<std::int64_t> rows, columns;
        for (std::int32_t node = 0; node < graph->nNodes(); ++node)
        {
            rows.push_back(part.globalNode(node));
        }
        for (const std::int32_t edge : globalEdges(part, *graph, whole))
        {
            columns.push_back(edge);
        }
        const at::Tensor row = at::tensor(rows, at::kLong);
        const at::Tensor column = at::tensor(columns, at::kLong);
        const auto ofRows = [&](const at::Tensor& t) { return t.index_select(1, row); };
        const auto ofEdges = [&](const at::Tensor& t) { return t.index_select(0, column); };
        const GraphBatch own{graph, ofRows(nodes), ofEdges(edges)};

        const std::uint64_t before = comm.traffic().bytes;
        const int repetitions = 3;
        for (int repetition = 0; repetition < repetitions; ++repetition)
        {
            const Numbers got = passes(*ownModel, own, ofRows(weight));
            expectClose(got.output, ofRows(truth.output), "output");
            expectClose(got.nodes, ofRows(truth.nodes), "node gradient");
            expectClose(got.edges, ofEdges(truth.edges), "edge gradient");
            expectClose(got.parameters, truth.parameters, "parameter gradient");

            // Predictions take turns with the passes of the training
            at::NoGradGuard noGrad;
            const GraphBatch ownOne{graph, own.nodes.narrow(0, 1, 1).contiguous(), own.edges};
            expectClose(ownModel->forward(ownOne), ofRows(predicted), "prediction");
        }

        // Messages are helped along behind each chunk, of which this mesh is one
        const int loops = nRanks() > 1 ? 2 + 3 + 2 : 0;
        EXPECT_EQ(watched.nProgress(), repetitions*options.processorSize*loops);

        // Each cut face sends a row of the hidden width before each block, and gets one back
        const HaloPlan& plan = *graph->halo();
        const std::uint64_t rowsSent =
            repetitions*options.processorSize*(samples*(plan.nSent() + plan.nRows) + plan.nSent());
        EXPECT_EQ(comm.traffic().bytes - before,
            rowsSent*options.hiddenSize*at::elementSize(type));
        const std::lock_guard<std::mutex> lock(mutex);
        nCut += plan.nRows;
    });
    EXPECT_EQ(nCut > 0, nRanks() > 1);
}


TEST_P(MeshGraphNetRanks, AForeignHaloIsRefused)
{
    const auto ranks = raggedRanks(mesh.nCells, 2);
    onRanks(2, [&](Comm& comm)
    {
        ThreadPool pool(1);
        const auto graph = MeshPart(mesh, ranks, comm.rank()).graph(comm);
        const auto model = build(pool);
        at::NoGradGuard noGrad;
        EXPECT_THROW(model->forward({graph, draw({1, graph->nNodes(), 5}, type, 1),
            draw({graph->nEdges(), 3}, type, 2)}), Error);
    });
}


//- Smooth, so that differences of higher order may be taken
class MeshGraphNetRankSlopes : public MeshGraphNetRanks
{
protected:

    MeshGraphNetRankSlopes()
    {
        options.activation = "silu";
    }

    //- Of the loss of all ranks by one number that action(change) changes on the way; collective
    template<class Action>
    static double slope(const Action& action, const std::function<double()>& loss)
    {
        const double step = 1e-3;
        std::vector<double> losses;
        for (const double change : {2*step, -step, -2*step, -step})
        {
            action(change);
            losses.push_back(loss());
        }
        action(2*step);
        return (8*(losses[1] - losses[2]) - (losses[0] - losses[3]))/(12*step);
    }
};


TEST_P(MeshGraphNetRankSlopes, GradientsAcrossCutsAreThoseOfFiniteDifferences)
{
    const auto ranks = raggedRanks(mesh.nCells, nRanks());
    onRanks(nRanks(), [&](Comm& comm)
    {
        ThreadPool pool(1);
        const auto part = MeshPart(mesh, ranks, comm.rank());
        const auto graph = part.graph(comm);
        const auto model = build(pool);
        model->joinRanks(borrowed(comm));

        const auto own = [&](at::IntArrayRef sizes, int seed)
            { return draw(sizes, type, seed + comm.rank()); };
        const at::Tensor share = own({samples, graph->nNodes(), shape.nOutputs}, 100);
        const GraphBatch batch{graph, own({samples, graph->nNodes(), shape.nNodeFeatures}, 200),
            own({graph->nEdges(), shape.nEdgeFeatures}, 300)};
        const Numbers gradients = passes(*model, batch, share);

        at::NoGradGuard noGrad;
        const auto loss = [&]
        {
            const at::Tensor output = model->forward(batch);
            double sum = (share*output + 0.3*output*output).sum().item<double>();
            comm.sum(Span<double>(&sum, 1));
            return sum;
        };
        const auto expectSlope = [&](const at::Tensor& values, const at::Tensor& gradient,
            const std::vector<std::int64_t>& chosen, const char* what)
        {
            for (int rank = 0; rank < comm.size(); ++rank)
            {
                for (std::size_t i = 0; i < chosen.size(); ++i)
                {
                    double* value = values.data_ptr<double>() + chosen[i];
                    const bool mine = rank == comm.rank();
                    const double got = slope([&](double by) { *value += mine ? by : 0; }, loss);
                    const double truth = gradient.flatten()[chosen[i]].item<double>();
                    if (mine)
                    {
                        EXPECT_NEAR(got, truth, 1e-7*(0.01 + std::abs(truth)))
                            << what << ' ' << chosen[i] << " of rank " << rank;
                    }
                }
            }
        };

        // Cells that send to other ranks, the first and last sample, and cells that receive
        const HaloPlan& plan = *graph->halo();
        const std::int32_t haloEdge = graph->haloEdge()[plan.nRows/2];
        const auto node = [&](std::int64_t sample, std::int64_t row, int column)
            { return (sample*graph->nNodes() + row)*shape.nNodeFeatures + column; };
        ASSERT_GT(plan.nSent(), 0);
        expectSlope(batch.nodes, gradients.nodes, {node(0, plan.cells.front(), 1),
            node(1, plan.cells.back(), 4), node(1, graph->receivers()[haloEdge], 2)}, "node");
        const auto edge = [&](std::int64_t row, int column)
            { return row*shape.nEdgeFeatures + column; };
        expectSlope(batch.edges, gradients.edges,
            {edge(haloEdge, 2), edge(graph->haloEdge()[0], 0), edge(haloEdge - 1, 1)}, "edge");

        // All ranks hold the same parameters and change them alike
        const at::Tensor flat = model->parameters()[0];
        for (const std::int64_t number : {std::int64_t(7), flat.numel()/3, 4*flat.numel()/7})
        {
            double* value = flat.data_ptr<double>() + number;
            const double got = slope([&](double by) { *value += by; }, loss);
            const double truth = gradients.parameters[number].item<double>();
            EXPECT_NEAR(got, truth, 1e-7*(0.01 + std::abs(truth))) << "parameter " << number;
        }
    });
}


INSTANTIATE_TEST_SUITE_P(OnRanks, MeshGraphNetRankSlopes,
    testing::Values
    (
        std::make_tuple(2, Precision::float64, "sum"),
        std::make_tuple(3, Precision::float64, "mean")
    ));


INSTANTIATE_TEST_SUITE_P(OnRanks, MeshGraphNetRanks,
    testing::Values
    (
        std::make_tuple(1, Precision::float64, "sum"),
        std::make_tuple(2, Precision::float64, "sum"),
        std::make_tuple(3, Precision::float64, "mean"),
        std::make_tuple(4, Precision::float64, "sum"),
        std::make_tuple(3, Precision::float32, "sum"),
        std::make_tuple(4, Precision::float32, "mean")
    ));

}
