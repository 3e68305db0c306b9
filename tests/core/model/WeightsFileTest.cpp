// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/WeightsFile.hpp"

#include "TemporaryFolder.hpp"
#include "base/Error.hpp"
#include "io/Archive.hpp"
#include "io/Checkpoint.hpp"
#include "io/StateDictionaryPickle.hpp"
#include "model/MdlusFile.hpp"
#include "model/Mlp.hpp"
#include "model/NetworkScript.hpp"
#include "model/TensorState.hpp"
#include "model/TorchScriptModel.hpp"

#include <gmock/gmock.h>
#include <torch/script.h>

namespace inSitu
{
namespace
{

using testing::HasSubstr;


MeshGraphNetOptions meshGraphNet(std::int64_t width = 6)
{
    MeshGraphNetOptions options;
    options.processorSize = 2;
    options.hiddenSize = width;
    return options;
}


at::Tensor allOf(const Model& model)
{
    std::vector<at::Tensor> rows;
    for (const auto& [name, tensor] : model.namedTensors())
    {
        rows.push_back(tensor.flatten().to(at::kDouble));
    }
    return at::cat(rows);
}


ArtifactContent contentFor(int nInputs, int nTargets)
{
    const auto ones = [](int n) { return std::vector<double>(static_cast<std::size_t>(n), 1.0); };
    ArtifactContent content;
    content.nInputColumns = nInputs;
    content.input = {ones(nInputs), ones(nInputs)};
    content.target = {ones(nTargets), ones(nTargets)};
    content.inputReference = ones(nInputs);
    content.targetReference = ones(nTargets);
    content.edgeScales = ones(4);
    content.card = "{\"format\":1}";
    return content;
}


//- As torch.save writes it
void saveState(const std::string& path, const std::vector<std::pair<std::string, at::Tensor>>& named)
{
    StateTree state;
    for (const auto& [name, tensor] : named)
    {
        putTensor(state, name, tensor);
    }
    const NamedArrays arrays(state.arrays().begin(), state.arrays().end());
    ArchiveMembers members{{"w/version", "3\n"}, {"w/data.pkl", stateDictionaryPickle(arrays)}};
    for (std::size_t i = 0; i < arrays.size(); ++i)
    {
        members["w/data/" + std::to_string(i)] = std::string(
            static_cast<const char*>(arrays[i].second.data.get()), arrays[i].second.bytes());
    }
    std::ofstream(path, std::ios::binary) << zipArchive(members);
}


class WeightsFileTest : public testing::Test
{
protected:

    std::unique_ptr<Model> make(std::uint64_t seed, Precision precision = Precision::float32)
    {
        return meshGraphNet().build({3, 4, 2}, precision, seed, pool);
    }

    std::string faultOf(const std::string& path)
    {
        try
        {
            readWeights(path);
            return "none";
        }
        catch (const Error& fault)
        {
            return fault.what();
        }
    }

    const TemporaryFolder folder;
    ThreadPool pool{1};
};


TEST_F(WeightsFileTest, TakesAWholeNetworkFromEachKindOfFile)
{
    const auto source = make(5);
    writeArtifact(folder / "artifact", *source, contentFor(3, 2));
    writeMdlus(folder / "mdlus", *source);
    saveState(folder / "state", source->namedTensors());
    StateTree state;
    for (const auto& [name, tensor] : source->namedTensors())
    {
        putTensor(state, "loop/trainer/model/" + name, tensor);
    }
    writeCheckpoint(folder / "checkpoint", state, {});

    // torch.jit.load("model.pt").state_dict(): the names of an artifact, with the scales around it
    auto named = source->namedTensors();
    for (auto& [name, tensor] : named)
    {
        name = attributeOf(name);
    }
    named.emplace_back("edge_scale", at::ones({4}));
    saveState(folder / "artifactState", named);

    const std::vector<std::pair<std::string, std::string>> files{{"artifact", "an artifact"},
        {"mdlus", "a model of PhysicsNeMo"}, {"state", "a state dictionary"},
        {"artifactState", "a state dictionary"},
        {"checkpoint", "a checkpoint"}};
    for (const auto& [file, kind] : files)
    {
        const auto model = make(6);
        ASSERT_FALSE(at::equal(allOf(*model), allOf(*source)));
        const WeightsFile weights = readWeights(folder / file);
        const WeightsMatch match = takeWeights(*model, weights);
        EXPECT_TRUE(at::equal(allOf(*model), allOf(*source))) << file;
        EXPECT_EQ(weights.kind, kind);
        EXPECT_EQ(match.matched.size(), source->namedTensors().size());
        EXPECT_EQ(match.missing.size() + match.leftOver.size() + match.otherShape.size(), 0u)
            << match.text();

        const auto wide = make(6, Precision::float64);
        takeWeights(*wide, weights);
        EXPECT_TRUE(at::equal(allOf(*wide), allOf(*source))) << file;
    }
}


TEST_F(WeightsFileTest, ListsWhatDoesNotMatch)
{
    const auto source = make(5);
    auto named = source->namedTensors();
    named.erase(named.begin() + 2);
    named.front().second = at::zeros({2, 9});
    named.emplace_back("extra.weight", at::ones({3}));
    for (auto& [name, tensor] : named)
    {
        name = "model_state_dict/module." + name;
    }
    saveState(folder / "state", named);

    const auto model = make(6);
    const auto before = allOf(*model).clone();
    const WeightsMatch match = takeWeights(*model, readWeights(folder / "state"));
    const auto inModel = model->namedTensors();
    EXPECT_EQ(match.prefix, "model_state_dict/module.");
    EXPECT_EQ(match.missing, std::vector<std::string>{inModel[2].first});
    EXPECT_EQ(match.leftOver, std::vector<std::string>{"model_state_dict/module.extra.weight"});
    ASSERT_EQ(match.otherShape.size(), 1u);
    EXPECT_EQ(match.otherShape[0], inModel[0].first + " [6, 4], in the file [2, 9]");
    EXPECT_EQ(match.matched.size(), inModel.size() - 2);
    for (const char* const part : {"matched below 'model_state_dict/module.' (", "missing in the file",
        "of another shape", "left over in the file (1): model_state_dict/module.extra.weight"})
    {
        EXPECT_THAT(match.text(), HasSubstr(part));
    }
    const std::int64_t first = inModel[0].second.numel();
    EXPECT_TRUE(at::equal(allOf(*model).narrow(0, 0, first), before.narrow(0, 0, first)));
    EXPECT_TRUE(at::equal(inModel[3].second, source->namedTensors()[3].second));
}


TEST_F(WeightsFileTest, WorksForUsersModulesAndMlps)
{
    torch::jit::Module user("userModel");
    user.register_parameter("weight", at::sin(at::arange(6, at::kFloat)).reshape({2, 3})
        .requires_grad_(), false);
    user.register_buffer("offset", at::full({2}, 0.75));
    user.define(R"(
def forward(self, nodes: Tensor) -> Tensor:
    return nodes @ self.weight.t() + self.offset
)");
    user.save(folder / "user.pt");
    TorchScriptModel source(folder / "user.pt", {3, 4, 2}, Precision::float32, 1);
    const at::Tensor wanted = allOf(source).clone();
    writeArtifact(folder / "artifact", source, contentFor(3, 2));

    TorchScriptModel other(folder / "user.pt", {3, 4, 2}, Precision::float32, 1);
    const at::NoGradGuard noGradients;
    for (const auto& [name, tensor] : other.namedTensors())
    {
        at::Tensor(tensor).fill_(-3);
    }
    const WeightsMatch match = takeWeights(other, readWeights(folder / "artifact"));
    EXPECT_EQ(match.prefix, "network.");
    EXPECT_TRUE(at::equal(allOf(other), wanted));
    EXPECT_TRUE(at::equal(other.parameters().front(), source.parameters().front()));

    const auto mlp = MlpOptions().build({3, 4, 2}, Precision::float32, 5, pool);
    const auto copy = MlpOptions().build({3, 4, 2}, Precision::float32, 6, pool);
    writeArtifact(folder / "mlp", *mlp, contentFor(3, 2));
    takeWeights(*copy, readWeights(folder / "mlp"));
    EXPECT_TRUE(at::equal(allOf(*copy), allOf(*mlp)));

    // Another network: nothing is changed
    const auto graphNet = make(6);
    const at::Tensor before = allOf(*graphNet).clone();
    EXPECT_THROW(takeWeights(*graphNet, readWeights(folder / "user.pt")), Error);
    EXPECT_TRUE(at::equal(allOf(*graphNet), before));
}


TEST_F(WeightsFileTest, SaysWhatCannotBeRead)
{
    EXPECT_THAT(faultOf(folder / "absent"), HasSubstr("is not there"));
    EXPECT_THAT(faultOf(folder / ""), HasSubstr("manifest.json is missing"));
    EXPECT_THAT(faultOf(folder.write("text", "x")), HasSubstr("neither a zip nor a tar"));
    EXPECT_THAT(faultOf(folder.write("net.pt2", zipArchive({{"m/models/model.json", "{}"},
        {"m/archive_format", "pt2"}}))), HasSubstr("from which weights are not taken"));
    saveState(folder / "bad", {{"a", at::full({3}, NAN)}});
    EXPECT_THAT(faultOf(folder / "bad"), HasSubstr("values in a that are not finite"));
    saveState(folder / "none", {});
    EXPECT_THAT(faultOf(folder / "none"), HasSubstr("has no tensors"));
}

}
}
