// SPDX-License-Identifier: GPL-3.0-or-later
#include "infer/inspectHdf5.hpp"

#include "base/Error.hpp"
#include "base/Text.hpp"
#include "io/Checkpoint.hpp"
#include "io/Hdf5File.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace inSitu
{
namespace
{

const char* nameOf(StateTree::Type type)
{
    switch (type)
    {
        case StateTree::Type::float32: return "float32";
        case StateTree::Type::float64: return "float64";
        case StateTree::Type::int32: return "int32";
        case StateTree::Type::int64: return "int64";
        case StateTree::Type::uint8: break;
    }
    return "uint8";
}


template<class T>
bool allFinite(const StateTree::Array& array)
{
    const T* const values = static_cast<const T*>(array.data.get());
    return std::all_of(values, values + array.count(),
        [](T value) { return std::isfinite(value); });
}


bool isFinite(const StateTree::Array& array)
{
    return array.type == StateTree::Type::float32 ? allFinite<float>(array)
        : array.type != StateTree::Type::float64 || allFinite<double>(array);
}


std::vector<std::string> words(const std::string& text)
{
    std::istringstream stream(text);
    std::vector<std::string> result;
    for (std::string word; stream >> word;)
    {
        result.push_back(word);
    }
    return result;
}


// ---- checkpoints

//- Mean and deviation of columns; the reference is taken off before they are measured
void addMoments(Inspection& result, const std::string& side, const StateTree& moments,
    const std::vector<std::string>& columns, const std::vector<double>& reference)
{
    const auto mean = moments.get<double>("mean");
    const auto m2 = moments.get<double>("m2");
    const double weight = moments.getDouble("weight");
    for (std::size_t i = 0; i < std::min(columns.size(), mean.size()); ++i)
    {
        result.scales.push_back({side, columns[i],
            mean[i] + (i < reference.size() ? reference[i] : 0),
            weight > 0 ? std::sqrt(m2.at(i)/weight) : 0});
    }
}


void addState(Inspection& result, const StateTree& state)
{
    const StateTree run = state.subTree("run");
    const auto fact = [&](const std::string& what, const std::string& value)
    {
        result.facts.emplace_back(what, value);
    };
    fact("format", std::to_string(run.getInt("format")));
    fact("versions", run.getText("versions"));
    fact("mesh", run.getText("mesh"));
    const StateTree columnsOf = run.subTree("columns");
    for (const auto& [what, columns] : columnsOf.texts())
    {
        fact("columns, " + what, columns);
    }
    const StateTree loop = state.subTree("loop");
    fact("training record", std::to_string(loop.getInt("normaliser/samples")) + " samples, "
        + std::to_string(loop.getInt("trainer/nSteps")) + " steps, "
        + std::to_string(loop.getInt("trainer/nUpdates")) + " updates");
    fact("optimizer", loop.getText("trainer/optimizerType"));
    const StateTree configuration = run.subTree("configuration");
    for (const auto& [key, value] : configuration.texts())
    {
        fact("configuration, " + key, value);
    }

    addTensors(result, loop.subTree("trainer/model"));
    addMoments(result, "input", loop.subTree("normaliser/input"),
        words(run.getText("columns/inputs")), loop.get<double>("normaliser/inputReference"));
    addMoments(result, "target", loop.subTree("normaliser/target"),
        words(run.getText("columns/targets")), {});

    const StateTree edge = loop.subTree("normaliser/edge");
    std::vector<std::string> edgeInputs = words(run.getText("columns/edges"));
    const std::size_t nInputs = edge.getArray("mean").count();
    if (nInputs > edgeInputs.size())
    {
        throw Error("it has moments of " + std::to_string(nInputs) + " edge inputs, and "
            + std::to_string(edgeInputs.size()) + " columns of edges");
    }
    edgeInputs.erase(edgeInputs.begin(),
        edgeInputs.end() - static_cast<std::ptrdiff_t>(nInputs));
    addMoments(result, "edge", edge, edgeInputs, {});
}


//- What a predictor leaves for a restart of its rollout
void addRollout(Inspection& result, const StateTree& state)
{
    result.kind = "a rollout that a restart goes on with";
    const StateTree rollout = state.subTree("rollout");
    result.facts.emplace_back("columns", state.getText("columns"));
    result.facts.emplace_back("steps", std::to_string(rollout.getInt("step")));
    result.facts.emplace_back("time of the input", numberText(rollout.getDouble("inputTime")));
    result.facts.emplace_back("executions since", std::to_string(rollout.getInt("waited")));
}


//- How many ranks wrote a checkpoint, and whether the values of all are finite
void addParts(Inspection& result, const Checkpoint& checkpoint, const std::string& check)
{
    result.facts.emplace_back("ranks", std::to_string(checkpoint.nRanks));
    std::string fault;
    for (const RankPart& part : checkpoint.parts)
    {
        Inspection values;
        addTensors(values, part.values);
        addTensors(values, part.replay.value_or(StateTree()));
        for (const auto& found : values.checks)
        {
            fault = fault.empty() ? found.fault : fault;
        }
    }
    result.checks.push_back({check, fault});
}


// ---- graph.h5

void require(Inspection& result, const std::string& what, bool good, const std::string& fault)
{
    result.checks.push_back({what, good ? "" : fault});
}


void addGraph(Inspection& result, const StateTree& tree)
{
    result.kind = "a graph (graph.h5)";
    const std::int64_t nNodes = tree.getInt("n_nodes");
    const std::int64_t nCells = tree.getInt("n_cells");
    const std::int64_t nEdges = tree.getInt("n_edges");
    result.facts.emplace_back("cells", std::to_string(nCells));
    result.facts.emplace_back("nodes", std::to_string(nNodes));
    result.facts.emplace_back("edges", std::to_string(nEdges));
    result.facts.emplace_back("node columns", tree.getText("static/names"));
    result.facts.emplace_back("edge columns", tree.getText("edges/names"));
    for (const char* const note : {"order", "missing"})
    {
        if (tree.has(note))
        {
            result.facts.emplace_back(note, tree.getText(note));
        }
    }

    using Shape = std::vector<std::int64_t>;
    const auto nStatic = static_cast<std::int64_t>(tree.getArray("static").shape.back());
    const auto nFeatures = static_cast<std::int64_t>(tree.getArray("edges").shape.back());
    require(result, "sizes", tree.getArray("edge_index").shape == Shape{2, nEdges}
     && tree.getArray("edges").shape == Shape{nEdges, nFeatures}
     && tree.getArray("static").shape == Shape{nNodes, nStatic}
     && tree.getArray("centres").shape == Shape{nNodes, 3}
     && tree.getArray("cell_volumes").shape == Shape{nCells},
        "arrays are not of the sizes that n_nodes, n_cells and n_edges state");

    const auto index = tree.get<std::int64_t>("edge_index");
    const auto half = index.begin() + static_cast<std::ptrdiff_t>(index.size()/2);
    require(result, "senders and receivers", std::all_of(index.begin(), index.end(),
        [&](std::int64_t node) { return node >= 0 && node < nNodes; }),
        "edges begin or end at nodes that are not there");
    require(result, "order of receivers", std::is_sorted(half, index.end()),
        "receivers do not ascend");
}

}


bool isHdf5(const std::string& path)
{
    char begin[8] = {};
    std::ifstream(path, std::ios::binary).read(begin, sizeof(begin));
    return std::string(begin, sizeof(begin)) == std::string("\x89HDF\r\n\x1a\n", 8);
}


void addTensors(Inspection& result, const StateTree& tree)
{
    std::string fault;
    for (const auto& [name, array] : tree.arrays())
    {
        result.tensors.push_back({name, nameOf(array.type), array.shape});
        if (fault.empty() && !isFinite(array))
        {
            fault = name + " has values that are not";
        }
    }
    result.checks.push_back({"finite values", fault});
}


void inspectCheckpoint(Inspection& result)
{
    if (!std::filesystem::exists(result.path + "/manifest.json")
     && !std::filesystem::exists(result.path + ".old/manifest.json"))
    {
        throw Error("'" + result.path + "' is a folder without manifest.json: no checkpoint");
    }
    result.kind = "a checkpoint";
    const Checkpoint checkpoint = readCheckpoint(result.path);
    result.checks.push_back({"manifest, sizes and checksums", ""});
    if (checkpoint.state.has("rollout/step"))
    {
        addRollout(result, checkpoint.state);
        return addParts(result, checkpoint, "finite values");
    }
    addState(result, checkpoint.state);
    const auto ids = checkpoint.state.get<std::int64_t>("loop/replay/id");
    result.facts.emplace_back("samples kept",
        checkpoint.hasReplay ? std::to_string(ids.size()) : "none");
    addParts(result, checkpoint, "finite samples and waiting inputs");
}


void inspectHdf5(Inspection& result)
{
    result.kind = "an HDF5 file";
    const StateTree tree = readHdf5(result.path);
    result.checks.push_back({"HDF5", ""});
    if (tree.has("edge_index"))
    {
        addGraph(result, tree);
        return addTensors(result, tree);
    }
    if (tree.has("mesh") && tree.has("meshes/graph/count"))
    {
        result.kind = "samples of a checkpoint on one rank (replay0.h5, …)";
        result.facts.emplace_back("samples", std::to_string(tree.getArray("mesh").count()));
        return addTensors(result, tree);
    }
    if (tree.has("rows/ids/cells"))
    {
        result.kind = "rows of a checkpoint, and values on them, on one rank (rank0.h5, …)";
        result.facts.emplace_back("cells",
            std::to_string(tree.getArray("rows/ids/cells").count()));
        return addTensors(result, tree);
    }
    if (tree.has("rollout/step"))
    {
        return addRollout(result, tree);
    }
    if (tree.has("run/format"))
    {
        result.kind = "the state of a checkpoint (state.h5)";
        return addState(result, tree);
    }
    throw Error("'" + result.path + "' is an HDF5 file, but neither graph.h5 nor a part of a"
        " checkpoint");
}

}
