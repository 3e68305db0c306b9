// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/Artifact.hpp"

#include "TemporaryFolder.hpp"
#include "TrainCase.hpp"
#include "model/TorchScriptModel.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>

using namespace inSitu;

namespace
{

using Entries = std::vector<std::pair<std::string, std::string>>;

//- An interpreter with torch; empty: none is known
std::string python()
{
    if (const char* const named = std::getenv("INSITU_PYTHON"))
    {
        return named;
    }
#ifdef INSITU_PYTHON
    return INSITU_PYTHON;
#else
    return {};
#endif
}


template<class T>
void writeRaw(const TemporaryFolder& folder, const std::string& name, const std::vector<T>& values)
{
    folder.write(name, std::string(reinterpret_cast<const char*>(values.data()),
        values.size()*sizeof(T)));
}


//- A model trained for some steps on fields with a large constant part, its artifact in
//  folder, and the physical prediction of the trainer
template<class Value>
std::vector<double> trainAndWrite(const TemporaryFolder& folder, const Entries& model)
{
    const TrainCase<Value> data;
    const Normaliser scales = data.normaliser(3, 2, 0.3, false);
    const std::vector<double> inputReference{12, -7, 1e3};
    const std::vector<double> targetReference{5, 1e3};
    Entries entries{{"precision", sizeof(Value) == 8 ? "float64" : "float32"},
        {"optimizer.learningRate", "0.01"}};
    entries.insert(entries.end(), model.begin(), model.end());
    TrainerBench bench(trainingConfig(entries), data.layout());
    for (int k = 0; k < 5; ++k)
    {
        bench.trainer.step({data.sample(k)}, scales);
    }

    ArtifactContent content;
    content.nInputColumns = 3;
    content.input = scales.input();
    content.target = scales.target();
    content.inputReference = inputReference;
    content.targetReference = targetReference;
    content.staticScales = staticScales(data.staticColumns, data.meshScales());
    content.edgeScales = edgeScales(*data.mesh.geometry,
        meanEdgeLength(*data.mesh.graph, *data.mesh.geometry));
    content.card = "{\"fields\":[\"U\",\"p\"],\"horizon\":4}";
    writeArtifact(folder / "model.pt", bench.trainer.model(), content);

    const Sample sample = data.sample(8);
    std::vector<double> nodes;
    for (std::int64_t i = 0; i < 3*data.nNodes(); ++i)
    {
        nodes.push_back(static_cast<double>(static_cast<Value*>(sample.input.get())[i])
            + inputReference[i % 3]);
    }
    writeRaw(folder, "nodes.bin", nodes);
    const auto& fixed = *data.mesh.staticFeatures;
    writeRaw(folder, "static.bin", std::vector<double>(fixed.begin(), fixed.end()));
    writeRaw(folder, "edges.bin", edgeFeatures(*data.mesh.graph, *data.mesh.geometry));
    const at::Tensor index = edgeIndexOf(*data.mesh.graph);
    writeRaw(folder, "index.bin", std::vector<std::int64_t>(index.data_ptr<std::int64_t>(),
        index.data_ptr<std::int64_t>() + index.numel()));
    const std::string rows = std::to_string(data.nNodes());
    const std::string edges = std::to_string(data.mesh.graph->nEdges());
    folder.write("shapes.txt", "nodes " + rows + " 3\nstatic " + rows + " 5\nedges " + edges
        + " 3\nindex 2 " + edges + '\n');

    std::vector<double> expected = bench.prediction(sample, scales, data.nCells());
    for (std::size_t i = 0; i < expected.size(); ++i)
    {
        expected[i] += targetReference[i % 2];
    }
    return expected;
}


//- Run the artifact of folder; its numbers for the first count entries
std::vector<double> runInPython(const TemporaryFolder& folder, std::size_t count,
    const std::string& nodeType = "float64")
{
    const std::string command = python() + " \"" INSITU_TOP "/tests/support/runArtifact.py\" \""
        + folder / "" + "\" " + nodeType + " > \"" + folder / "log" + "\" 2>&1";
    if (std::system(command.c_str()) != 0)
    {
        ADD_FAILURE() << command << '\n' << folder.read("log");
        return std::vector<double>(count);
    }
    const std::string bytes = folder.read("output.bin");
    std::vector<double> values(bytes.size()/sizeof(double));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    values.resize(count);
    return values;
}


//- Differences are measured against the deviation of the values, not their size
double errorOf(const std::vector<double>& values, const std::vector<double>& expected)
{
    std::vector<double> a = values;
    std::vector<double> b = expected;
    for (std::size_t i = 0; i < a.size(); ++i)
    {
        const double reference = i % 2 ? 1e3 : 5;
        a[i] -= reference;
        b[i] -= reference;
    }
    return relativeDifference(a, b);
}


const Entries meshGraphNet{{"model.type", "meshGraphNet"}, {"model.processorSize", "3"},
    {"model.hiddenSize", "12"}};

const Entries mlp{{"model.type", "mlp"}, {"model.hiddenSize", "11"}, {"model.dropout", "0.2"},
    {"model.activation", "silu"}};

}


TEST(Artifact, GivesStockPythonTheTrainersNumbers)
{
    if (python().empty())
    {
        GTEST_SKIP() << "INSITU_PYTHON names no interpreter with torch";
    }
    for (const Entries& model : {meshGraphNet, mlp})
    {
        const TemporaryFolder folder;
        const std::vector<double> expected = trainAndWrite<float>(folder, model);
        EXPECT_LT(errorOf(runInPython(folder, expected.size()), expected), 1e-5);

        const TemporaryFolder folder64;
        const std::vector<double> expected64 = trainAndWrite<double>(folder64, model);
        EXPECT_LT(errorOf(runInPython(folder64, expected64.size()), expected64), 1e-10);
        EXPECT_EQ(folder64.read("card.json"), "{\"fields\":[\"U\",\"p\"],\"horizon\":4}");
    }
}


TEST(Artifact, HoldsAUsersModule)
{
    if (python().empty())
    {
        GTEST_SKIP() << "INSITU_PYTHON names no interpreter with torch";
    }
    const TemporaryFolder folder;
    torch::jit::Module user("userModel");
    user.register_attribute("training", c10::BoolType::get(), true);
    user.register_parameter("weight",
        at::sin(at::arange(16, at::kFloat)).reshape({2, 8}).requires_grad_(), false);
    user.define(R"(
def forward(self, nodes: Tensor, edge_index: Tensor) -> Tensor:
    x = torch.dropout(nodes, 0.4, self.training) @ self.weight.t()
    return torch.tanh(x.index_add(0, edge_index[1], x[edge_index[0]]))
)");
    user.save(folder / "user.pt");

    const std::vector<double> expected = trainAndWrite<double>(folder,
        {{"model.type", "torchscript"}, {"model.filename", folder / "user.pt"}});

    EXPECT_LT(errorOf(runInPython(folder, expected.size()), expected), 1e-10);
    EXPECT_LT(errorOf(runInPython(folder, expected.size(), "float32"), expected), 1e-3);
}


TEST(Artifact, LoadsInCpp)
{
    const TemporaryFolder folder;
    trainAndWrite<float>(folder, meshGraphNet);

    std::unordered_map<std::string, std::string> extra{{"card.json", ""}};
    const torch::jit::Module module = torch::jit::load(folder / "model.pt", at::kCPU, extra);

    EXPECT_EQ(extra["card.json"], "{\"fields\":[\"U\",\"p\"],\"horizon\":4}");
    EXPECT_FALSE(module.is_training());
}


TEST(Artifact, FailureLeavesTheEarlierFileAndNothingElse)
{
    const TemporaryFolder folder;
    const TrainCase<float> data;
    TrainerBench bench(trainingConfig(mlp), data.layout());
    ArtifactContent content;
    content.nInputColumns = 3;
    content.input = data.normaliser().input();
    content.target = data.normaliser().target();
    content.inputReference = {1, 2};
    content.targetReference = {0, 0};

    EXPECT_THROW(writeArtifact(folder / "model.pt", bench.trainer.model(), content), Error);
    content.inputReference = {1, 2, 3};
    EXPECT_THROW(writeArtifact(folder / "absent/model.pt", bench.trainer.model(), content), Error);
    writeArtifact(folder / "model.pt", bench.trainer.model(), content);

    int nFiles = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder / ""))
    {
        EXPECT_EQ(entry.path().filename(), "model.pt");
        ++nFiles;
    }
    EXPECT_EQ(nFiles, 1);
}
