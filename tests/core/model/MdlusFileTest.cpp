// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/MdlusFile.hpp"

#include "Mutator.hpp"
#include "TemporaryFolder.hpp"
#include "base/Error.hpp"
#include "config/JsonReader.hpp"
#include "io/Archive.hpp"
#include "io/Disk.hpp"
#include "io/Hdf5File.hpp"
#include "io/StateDictionaryPickle.hpp"
#include "io/TorchFile.hpp"
#include "model/GraphBatch.hpp"
#include "model/Mlp.hpp"
#include "model/TensorState.hpp"
#include "oracles.hpp"

#include <gmock/gmock.h>
#include <torch/torch.h>

#include <cstdlib>
#include <filesystem>
#include <functional>

namespace inSitu
{
namespace
{

using testing::HasSubstr;

const std::string folder = INSITU_TOP "/tests/support/physicsNemo/";


at::Tensor tensorOf(const StateTree& tree, const std::string& name, at::ScalarType type)
{
    const StateTree::Array& array = tree.getArray(name);
    const auto stored = array.type == StateTree::Type::float32 ? at::kFloat
        : array.type == StateTree::Type::float64 ? at::kDouble : at::kLong;
    return at::from_blob(const_cast<void*>(array.data.get()), array.shape, stored)
        .to(type, false, true);
}


//- Input of a model with its edges in any order, and how ours are ordered
struct Case
{
    Case(const StateTree& tree, const std::string& nodeName, const std::string& edgeName)
    {
        edgeIndex = tensorOf(tree, "edge_index", at::kInt).contiguous();
        nodes = tensorOf(tree, nodeName, at::kFloat);
        edges = tensorOf(tree, edgeName, at::kFloat);
        const int* const index = edgeIndex.data_ptr<int>();
        const auto n = edgeIndex.size(1);
        graph = std::make_shared<MeshGraph>(MeshGraph::fromEdges(
            static_cast<std::int32_t>(nodes.size(0)), std::vector<std::int32_t>(index, index + n),
            std::vector<std::int32_t>(index + n, index + 2*n)));
        const auto order = graph->faceOf();
        edgeOrder = at::tensor(std::vector<std::int64_t>(order.begin(), order.end()), at::kLong);
    }

    at::Tensor prediction(Model& model, at::ScalarType type = at::kFloat) const
    {
        at::NoGradGuard noGrad;
        model.train(false);
        return model.forward({graph, nodes.to(type).unsqueeze(0),
            edges.to(type).index_select(0, edgeOrder).contiguous()})[0];
    }

    at::Tensor edgeIndex, nodes, edges, edgeOrder;
    std::shared_ptr<const MeshGraph> graph;
};


//- Relative to the largest value
double errorOf(const at::Tensor& found, const at::Tensor& expected)
{
    const at::Tensor wanted = expected.to(at::kDouble);
    return ((found.to(at::kDouble) - wanted).abs().max()/wanted.abs().max()).item<double>();
}


template<class T>
void put(MdlusContent& content, const std::string& name, const std::vector<T>& values,
    std::vector<std::int64_t> shape)
{
    content.tensors.put(name, Span<const T>(values), std::move(shape));
}


class MdlusFile : public testing::Test
{
protected:

    ImportedMeshGraphNet import(const std::string& path,
        Precision precision = Precision::float32)
    {
        return meshGraphNetFrom(readMdlus(path), precision, pool);
    }

    //- What importing says when the file concat.mdlus is changed so
    std::string faultWith(const std::function<void(MdlusContent&)>& change)
    {
        MdlusContent content = readMdlus(folder + "concat.mdlus");
        change(content);
        try
        {
            meshGraphNetFrom(content, Precision::float32, pool);
        }
        catch (const Error& fault)
        {
            return fault.what();
        }
        return "none";
    }

    std::string faultWithArgument(const std::string& name, const std::string& json)
    {
        return faultWith([&](MdlusContent& content)
        {
            content.arguments.take(name);
            content.arguments.add(name, parseJson(json, "m.mdlus:args.json"));
        });
    }

    ThreadPool pool{2};
};


TEST_F(MdlusFile, PredictsAsPhysicsNeMoDoes)
{
    const StateTree expected = readTorchFile(folder + "expected.pt");
    const Case input(expected, "nodes", "edges");
    for (const std::string name : {"concat", "legacy"})
    {
        const auto imported = import(folder + name + ".mdlus");
        EXPECT_LE(errorOf(input.prediction(*imported.model), tensorOf(expected, name, at::kFloat)),
            1e-6) << name;
        const auto wide = import(folder + name + ".mdlus", Precision::float64);
        EXPECT_LE(errorOf(input.prediction(*wide.model, at::kDouble),
            tensorOf(expected, name, at::kFloat)), 1e-6) << name;
    }
}


TEST_F(MdlusFile, TellsShapeAndOptions)
{
    const auto imported = import(folder + "concat.mdlus");
    EXPECT_EQ(imported.shape.nNodeFeatures, 3);
    EXPECT_EQ(imported.shape.nEdgeFeatures, 4);
    EXPECT_EQ(imported.shape.nOutputs, 2);
    EXPECT_EQ(imported.options.activation, "silu");
    const MeshGraphNetSizes sizes = imported.options.sizes(imported.shape);
    EXPECT_EQ(sizes.edgeEncoderWidth, 7);
    EXPECT_EQ(sizes.nodeProcessorLayers, 1);
    EXPECT_EQ(sizes.edgeProcessorLayers, 2);
    EXPECT_TRUE(sizes.mean);
}


TEST_F(MdlusFile, AgreesWithTheOracle)
{
    INSITU_NEEDS_ORACLE("mgn_small.mdlus");
    INSITU_NEEDS_ORACLE("mgn_small_mdlus.h5");
    const StateTree expected = readHdf5(oracle("mgn_small_mdlus.h5"));
    const Case input(expected, "node_features", "edge_features");
    const auto imported = import(oracle("mgn_small.mdlus"));
    EXPECT_LE(errorOf(input.prediction(*imported.model),
        tensorOf(expected, "output_f32", at::kFloat)), 1e-6);
}


TEST_F(MdlusFile, RefusesArgumentsByName)
{
    EXPECT_EQ(faultWith([](MdlusContent&) {}), "none");
    EXPECT_THAT(faultWith([](MdlusContent& c) { c.className = "MeshGraphKAN"; }),
        HasSubstr("holds a \"MeshGraphKAN\""));
    EXPECT_THAT(faultWithArgument("mlp_activation_fn", "\"leaky_relu\""),
        HasSubstr("m.mdlus:args.json:1 MeshGraphNet.mlp_activation_fn is \"leaky_relu\""));
    EXPECT_EQ(faultWithArgument("mlp_activation_fn", "\"SiLU\""), "none");
    EXPECT_EQ(faultWithArgument("norm_type", "\"TELayerNorm\""), "none");
    EXPECT_THAT(faultWithArgument("norm_type", "\"BatchNorm\""), HasSubstr("norm_type"));
    EXPECT_THAT(faultWithArgument("aggregation", "\"max\""), HasSubstr("aggregation"));
    EXPECT_THAT(faultWithArgument("num_layers_node_processor", "null"),
        HasSubstr("num_layers_node_processor"));
    EXPECT_THAT(faultWithArgument("hidden_dim_processor", "1e400"),
        HasSubstr("hidden_dim_processor"));
    EXPECT_THAT(faultWithArgument("hidden_dim_processor", "[5]"),
        HasSubstr("hidden_dim_processor"));
    EXPECT_THAT(faultWithArgument("processor_size", "1000000"), HasSubstr("processor_size"));
    EXPECT_THAT(faultWithArgument("output_dim", "1000000"),
        HasSubstr("\"node_decoder.model.2.weight\" is [2, 8], but its arguments call for"
            " [1000000, 8]"));
    EXPECT_THAT(faultWith([](MdlusContent& c) { c.arguments.take("output_dim"); }),
        HasSubstr("output_dim"));
    EXPECT_THAT(faultWith([](MdlusContent& c)
        { c.arguments.add("num_heads", Node::scalar("4")); }), HasSubstr("num_heads"));
}


TEST_F(MdlusFile, RefusesTensorsByName)
{
    const std::string name = "processor.processor_layers.2.edge_mlp.lin_src";
    EXPECT_THAT(faultWithArgument("do_concat_trick", "false"), HasSubstr("is missing"));
    EXPECT_THAT(faultWith([](MdlusContent& c)
    {
        c.tensors.put("surprise", std::vector<float>{1});
    }), HasSubstr("\"surprise\" does not belong"));
    EXPECT_EQ(faultWith([](MdlusContent& c)
    {
        c.tensors.put("device_buffer", std::vector<float>{});
        c.tensors.put("edge_encoder.model.5._extra_state", std::vector<std::uint8_t>{1, 2});
    }), "none");
    EXPECT_THAT(faultWith([&](MdlusContent& c)
    {
        put(c, name, std::vector<float>(20), {5, 4});
    }), HasSubstr('"' + name + "\" is not 5 x 5"));
    EXPECT_THAT(faultWith([&](MdlusContent& c)
    {
        put(c, name, std::vector<std::int64_t>(25), {5, 5});
    }), HasSubstr('"' + name + "\" does not hold floating point numbers"));
    EXPECT_THAT(faultWith([&](MdlusContent& c)
    {
        std::vector<float> values(25);
        values[17] = NAN;
        put(c, name, values, {5, 5});
    }), HasSubstr('"' + name + "\" has values that are not finite"));
}


// What survives the readers may still contradict itself
TEST_F(MdlusFile, RefusesDamagedArgumentsAndTensors)
{
    const ArchiveMembers good = readArchive(readFile(folder + "concat.mdlus"), "file");
    const std::vector<std::string> donors{good.at("args.json")};
    int made = 0, refused = 0;
    for (std::uint64_t seed = 0; seed < 3000; ++seed)
    {
        ArchiveMembers members = good;
        members["args.json"] = Mutator(seed, donors).damaged(members["args.json"]);
        try
        {
            const MdlusContent content = parseMdlus(zipArchive(members), "m.mdlus");
            meshGraphNetFrom(content, Precision::float32, pool);
            ++made;
        }
        catch (const Error&)
        {
            ++refused;
        }
    }
    EXPECT_GT(made, 50);
    EXPECT_GT(refused, 1000);

    const MdlusContent content = readMdlus(folder + "concat.mdlus");
    for (const auto& [name, array] : content.tensors.arrays())
    {
        MdlusContent without = content;
        without.tensors = StateTree();
        for (const auto& [other, kept] : content.tensors.arrays())
        {
            if (other != name)
            {
                without.tensors.putArray(other, kept);
            }
        }
        EXPECT_THROW(meshGraphNetFrom(without, Precision::float32, pool), Error) << name;

        MdlusContent flat = content;
        flat.tensors.put(name, std::vector<float>(array.count()));
        if (array.shape.size() > 1)
        {
            EXPECT_THROW(meshGraphNetFrom(flat, Precision::float32, pool), Error) << name;
        }
    }
}


//- Options with every width and number of layers different
MeshGraphNetOptions unevenOptions()
{
    MeshGraphNetOptions options;
    options.processorSize = 3;
    options.hiddenDimProcessor = 6;
    options.hiddenDimNodeEncoder = 7;
    options.hiddenDimEdgeEncoder = 8;
    options.hiddenDimNodeDecoder = 9;
    options.numLayersNodeEncoder = 1;
    options.numLayersEdgeEncoder = 3;
    options.numLayersNodeProcessor = 2;
    options.numLayersEdgeProcessor = 1;
    options.numLayersNodeDecoder = 4;
    options.aggregation = "mean";
    options.activation = "gelu";
    return options;
}


TEST_F(MdlusFile, IsWrittenAndReadBack)
{
    const TemporaryFolder scratch;
    const Case input(readTorchFile(folder + "expected.pt"), "nodes", "edges");
    for (const Precision precision : {Precision::float32, Precision::float64})
    {
        const auto type = precision == Precision::float64 ? at::kDouble : at::kFloat;
        const auto model = unevenOptions().build({3, 4, 2}, precision, 5, pool);
        writeMdlus(scratch / "model.mdlus", *model);
        const MdlusContent content = readMdlus(scratch / "model.mdlus");
        const auto imported = meshGraphNetFrom(content, precision, pool);

        EXPECT_TRUE(at::equal(input.prediction(*imported.model, type),
            input.prediction(*model, type)));
        EXPECT_EQ(content.arguments.entries.size(), 20u);
        EXPECT_FALSE(artifactOf(content));
    }
}


TEST_F(MdlusFile, CarriesScalesAndCard)
{
    const TemporaryFolder scratch;
    const auto model = unevenOptions().build({3, 4, 2}, Precision::float32, 5, pool);
    ArtifactContent artifact;
    artifact.nInputColumns = 2;
    artifact.input = {{0.1, -2e-30}, {3, 1.0/3}};
    artifact.inputReference = {1e5, 0.7};
    artifact.target = {{0.25}, {7e-9}};
    artifact.targetReference = {-4};
    artifact.staticScales = {1, 0.25};
    artifact.edgeScales = {0.5, 0.5, 0.125};
    artifact.card = "{\"format\":1}";
    writeMdlus(scratch / "model.mdlus", *model, &artifact);

    MdlusContent content = readMdlus(scratch / "model.mdlus");
    const auto back = artifactOf(content);
    ASSERT_TRUE(back);
    EXPECT_EQ(back->nInputColumns, 2);
    EXPECT_EQ(back->input.shift, artifact.input.shift);
    EXPECT_EQ(back->input.scale, artifact.input.scale);
    EXPECT_EQ(back->inputReference, artifact.inputReference);
    EXPECT_EQ(back->target.shift, artifact.target.shift);
    EXPECT_EQ(back->target.scale, artifact.target.scale);
    EXPECT_EQ(back->targetReference, artifact.targetReference);
    EXPECT_EQ(back->staticScales, artifact.staticScales);
    EXPECT_EQ(back->edgeScales, artifact.edgeScales);
    EXPECT_EQ(back->card, artifact.card);

    content.extras["scales.json"] = "{\"inputReference\": [1, 2, 3]}";
    EXPECT_THROW(artifactOf(content), Error);
    artifact.input.scale[1] = INFINITY;
    EXPECT_THROW(writeMdlus(scratch / "model.mdlus", *model, &artifact), Error);
}


TEST_F(MdlusFile, WritesOnlyWhatPhysicsNeMoHas)
{
    const TemporaryFolder scratch;
    EXPECT_THROW(writeMdlus(scratch / "m.mdlus",
        *MlpOptions().build({3, 4, 2}, Precision::float32, 5, pool)), Error);
    MeshGraphNetOptions options = unevenOptions();
    options.activation = "leaky_relu";
    EXPECT_THROW(writeMdlus(scratch / "m.mdlus",
        *options.build({3, 4, 2}, Precision::float32, 5, pool)), Error);
    EXPECT_FALSE(std::filesystem::exists(scratch / "m.mdlus"));
}


//- An interpreter that may have PhysicsNeMo; empty: none is known
std::string python()
{
    for (const char* const variable : {"INSITU_PHYSICSNEMO_PYTHON", "INSITU_PYTHON"})
    {
        if (const char* const named = std::getenv(variable))
        {
            return named;
        }
    }
#ifdef INSITU_PYTHON
    return INSITU_PYTHON;
#else
    return {};
#endif
}


//- A file as torch.load reads it
void saveExpected(const TemporaryFolder& scratch, const Case& input, const at::Tensor& prediction)
{
    StateTree state;
    putTensor(state, "edge_index", input.edgeIndex.to(at::kLong));
    putTensor(state, "nodes", input.nodes);
    putTensor(state, "edges", input.edges);
    putTensor(state, "prediction", prediction);

    const NamedArrays arrays(state.arrays().begin(), state.arrays().end());
    ArchiveMembers members{{"archive/version", "3\n"},
        {"archive/data.pkl", stateDictionaryPickle(arrays)}};
    for (std::size_t i = 0; i < arrays.size(); ++i)
    {
        const StateTree::Array& array = arrays[i].second;
        members["archive/data/" + std::to_string(i)] = std::string(
            static_cast<const char*>(array.data.get()), array.bytes());
    }
    scratch.write("expected.pt", zipArchive(members));
}


TEST_F(MdlusFile, IsLoadedByPhysicsNeMo)
{
    if (python().empty())
    {
        GTEST_SKIP() << "neither INSITU_PHYSICSNEMO_PYTHON nor INSITU_PYTHON names a Python";
    }
    const TemporaryFolder scratch;
    const Case input(readTorchFile(folder + "expected.pt"), "nodes", "edges");
    const auto model = unevenOptions().build({3, 4, 2}, Precision::float32, 5, pool);
    ArtifactContent artifact;
    artifact.card = "{}";
    writeMdlus(scratch / "model.mdlus", *model, &artifact);
    saveExpected(scratch, input, input.prediction(*model));

    const std::string command = python() + " -B \"" + folder + "load.py\" \"" + scratch / ""
        + "\" > \"" + scratch / "log" + "\" 2>&1";
    const int status = std::system(command.c_str());
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
    {
        GTEST_SKIP() << scratch.read("log");
    }
    EXPECT_EQ(status, 0) << scratch.read("log");
    std::cout << scratch.read("log");
}

}
}
