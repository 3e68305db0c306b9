// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/TorchScriptModel.hpp"

#include "TemporaryFolder.hpp"
#include "TrainCase.hpp"

#include <gmock/gmock.h>

using namespace inSitu;
using testing::HasSubstr;

namespace
{

using Entries = std::vector<std::pair<std::string, std::string>>;

constexpr const char* graphSource = R"(
def forward(self, nodes: Tensor, edge_index: Tensor, edges: Tensor) -> Tensor:
    messages = torch.tanh(nodes[edge_index[0]] @ self.weight.t())*edges[:, 2:3]
    y = torch.zeros([nodes.size(0), 2], dtype=nodes.dtype)
    return y.index_add(0, edge_index[1], messages) + self.offset
)";


//- A module with a parameter `weight` [2, 8], a buffer `offset` and the given forward
std::string savedModule(const TemporaryFolder& folder, const std::string& source,
    bool trainable = true)
{
    torch::jit::Module module("userModel");
    module.register_attribute("training", c10::BoolType::get(), true);
    module.register_parameter("weight",
        at::sin(at::arange(16, at::kFloat)).reshape({2, 8}).requires_grad_(trainable), false);
    module.register_buffer("offset", at::tensor({0.25f, -0.5f}));
    module.define(source);
    module.save(folder / "model.pt");
    return folder / "model.pt";
}


TrainingConfig scripted(const std::string& file, const Entries& more = {})
{
    Entries entries{{"precision", "float64"}, {"model.type", "torchscript"},
        {"model.filename", file}};
    entries.insert(entries.end(), more.begin(), more.end());
    return trainingConfig(entries);
}


template<class Call>
std::string complaintOf(Call call)
{
    try
    {
        call();
    }
    catch (const Error& error)
    {
        return error.what();
    }
    return "nothing was thrown";
}


//- What the model makes of a batch of two random samples
at::Tensor outputOf(Model& model, const MeshState& mesh)
{
    const at::Tensor nodes =
        at::cos(at::arange(2*mesh.graph->nNodes()*8, at::kDouble)).reshape({2, -1, 8});
    const at::Tensor edges =
        at::sin(at::arange(mesh.graph->nEdges()*3, at::kDouble)).reshape({-1, 3});
    return model.forward({mesh.graph, nodes, edges});
}

}


TEST(TorchScriptModel, SeesNodesAndGraphSampleBySample)
{
    const TemporaryFolder folder;
    const TrainCase<double> data;
    TorchScriptModel model(savedModule(folder, graphSource), {8, 3, 2}, Precision::float64, 1);

    const at::Tensor output = outputOf(model, data.mesh);

    const MeshGraph& graph = *data.mesh.graph;
    const at::Tensor nodes =
        at::cos(at::arange(2*graph.nNodes()*8, at::kDouble)).reshape({2, -1, 8});
    const at::Tensor weight = at::sin(at::arange(16, at::kFloat)).reshape({2, 8}).to(at::kDouble);
    const int cell = 13;
    at::Tensor expected = at::tensor({0.25, -0.5}, at::kDouble);
    for (int e = graph.receiverStart()[cell]; e < graph.receiverStart()[cell + 1]; ++e)
    {
        const double length = std::sin(3.0*e + 2);
        expected += at::tanh(weight.mv(nodes[1][graph.senders()[e]]))*length;
    }
    EXPECT_LT((output[1][cell] - expected).abs().max().item<double>(), 1e-14);
    EXPECT_EQ(output.sizes(), (std::vector<std::int64_t>{2, data.nNodes(), 2}));
}


TEST(TorchScriptModel, OutputOfCellsAloneIsPadded)
{
    const TemporaryFolder folder;
    const TrainCase<double> data;
    TorchScriptModel model(savedModule(folder,
        "def forward(self, nodes: Tensor) -> Tensor:\n    return nodes[:30] @ self.weight.t()\n"),
        {8, 3, 2}, Precision::float64, 1);

    const at::Tensor output = outputOf(model, data.mesh);

    EXPECT_EQ(output.sizes(), (std::vector<std::int64_t>{2, data.nNodes(), 2}));
    EXPECT_NE(output[1][29][1].item<double>(), 0);
    EXPECT_EQ(output[1][30][1].item<double>(), 0);
}


TEST(TorchScriptModel, IsTrainedInPlaceAndResumesBitForBit)
{
    const TemporaryFolder folder;
    const TrainCase<double> data;
    const Normaliser scales = data.normaliser();
    const std::string file = savedModule(folder, R"(
def forward(self, nodes: Tensor) -> Tensor:
    kept = torch.dropout(nodes, 0.3, self.training)
    return kept @ self.weight.t() + self.offset
)");
    const Entries settings{{"optimizer.learningRate", "0.05"}};
    TrainerBench unbroken(scripted(file, settings), data.layout());
    EXPECT_EQ(unbroken.trainer.model().nParameters(), 16);

    const double first = unbroken.trainer.step({data.sample(0)}, scales).loss;
    double last = first;
    for (int k = 1; k < 30; ++k)
    {
        last = unbroken.trainer.step({data.sample(k % 3)}, scales).loss;
        if (k == 11)
        {
            // Later draws must not matter: the state holds the generator
            const StateTree state = unbroken.trainer.save();
            at::rand({3});
            unbroken.trainer.load(state);
        }
    }
    EXPECT_LT(last, 0.9*first);

    TrainerBench second(scripted(file, settings), data.layout());
    for (int k = 0; k < 30; ++k)
    {
        second.trainer.step({data.sample(k % 3)}, scales);
    }
    EXPECT_EQ(firstDifference(second.trainer.save(), unbroken.trainer.save()), "");
}


TEST(TorchScriptModel, FaultsNameFileAndShapes)
{
    const TemporaryFolder folder;
    const TrainCase<double> data;
    const auto outputComplaint = [&](const std::string& body)
    {
        TorchScriptModel model(savedModule(folder,
            "def forward(self, nodes: Tensor) -> Tensor:\n    return " + body + '\n'),
            {8, 3, 2}, Precision::float64, 1);
        return complaintOf([&] { outputOf(model, data.mesh); });
    };
    const auto buildComplaint = [&](const std::string& file)
    {
        return complaintOf([&] { TorchScriptModel(file, {8, 3, 2}, Precision::float32, 1); });
    };

    EXPECT_THAT(outputComplaint("nodes[:7] @ self.weight.t()"),
        testing::AllOf(HasSubstr("[7, 2]"), HasSubstr("[36, 2]"), HasSubstr("[30, 2]")));
    EXPECT_THAT(outputComplaint("nodes"), HasSubstr("[36, 8]"));
    EXPECT_THAT(outputComplaint("(nodes @ self.weight.t()).float()"), HasSubstr("type"));
    EXPECT_THAT(outputComplaint("nodes @ self.weight"),
        testing::AllOf(HasSubstr("model.pt"), HasSubstr("was given nodes [36, 8]")));

    EXPECT_THAT(outputComplaint("nodes.mul_(2.0) @ self.weight.t()"),
        HasSubstr("writes into its argument 'nodes'"));

    EXPECT_THAT(buildComplaint(folder / "absent.pt"), HasSubstr("absent.pt"));
    EXPECT_THAT(buildComplaint(savedModule(folder,
        "def forward(self, a: Tensor, b: Tensor, c: Tensor, d: Tensor) -> Tensor:\n"
        "    return a\n")),
        HasSubstr("4 arguments"));
    EXPECT_THAT(buildComplaint(savedModule(folder,
        "def forward(self, a: Tensor) -> Tensor:\n    return a\n", false)),
        HasSubstr("no parameter to train"));
}
