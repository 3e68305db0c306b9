// SPDX-License-Identifier: GPL-3.0-or-later

// Every file of kind mesh_graph_net in the folder of reference values is one test: the model
// that its attributes describe, made by PhysicsNeMo, must give the numbers in it.

#include "base/StateTree.hpp"
#include "io/Hdf5File.hpp"
#include "model/GraphBatch.hpp"
#include "model/Initialise.hpp"
#include "model/MeshGraphNet.hpp"
#include "model/ParameterSet.hpp"
#include "oracles.hpp"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>

namespace inSitu
{
namespace
{

std::vector<std::string> oracleFiles()
{
    std::vector<std::string> files;
    std::error_code missing;
    for (const auto& entry : std::filesystem::directory_iterator(oracleFolder(), missing))
    {
        if (entry.path().extension() != ".h5")
        {
            continue;
        }
        const StateTree tree = readHdf5(entry.path().string());
        const auto kind = tree.texts().find("kind");
        if (kind != tree.texts().end() && kind->second == "mesh_graph_net")
        {
            files.push_back(entry.path().string());
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}


at::Tensor tensor(const StateTree& tree, const std::string& name, at::ScalarType type)
{
    const StateTree::Array& array = tree.getArray(name);
    const auto stored = array.type == StateTree::Type::float64 ? at::kDouble
        : array.type == StateTree::Type::float32 ? at::kFloat
        : array.type == StateTree::Type::int32 ? at::kInt : at::kLong;
    return at::from_blob(const_cast<void*>(array.data.get()), array.shape, stored).to(type, false,
        true);
}


struct Oracle
{
    explicit Oracle(const std::string& path)
    :
        tree(readHdf5(path))
    {
        options.processorSize = tree.getInt("processor_size");
        options.hiddenDimProcessor = tree.getInt("hidden_dim_processor");
        options.hiddenDimNodeEncoder = tree.getInt("hidden_dim_node_encoder");
        options.hiddenDimEdgeEncoder = tree.getInt("hidden_dim_edge_encoder");
        options.hiddenDimNodeDecoder = tree.getInt("hidden_dim_node_decoder");
        options.numLayersNodeProcessor = tree.getInt("num_layers_node_processor");
        options.numLayersEdgeProcessor = tree.getInt("num_layers_edge_processor");
        options.numLayersNodeEncoder = tree.getInt("num_layers_node_encoder");
        options.numLayersEdgeEncoder = tree.getInt("num_layers_edge_encoder");
        options.numLayersNodeDecoder = tree.getInt("num_layers_node_decoder");
        options.aggregation = tree.getText("aggregation");
        options.activation = tree.getText("mlp_activation_fn");
        shape = {static_cast<int>(tree.getInt("input_dim_nodes")),
            static_cast<int>(tree.getInt("input_dim_edges")),
            static_cast<int>(tree.getInt("output_dim"))};

        const at::Tensor index = tensor(tree, "edge_index", at::kInt);
        const std::vector<std::int32_t> sender(index[0].data_ptr<int>(),
            index[0].data_ptr<int>() + index.size(1));
        const std::vector<std::int32_t> receiver(index[1].data_ptr<int>(),
            index[1].data_ptr<int>() + index.size(1));
        graph = std::make_shared<MeshGraph>(MeshGraph::fromEdges(
            static_cast<std::int32_t>(tree.getArray("node_features").shape[0]), sender,
            receiver));
        const auto order = graph->faceOf();
        edgeOrder = at::tensor(std::vector<std::int64_t>(order.begin(), order.end()), at::kLong);
    }

    //- A parameter, or a part of it, under its name in the file
    using Part = std::pair<std::string, at::Tensor>;

    //- With the concat trick the first edge layer is stored in three parts and the layers
    //  behind it count one less
    std::vector<Part> parts(const std::string& name, const at::Tensor& value) const
    {
        const std::string mark = ".edge_mlp.model.";
        const auto place = name.find(mark);
        if (tree.getInt("do_concat_trick") == 0 || place == std::string::npos)
        {
            return {{name, value}};
        }

        const std::string before = name.substr(0, place) + ".edge_mlp.";
        const std::string rest = name.substr(place + mark.size());
        const auto dot = rest.find('.');
        const int layer = std::stoi(rest.substr(0, dot));
        if (layer > 0)
        {
            return {{before + "model." + std::to_string(layer - 1) + rest.substr(dot), value}};
        }
        if (value.dim() == 1)
        {
            return {{before + "bias", value}};
        }
        const auto columns = value.chunk(3, 1);
        return {{before + "lin_efeat", columns[0]}, {before + "lin_src", columns[1]},
            {before + "lin_dst", columns[2]}};
    }

    //- The stored weights, or those of the seed with their fingerprints checked
    void setParameters(Model& model) const
    {
        at::NoGradGuard noGrad;
        for (const auto& [whole, wholeValue] : model.namedTensors())
        {
            for (const auto& [name, value] : parts(whole, wholeValue))
            {
                if (tree.has("seed"))
                {
                    checkFingerprint(name, value);
                }
                else
                {
                    value.copy_(tensor(tree, "parameters/" + name, value.scalar_type()));
                }
            }
        }
    }

    //- Sum, sum of absolute values, sum of squares; first and last four entries
    void checkFingerprint(const std::string& name, const at::Tensor& value) const
    {
        const at::Tensor flat = value.to(at::kDouble).reshape({-1});
        const at::Tensor sums = at::stack({flat.sum(), flat.abs().sum(), (flat*flat).sum()});
        const at::Tensor entries = at::cat({flat.slice(0, 0, 4), flat.slice(0, -4)});
        const at::Tensor expected = tensor(tree, "parameter_fingerprints/" + name, at::kDouble);
        EXPECT_TRUE(at::allclose(sums, expected.slice(0, 0, 3), 1e-12, 1e-12)) << name;
        EXPECT_TRUE(at::equal(entries, expected.slice(0, 3))) << name;
    }

    GraphBatch batch(at::ScalarType type) const
    {
        return {graph, tensor(tree, "node_features", type).unsqueeze(0),
            tensor(tree, "edge_features", type).index_select(0, edgeOrder).contiguous()};
    }

    StateTree tree;
    MeshGraphNetOptions options;
    ModelShape shape;
    std::shared_ptr<const MeshGraph> graph;
    at::Tensor edgeOrder;
};


double largest(const at::Tensor& found, const at::Tensor& expected)
{
    return (found.to(at::kDouble) - expected.to(at::kDouble)).abs().max().item<double>();
}


class OracleMeshGraphNet : public testing::TestWithParam<std::string>
{
protected:

    std::unique_ptr<Model> build(const Oracle& oracle, Precision precision)
    {
        const std::uint64_t seed = oracle.tree.has("seed") ? oracle.tree.getInt("seed") : 0;
        auto model = oracle.options.build(oracle.shape, precision, seed, pool);
        if (oracle.tree.has("num_parameters"))
        {
            EXPECT_EQ(model->nParameters(), oracle.tree.getInt("num_parameters"));
        }
        oracle.setParameters(*model);
        return model;
    }

    ThreadPool pool{2};
};


TEST_P(OracleMeshGraphNet, ForwardInFloat32)
{
    const Oracle oracle(GetParam());
    const auto model = build(oracle, Precision::float32);

    const at::Tensor output = model->forward(oracle.batch(at::kFloat))[0];
    EXPECT_LE(largest(output, tensor(oracle.tree, "output_f32", at::kFloat)), 1e-5);
}


TEST_P(OracleMeshGraphNet, ForwardAndGradientsInFloat64)
{
    const Oracle oracle(GetParam());
    const auto model = build(oracle, Precision::float64);
    GraphBatch batch = oracle.batch(at::kDouble);
    batch.nodes.requires_grad_(true);
    batch.edges.requires_grad_(true);

    const at::Tensor output = model->forward(batch)[0];
    const double limit = oracle.tree.has("seed") ? 1e-10 : 1e-12;
    EXPECT_LE(largest(output, tensor(oracle.tree, "output_f64", at::kDouble)), limit);

    if (!oracle.tree.has("loss_mean_square"))
    {
        return;
    }
    const at::Tensor loss = output.square().mean();
    loss.backward();
    EXPECT_NEAR(loss.item<double>(), oracle.tree.getDouble("loss_mean_square"), 1e-12);
    EXPECT_LE(largest(batch.nodes.grad()[0],
        tensor(oracle.tree, "grad_node_features", at::kDouble)), 1e-12);
    EXPECT_LE(largest(batch.edges.grad(), tensor(oracle.tree, "grad_edge_features", at::kDouble)
        .index_select(0, oracle.edgeOrder)), 1e-12);
}


class SeededOracle : public OracleMeshGraphNet
{
};

//- Weights, then features, from one generator: the draws behind the weights are in the file
TEST_P(SeededOracle, DrawsInTheOrderOfPhysicsNeMo)
{
    const Oracle oracle(GetParam());
    const MeshGraphNetSizes sizes = oracle.options.sizes(oracle.shape);
    ParameterSet parameters = sizes.declare();
    parameters.allocate(at::kFloat);
    at::Generator generator = makeGenerator(oracle.tree.getInt("seed"));
    sizes.initialise(parameters, generator);

    const at::Tensor nodes = tensor(oracle.tree, "node_features", at::kFloat);
    const at::Tensor edges = tensor(oracle.tree, "edge_features", at::kFloat);
    EXPECT_TRUE(at::equal(at::randn(nodes.sizes(), generator), nodes));
    EXPECT_TRUE(at::equal(at::randn(edges.sizes(), generator), edges));
}


std::vector<std::string> seededFiles()
{
    std::vector<std::string> files = oracleFiles();
    files.erase(std::remove_if(files.begin(), files.end(),
        [](const std::string& file) { return !readHdf5(file).has("seed"); }), files.end());
    return files;
}


std::string caseName(const testing::TestParamInfo<std::string>& info)
{
    std::string name = std::filesystem::path(info.param).stem().string();
    std::replace_if(name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
    return name;
}


INSTANTIATE_TEST_SUITE_P(Files, OracleMeshGraphNet, testing::ValuesIn(oracleFiles()), caseName);
INSTANTIATE_TEST_SUITE_P(Files, SeededOracle, testing::ValuesIn(seededFiles()), caseName);


TEST(OracleFolder, HasFilesOfMeshGraphNets)
{
    if (!std::filesystem::exists(oracleFolder()) && !std::getenv("INSITU_ORACLES"))
    {
        GTEST_SKIP() << "no folder " << INSITU_ORACLES_DEFAULT
            << " and INSITU_ORACLES is not set: reference values are not compared";
    }
    EXPECT_FALSE(oracleFiles().empty());
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(OracleMeshGraphNet);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SeededOracle);

}
}
