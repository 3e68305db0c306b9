// SPDX-License-Identifier: GPL-3.0-or-later
#include "infer/Surrogate.hpp"

#include "TemporaryFolder.hpp"
#include "TrainCase.hpp"
#include "base/Error.hpp"
#include "model/TorchScriptModel.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <tuple>

namespace inSitu
{
namespace
{

using testing::HasSubstr;

//- Save a module with a weight [3, 2] and this source, and a card beside it
std::string save(const TemporaryFolder& folder, const std::string& source,
    const std::string& moreOfCard = "", double weight = 0.25)
{
    torch::jit::Module module("theirs");
    module.register_parameter("weight",
        weight*at::arange(1, 7, at::kFloat).reshape({3, 2}), false);
    module.define(source);
    module.save(folder / "net.pt");
    folder.write("net.pt.card.json", R"({"format": 1, "target": "value",
        "inputs": [{"name": "U", "columns": ["Ux", "Uy"]}, {"name": "p"}],
        "targets": [{"name": "a"}, {"name": "b"}])"
        + (moreOfCard.empty() ? "" : ", " + moreOfCard) + '}');
    return folder / "net.pt";
}


struct Bench
{
    std::unique_ptr<Surrogate> load(const std::string& path)
    {
        return loadSurrogate(path, pool,
            [this](const std::string& cache, const std::string& reason, double)
            { builds.push_back(cache + ' ' + reason); });
    }

    std::vector<double> predict(Surrogate& surrogate, const Sample& sample)
    {
        std::vector<double> values(2*static_cast<std::size_t>(sample.mesh.graph->nCells()));
        surrogate.predict(sample, Span<double>(values));
        return values;
    }

    std::string faultOf(const std::string& path)
    {
        const TrainCase<float> data;
        try
        {
            const auto surrogate = load(path);
            predict(*surrogate, data.sample(3));
            return "nothing";
        }
        catch (const Error& fault)
        {
            return fault.what();
        }
    }

    ThreadPool pool{1};
    std::vector<std::string> builds;
};


//- Columns 0 and 1 of nodes @ weight, in double
std::vector<double> nodesTimesWeight(const TrainCase<float>& data, int k)
{
    std::vector<double> expected;
    for (std::int64_t row = 0; row < data.nCells(); ++row)
    {
        for (int column = 0; column < 2; ++column)
        {
            double sum = 0;
            for (int c = 0; c < 3; ++c)
            {
                sum += 0.25*(1 + 2*c + column)*TrainCase<float>::input(k, row, c);
            }
            expected.push_back(sum);
        }
    }
    return expected;
}

}


TEST(ScriptSurrogate, GetsEdgeInputsBehindTheColumnsOfTheGeometry)
{
    const TemporaryFolder folder;
    const TrainCase<float> data;
    const MeshGraph& graph = *data.mesh.graph;
    Bench bench;
    const auto surrogate = bench.load(save(folder, R"(
def forward(self, nodes, edge_index, edges):
    sums = torch.zeros(nodes.size(0), 1).index_add(0, edge_index[1], edges[:, 3:])
    return torch.cat([sums, -2*sums], 1)
)", R"("edgeInputs": [{"name": "phi"}])"));

    for (const int k : {1, 4})
    {
        std::vector<float> edges;
        std::vector<double> expected(2*static_cast<std::size_t>(data.nCells()), 0.0);
        for (std::int32_t edge = 0; edge < graph.nEdges(); ++edge)
        {
            edges.push_back(0.25f*static_cast<float>(edge % 7 - k));
            expected[2*graph.receivers()[edge]] += edges.back();
            expected[2*graph.receivers()[edge] + 1] -= 2*edges.back();
        }
        Sample sample = data.sample(k);
        sample.edges = slotOf(std::move(edges));
        EXPECT_EQ(bench.predict(*surrogate, sample), expected);
    }
    EXPECT_EQ(surrogate->firstStaleEntry(), "");
}


TEST(ScriptSurrogate, TakesEachSubsetOfArguments)
{
    const TrainCase<float> data;
    const std::vector<double> edges = edgeFeatures(*data.mesh.graph, *data.mesh.geometry);
    double lengths = 0;
    double rows = 0;
    for (std::int64_t e = 0; e < data.mesh.graph->nEdges(); ++e)
    {
        lengths += edges[3*e + 2];
    }
    const at::Tensor index = edgeIndexOf(*data.mesh.graph);
    rows = (2*index[0] + 3*index[1]).sum().item<double>();

    // What each argument adds to the columns, and the same from the arrays of the mesh
    using Addend = std::function<double(std::int64_t row)>;
    const std::vector<double> product = nodesTimesWeight(data, 3);
    const std::vector<float>& fixed = *data.mesh.staticFeatures;
    const std::vector<std::tuple<std::string, std::string, Addend>> parts
    {
        {"edges", "edges[:, 2].sum()", [&](std::int64_t) { return lengths; }},
        {"nodes", "nodes @ self.weight", [&](std::int64_t row) { return product[2*row + 1]; }},
        {"edge_index", "(2*edge_index[0] + 3*edge_index[1]).sum()/1000",
            [&](std::int64_t) { return rows/1000; }},
        {"static", "(static[:, :2] - 3*static[:, 3:4])",
            [&](std::int64_t row) { return fixed[5*row + 1] - 3*fixed[5*row + 3]; }}
    };

    for (unsigned set = 1; set < 16; ++set)
    {
        std::string arguments, quoted, sum = "torch.zeros(36, 2)";
        for (unsigned i = 0; i < 4; ++i)
        {
            if (set & (1u << i))
            {
                const auto& [name, line, addend] = parts[i];
                arguments += ", " + name;
                quoted += (quoted.empty() ? "\"" : ", \"") + name + '"';
                sum += " + " + line;
            }
        }
        const TemporaryFolder folder;
        Bench bench;
        const auto surrogate = bench.load(save(folder,
            "def forward(self" + arguments + "):\n    return " + sum + '\n',
            "\"arguments\": [" + quoted + ']'));
        const std::vector<double> values = bench.predict(*surrogate, data.sample(3));
        for (std::int64_t row = 0; row < data.nCells(); ++row)
        {
            double expected = 0;
            for (unsigned i = 0; i < 4; ++i)
            {
                expected += set & (1u << i) ? std::get<2>(parts[i])(row) : 0;
            }
            ASSERT_NEAR(values[2*row + 1], expected, 1e-5*(1 + std::abs(expected)))
                << arguments << " row " << row;
        }
    }
}


TEST(ScriptSurrogate, GivesRawValuesInThePrecisionOfTheCard)
{
    const TemporaryFolder folder;
    const std::string path = save(folder, R"(
def forward(self, nodes, edge_index, edges):
    assert nodes.dtype == 7 and edges.dtype == 7    # float64
    assert edge_index.dtype == 4                    # int64
    return nodes[:25] @ self.weight.to(nodes)
)", "\"precision\": \"float64\", \"targetMinimum\": [-1, 2], \"targetMaximum\": [7, 8]");
    Bench bench;
    const auto surrogate = bench.load(path);
    EXPECT_EQ(surrogate->precision(), Precision::float64);
    EXPECT_EQ(surrogate->nParameters(), 6);
    EXPECT_EQ(surrogate->inputReference(), std::vector<double>(3, 0.0));
    EXPECT_EQ(surrogate->card().targetMaximum, (std::vector<double>{7, 8}));

    // Rows of the cells alone are enough: 5 × 5 of them
    const TrainCase<double> data(5, 5);
    const TrainCase<float> same(5, 5);
    const std::vector<double> values = bench.predict(*surrogate, data.sample(4));
    const std::vector<double> expected = nodesTimesWeight(same, 4);
    for (std::size_t i = 0; i < expected.size(); ++i)
    {
        ASSERT_NEAR(values[i], expected[i], 1e-14);
    }
}


TEST(ScriptSurrogate, AppendsFeatures)
{
    const TemporaryFolder folder;
    const std::string path = save(folder, R"(
def forward(self, nodes):
    return nodes[:, 2:4]
)", "\"features\": [\"deltaT\"], \"arguments\": [\"nodes\"]");
    Bench bench;
    const auto surrogate = bench.load(path);
    const TrainCase<float> data;
    Sample sample = data.sample(2);
    sample.features = {0.375};
    const std::vector<double> values = bench.predict(*surrogate, sample);
    EXPECT_FLOAT_EQ(static_cast<float>(values[8]), static_cast<float>(data.input(2, 4, 2)));
    EXPECT_EQ(values[9], 0.375);
}


TEST(ScriptSurrogate, MakesArraysOfTheMeshOncePerMesh)
{
    const TemporaryFolder folder;
    const std::string path = save(folder, R"(
def forward(self, nodes, edge_index, edges):
    return nodes @ self.weight
)");
    Bench bench;
    const auto surrogate = bench.load(path);
    EXPECT_EQ(surrogate->firstStaleEntry(), "");
    const TrainCase<float> data;
    for (int k = 0; k < 3; ++k)
    {
        bench.predict(*surrogate, data.sample(k));
    }
    Sample moved = data.sample(3);
    moved.mesh.geometry = std::make_shared<MeshGeometry>(*moved.mesh.geometry);
    bench.predict(*surrogate, moved);
    EXPECT_EQ(bench.builds,
        (std::vector<std::string>{"modelInputs start", "modelInputs geometry"}));
    EXPECT_EQ(surrogate->firstStaleEntry(), "");

    // A mesh that is changed behind our back
    const_cast<MeshGeometry&>(*moved.mesh.geometry).centres[7] += 0.25;
    EXPECT_EQ(surrogate->firstStaleEntry(), "modelInputs");
}


TEST(ScriptSurrogate, SaysWhatAModelDoesWrong)
{
    const TemporaryFolder folder;
    Bench bench;
    const auto fault = [&](const std::string& body, const std::string& card = "")
    {
        return bench.faultOf(save(folder, "def forward(self, nodes, edge_index, edges):\n" + body,
            card));
    };
    const std::string name = "model \"" + (folder / "net.pt") + "\"";
    EXPECT_EQ(fault("    return nodes @ self.weight\n"), "nothing");
    EXPECT_THAT(fault("    return (nodes @ self.weight, nodes)\n"),
        testing::AllOf(HasSubstr(name), HasSubstr("gives Tuple[Tensor, Tensor]"), HasSubstr("one tensor")));
    EXPECT_THAT(fault("    return {'y': nodes @ self.weight}\n"), HasSubstr("gives Dict[str, Tensor]"));
    EXPECT_THAT(fault("    return nodes\n"), testing::AllOf(HasSubstr("gives a tensor [36, 3]"),
        HasSubstr("wanted is [30 or 36, 2]")));
    EXPECT_THAT(fault("    return (nodes @ self.weight)[:7]\n"), HasSubstr("gives a tensor [7, 2]"));
    EXPECT_THAT(fault("    return (nodes @ self.weight).flatten()\n"),
        HasSubstr("gives a tensor [72]"));
    EXPECT_THAT(fault("    return nodes @ self.weight.t()\n"), HasSubstr(folder / "net.pt"));
    EXPECT_THAT(fault("    return nodes.cuda() @ self.weight\n"), HasSubstr(folder / "net.pt"));
    EXPECT_EQ(fault("    nodes.mul_(2.0)\n    return nodes @ self.weight\n"), "nothing");
    EXPECT_THAT(fault("    edges.mul_(1.25)\n    return nodes @ self.weight\n"),
        HasSubstr("writes into its argument 'edges'"));
    EXPECT_THAT(fault("    edge_index.copy_(edge_index.flip(0))\n    return nodes @ self.weight\n"),
        HasSubstr("writes into its argument 'edge_index'"));
    EXPECT_THAT(fault("    y = nodes @ self.weight\n    return torch.complex(y, y)\n"),
        HasSubstr("gives complex numbers"));
    EXPECT_THAT(fault("    return nodes\n", "\"arguments\": [\"nodes\"]"),
        HasSubstr("forward() with the arguments that the card names"));
    EXPECT_THAT(bench.faultOf(save(folder, "def forward(self, nodes, edge_index, edges):\n"
        "    return nodes @ self.weight\n", "", std::nan(""))),
        HasSubstr("has values in weight that are not finite"));
}

}
