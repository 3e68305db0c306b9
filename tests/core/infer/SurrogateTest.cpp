// SPDX-License-Identifier: GPL-3.0-or-later
#include "infer/Surrogate.hpp"

#include "LambdaSurrogate.hpp"
#include "TemporaryFolder.hpp"
#include "TrainCase.hpp"
#include "base/Error.hpp"
#include "model/Artifact.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace inSitu
{
namespace
{

using testing::AllOf;
using testing::HasSubstr;

// Artifacts that the trainer writes. TrainCase has inputs of 3 columns, targets of 2.

using Entries = std::vector<std::pair<std::string, std::string>>;

const Entries meshGraphNet{{"model.type", "meshGraphNet"}, {"model.processorSize", "2"},
    {"model.hiddenSize", "12"}};
const Entries mlp{{"model.type", "mlp"}, {"model.hiddenSize", "11"}, {"model.activation", "silu"}};

struct Options
{
    Entries model = meshGraphNet;
    bool deltaT = false;
    bool weighted = false;
    bool edgeInputs = false;    // a flux and another one
};


template<class Value>
struct Trained
{
    explicit Trained(const Options& options)
    :
        nFeatures(options.deltaT ? 1 : 0),
        nEdgeInputs(options.edgeInputs ? 2 : 0)
    {
        if (options.weighted)
        {
            auto geometry = std::make_shared<MeshGeometry>(*data.mesh.geometry);
            geometry->weighted = true;
            data.mesh.geometry = geometry;
        }
        TrainerLayout layout = data.layout();
        layout.nFeatures = nFeatures;
        layout.shape.nNodeFeatures += nFeatures;
        layout.nEdgeInputs = nEdgeInputs;
        layout.shape.nEdgeFeatures += nEdgeInputs;

        Entries entries{{"precision", sizeof(Value) == 8 ? "float64" : "float32"},
            {"optimizer.learningRate", "0.01"}};
        entries.insert(entries.end(), options.model.begin(), options.model.end());
        bench = std::make_unique<TrainerBench>(trainingConfig(entries), layout);

        scales = std::make_unique<Normaliser>(Normaliser::Layout{3, 2, nFeatures, false,
            {0, 1}, {0, 0, 1}, nEdgeInputs > 0 ? std::vector<int>{0, 1} : std::vector<int>()},
            100, std::nullopt);
        scales->setMeshScales(data.meshScales());
        for (int k = 0; k < 4; ++k)
        {
            const Sample added = sample(k);
            const auto* target = static_cast<const Value*>(added.target.get());
            const std::size_t n = 2*static_cast<std::size_t>(data.nCells());
            const std::vector<double> values(target, target + n);
            scales->template add<Value>({static_cast<const Value*>(added.input.get()), 3*n/2},
                {target, n}, Span<const double>(values), data.nCells(),
                Span<const double>(added.features), SerialComm(),
                {static_cast<const Value*>(added.edges.get()), nEdgeValues()});
        }
        for (int k = 0; k < 5; ++k)
        {
            bench->trainer.step({sample(k)}, *scales);
        }
        makeCard(options);
    }

    Sample sample(int k) const
    {
        Sample result = data.sample(k);
        if (nFeatures > 0)
        {
            result.features = {0.1 + 0.03*(k % 3)};
        }
        if (nEdgeInputs > 0)
        {
            std::vector<Value> edges;
            for (std::size_t i = 0; i < nEdgeValues(); ++i)
            {
                edges.push_back(static_cast<Value>(20*std::sin(0.7*i + 0.9*k)));
            }
            result.edges = slotOf(std::move(edges));
        }
        return result;
    }

    std::size_t nEdgeValues() const
    {
        return static_cast<std::size_t>(data.mesh.graph->nEdges())*nEdgeInputs;
    }

    void makeCard(const Options& options)
    {
        card.inputs = {{"U", "", 1, {}, {"Ux", "Uy"}, {}}, {"p", "", 1, {}, {"p"}, {}}};
        card.targets = {{"a", "", 1, {}, {"a"}, {}}, {"b", "", 1, {}, {"b"}, {}}};
        card.features = options.deltaT ? std::vector<std::string>{"deltaT"}
                                       : std::vector<std::string>();
        card.staticColumns = data.staticColumns;
        card.edgeColumns = data.mesh.geometry->edgeFeatureNames();
        for (const char* name : {"phi", "rhoPhi"})
        {
            if (nEdgeInputs > 0)
            {
                card.edgeInputs.push_back({name, "surfaceScalarField", 1, {}, {name}, {}, true});
                card.edgeColumns.push_back(name);
            }
        }
        card.increment = false;
        card.precision = sizeof(Value) == 8 ? "float64" : "float32";
        Node model = Node::block();
        for (const auto& [path, text] : options.model)
        {
            model.add(path.substr(6), Node::scalar(text));
        }
        Node training = Node::block();
        training.add("model", model);
        Node configuration = Node::block();
        configuration.add("training", training);
        card.configuration = configuration.json();
    }

    void write(const std::string& path) const
    {
        ArtifactContent content;
        content.nInputColumns = 3 + nFeatures;
        content.input = scales->input();
        content.target = scales->target();
        content.inputReference = inputReference;
        content.inputReference.resize(3 + nFeatures, 0.0);
        content.targetReference = targetReference;
        content.staticScales = staticScales(data.staticColumns, data.meshScales());
        content.edgeScales =
            edgeScales(*data.mesh.geometry, scales->meshScales().edgeLength);
        const std::vector<double> divisors = scales->edges();
        content.edgeScales.insert(content.edgeScales.end(), divisors.begin(), divisors.end());
        content.card = card.json();
        writeArtifact(path, bench->trainer.model(), content);
    }

    //- In physical units
    std::vector<double> prediction(int k) const
    {
        std::vector<double> values = bench->prediction(sample(k), *scales, data.nCells());
        for (std::size_t i = 0; i < values.size(); ++i)
        {
            values[i] += targetReference[i % 2];
        }
        return values;
    }

    const std::vector<double> inputReference{12, -7, 1e3};
    const std::vector<double> targetReference{5, 1e3};
    const int nFeatures;
    const int nEdgeInputs;
    TrainCase<Value> data;
    std::unique_ptr<TrainerBench> bench;
    std::unique_ptr<Normaliser> scales;
    ModelCard card;
};


struct Reader
{
    std::unique_ptr<Surrogate> load(const std::string& path)
    {
        return loadSurrogate(path, pool, {});
    }

    std::string faultOf(const std::string& path)
    {
        try
        {
            load(path);
            return "nothing";
        }
        catch (const Error& fault)
        {
            return fault.what();
        }
    }

    ThreadPool pool{2};
};


template<class Value>
void expectTrainersBits(const Options& options)
{
    const TemporaryFolder folder;
    const Trained<Value> trained(options);
    trained.write(folder / "model.pt");

    Reader reader;
    const auto surrogate = reader.load(folder / "model.pt");
    EXPECT_EQ(surrogate->inputReference(), trained.inputReference);
    EXPECT_EQ(surrogate->precision(),
        sizeof(Value) == 8 ? Precision::float64 : Precision::float32);
    EXPECT_EQ(surrogate->card().json(), trained.card.json());
    EXPECT_EQ(surrogate->nParameters(), trained.bench->trainer.model().nParameters());

    for (const int k : {7, 9})
    {
        const std::vector<double> expected = trained.prediction(k);
        std::vector<double> values(expected.size());
        surrogate->predict(trained.sample(k), Span<double>(values));
        ASSERT_EQ(values, expected) << k;
    }
    EXPECT_EQ(surrogate->firstStaleEntry(), "");
}

}


TEST(Surrogate, PredictsWhatTheTrainerDoesBitForBit)
{
    for (const Entries& model : {meshGraphNet, mlp})
    {
        for (const bool deltaT : {false, true})
        {
            for (const bool weighted : {false, true})
            {
                SCOPED_TRACE(model[0].second + (deltaT ? " deltaT" : "")
                    + (weighted ? " weighted" : ""));
                expectTrainersBits<float>({model, deltaT, weighted});
                expectTrainersBits<double>({model, deltaT, weighted});
            }
        }
    }
}


// Predictions one after the other on one mesh: what is kept of the edges must not be
TEST(Surrogate, PredictsWithEdgeInputsWhatTheTrainerDoes)
{
    expectTrainersBits<float>({meshGraphNet, false, false, true});
    expectTrainersBits<double>({meshGraphNet, true, true, true});

    const Trained<double> trained({meshGraphNet, false, false, true});
    Sample other = trained.sample(3);
    other.edges = trained.sample(4).edges;
    const auto predicted = [&](const Sample& sample)
    {
        return trained.bench->prediction(sample, *trained.scales, trained.data.nCells());
    };
    EXPECT_NE(predicted(trained.sample(3)), predicted(other));
}


TEST(Surrogate, RunsAnArtifactWithAUsersNetwork)
{
    const TemporaryFolder folder;
    torch::jit::Module user("userModel");
    user.register_parameter("weight",
        at::sin(at::arange(16, at::kFloat)).reshape({2, 8}).requires_grad_(), false);
    user.define(R"(
def forward(self, nodes: Tensor, edge_index: Tensor) -> Tensor:
    x = nodes @ self.weight.t()
    return torch.tanh(x.index_add(0, edge_index[1], x[edge_index[0]]))
)");
    user.save(folder / "user.pt");
    const Trained<float> trained(
        {{{"model.type", "torchscript"}, {"model.filename", folder / "user.pt"}}});
    trained.write(folder / "model.pt");
    std::filesystem::remove(folder / "user.pt");

    Reader reader;
    const auto surrogate = reader.load(folder / "model.pt");
    EXPECT_EQ(surrogate->precision(), Precision::float64);
    EXPECT_EQ(surrogate->inputReference(), std::vector<double>(3, 0.0));

    // It takes raw values in double
    const Sample sample = trained.sample(8);
    std::vector<double> raw;
    for (std::int64_t i = 0; i < 3*trained.data.nNodes(); ++i)
    {
        raw.push_back(static_cast<double>(static_cast<const float*>(sample.input.get())[i])
            + trained.inputReference[i % 3]);
    }
    Sample rawSample = sample;
    rawSample.input = slotOf(std::move(raw));
    const std::vector<double> expected = trained.prediction(8);
    std::vector<double> values(expected.size());
    surrogate->predict(rawSample, Span<double>(values));
    for (std::size_t i = 0; i < values.size(); ++i)
    {
        ASSERT_NEAR(values[i], expected[i], 1e-5) << i;
    }
}


TEST(Surrogate, SaysWhyAFileIsNoModel)
{
    const TemporaryFolder folder;
    const Trained<float> trained({});
    trained.write(folder / "model.pt");
    Reader reader;
    const auto named = [&](const char* name) { return HasSubstr(folder / name); };

    EXPECT_THAT(reader.faultOf(folder / "none.pt"), AllOf(named("none.pt"), HasSubstr("not there")));
    EXPECT_THAT(reader.faultOf(folder / ""), HasSubstr("no file"));
    const std::string bytes = folder.read("model.pt");
    for (const std::size_t length : {std::size_t(0), std::size_t(3), bytes.size()/2,
            bytes.size() - 1})
    {
        folder.write("cut.pt", bytes.substr(0, length));
        EXPECT_THAT(reader.faultOf(folder / "cut.pt"),
            AllOf(named("cut.pt"), HasSubstr("it is damaged, or no model"))) << length;
    }
    std::string flipped = bytes;
    flipped[flipped.find("FB", flipped.find("data/31")) + 100] ^= 16;
    folder.write("flipped.pt", flipped);
    EXPECT_THAT(reader.faultOf(folder / "flipped.pt"),
        AllOf(named("flipped.pt"), HasSubstr("damaged")));
    folder.write("text.pt", "endTime 3;\n");
    EXPECT_THAT(reader.faultOf(folder / "text.pt"), named("text.pt"));

    torch::jit::Module foreign("foreign");
    foreign.define("def forward(self, nodes):\n    return nodes\n");
    foreign.save(folder / "foreign.pt");
    EXPECT_THAT(reader.faultOf(folder / "foreign.pt"), AllOf(named("foreign.pt"),
        HasSubstr("has no card, neither inside nor as \"" + (folder / "foreign.pt.card.json"))));
    folder.write("foreign.pt.card.json", "{\"format\": 1");
    EXPECT_THAT(reader.faultOf(folder / "foreign.pt"), HasSubstr("foreign.pt.card.json is not valid JSON"));

    EXPECT_EQ(reader.faultOf(folder / "model.pt"), "nothing");
}


TEST(Surrogate, SaysHowCardAndNetworkDisagree)
{
    const TemporaryFolder folder;
    Reader reader;
    const auto fault = [&](const std::function<void(ModelCard&)>& change)
    {
        Trained<float> trained({});
        change(trained.card);
        trained.write(folder / "model.pt");
        return reader.faultOf(folder / "model.pt");
    };

    EXPECT_EQ(fault([](ModelCard&) {}), "nothing");
    EXPECT_THAT(fault([](ModelCard& c) { c.inputs.pop_back(); }),
        HasSubstr("scales of 3 input columns, its card has 2"));
    EXPECT_THAT(fault([](ModelCard& c) { c.features = {"deltaT"}; }),
        HasSubstr("its card has 4"));
    EXPECT_THAT(fault([](ModelCard& c) { c.edgeColumns.push_back("weight"); }),
        HasSubstr("5 static and 3 edge columns, its card has 5 and 4"));
    EXPECT_THAT(fault([](ModelCard& c)
        { c.edgeInputs.push_back({"Uf", "", 1, {}, {"Ufx", "Ufy", "Ufz"}, {}}); }),
        HasSubstr("has 5 and 3, 3 of them edge inputs"));
    EXPECT_THAT(fault([](ModelCard& c) { c.targets[1].columnNames = {"bx", "by"}; }),
        HasSubstr("describes a larger network"));
    EXPECT_THAT(fault([](ModelCard& c) { c.staticColumns.pop_back(); }),
        HasSubstr("5 static and 3 edge columns, its card has 4 and 3"));
    EXPECT_THAT(fault([](ModelCard& c) { c.precision = "float64"; }),
        HasSubstr("another shape or type"));
    EXPECT_THAT(fault([](ModelCard& c) { c.configuration = "{}"; }),
        HasSubstr("card.json does not say which network"));
    EXPECT_THAT(fault([](ModelCard& c) { c.configuration =
        R"({"training":{"model":{"type":"meshGraphNet","processorSize":3,"hiddenSize":12}}})"; }),
        HasSubstr("describes a larger network"));
    EXPECT_THAT(fault([](ModelCard& c) { c.configuration =
        R"({"training":{"model":{"type":"meshGraphNets"}}})"; }), HasSubstr("meshGraphNets"));
}


TEST(Surrogate, MakesNoNetworkThatIsLargerThanTheFile)
{
    const TemporaryFolder folder;
    Reader reader;
    const auto fault = [&](const Entries& entries, const std::string& model)
    {
        Trained<float> trained({entries});
        trained.card.configuration = "{\"training\":{\"model\":{" + model + "}}}";
        trained.write(folder / "model.pt");
        return reader.faultOf(folder / "model.pt");
    };
    const std::string large = "its card describes a larger network than it holds";

    for (const std::string model : {R"("type":"mlp","hiddenSize":1000000000)",
        R"("type":"mlp","hiddenSize":11,"hiddenLayers":4000000000)",
        R"("type":"mlp","hiddenSize":4611686018427387904,"hiddenLayers":4611686018427387904)",
        R"("type":"mlp","layerSizes":[8,3000000000,2])",
        R"("type":"meshGraphNet","processorSize":4611686018427387904)"})
    {
        EXPECT_THAT(fault(mlp, model), HasSubstr("model.pt\": " + large)) << model;
    }
    for (const std::string model : {R"("type":"meshGraphNet","processorSize":4294967298)",
        R"("type":"meshGraphNet","processorSize":2,"numLayersNodeEncoder":3000000000)",
        R"("type":"meshGraphNet","processorSize":2,"hiddenSize":2000000000)"})
    {
        EXPECT_THAT(fault(meshGraphNet, model), HasSubstr(large)) << model;
    }
}


TEST(Surrogate, TellsItsSizeAsFarAsItIsKnown)
{
    ModelCard card;
    const auto text = [&] { return sizeText(LambdaSurrogate(card, {}, {})); };
    EXPECT_EQ(text(), "");
    card.samples = 37;
    EXPECT_EQ(text(), ", 37 samples of training");

    const TemporaryFolder folder;
    Trained<float> trained({});
    trained.card.samples = 5;
    trained.write(folder / "model.pt");
    Reader reader;
    EXPECT_EQ(sizeText(*reader.load(folder / "model.pt")), ", "
        + std::to_string(trained.bench->trainer.model().nParameters())
        + " parameters, 5 samples of training");
}


TEST(Surrogate, RefusesWeightsThatAreNotFinite)
{
    const TemporaryFolder folder;
    Trained<float> trained({});
    const at::NoGradGuard noGradients;
    for (const auto& [name, tensor] : trained.bench->trainer.model().namedTensors())
    {
        if (name.find("node_decoder") != std::string::npos)
        {
            at::Tensor(tensor).flatten()[1] = std::nan("");
            break;
        }
    }
    trained.write(folder / "model.pt");
    Reader reader;
    EXPECT_THAT(reader.faultOf(folder / "model.pt"),
        AllOf(HasSubstr("values in node_decoder"), HasSubstr("not finite")));
}

}
