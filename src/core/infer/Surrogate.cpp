// SPDX-License-Identifier: GPL-3.0-or-later
#include "infer/Surrogate.hpp"

#include "base/Error.hpp"
#include "config/JsonReader.hpp"
#include "config/SchemaReader.hpp"
#include "infer/NetworkSurrogate.hpp"
#include "infer/PackageSurrogate.hpp"
#include "infer/ScriptSurrogate.hpp"
#include "infer/cardBeside.hpp"
#include "infer/surrogateFromMdlus.hpp"
#include "model/Model.hpp"
#include "model/NetworkScript.hpp"
#include "model/ScriptFile.hpp"

#include <ATen/ATen.h>

#include <filesystem>

namespace inSitu
{
namespace
{

//- A TorchScript module with its card, from inside or beside
struct Loaded
{
    torch::jit::Module module;
    ModelCard card;
    bool isArtifact = false;
};


Loaded load(const ModelFile& file)
{
    Loaded loaded;
    torch::jit::ExtraFilesMap extra{{"card.json", ""}};
    try
    {
        loaded.module = moduleOf(file, extra);
    }
    catch (const Error& fault)
    {
        throw Error("model \"" + file.path + "\" cannot be loaded; it is damaged, or of another"
            " version of PyTorch: " + fault.what());
    }
    loaded.module.eval();
    loaded.isArtifact = !extra["card.json"].empty();
    loaded.card = loaded.isArtifact
      ? ModelCard::parse(extra["card.json"], file.path + ", card.json") : cardBeside(file.path);
    return loaded;
}


void requireFinite(const torch::jit::Module& module, const std::string& path)
{
    const auto check = [&](const std::string& name, const at::Tensor& tensor)
    {
        if (tensor.is_floating_point() && !at::isfinite(tensor).all().item<bool>())
        {
            throw Error("model \"" + path + "\" has values in " + name + " that are not finite");
        }
    };
    for (const auto& parameter : module.named_parameters())
    {
        check(parameter.name, parameter.value);
    }
    for (const auto& buffer : module.named_buffers())
    {
        check(buffer.name, buffer.value);
    }
}


//- The entry training.model of the configuration in a card
struct NetworkConfig
{
    std::string type = "meshGraphNet";
    std::unique_ptr<ModelOptions> options = modelRegistry().at("meshGraphNet")();

    void describe(Schema& schema)
    {
        schema.typed("model", type, options, modelRegistry(), "the network");
    }
};


//- Nothing for artifacts with a user's network
std::unique_ptr<ModelOptions> optionsOf(const ModelCard& card, const std::string& place)
{
    const Node configuration = parseJson(card.configuration, place);
    const Node* training = configuration.find("training");
    const Node* model = training ? training->find("model") : nullptr;
    if (!model)
    {
        throw Error(place + " does not say which network it belongs to (training.model)");
    }

    Node block = Node::block(place);
    block.add("model", *model);
    NetworkConfig config;
    readConfig(block, "training", [&](Schema& schema) { config.describe(schema); });
    return config.type == "torchscript" ? nullptr : std::move(config.options);
}


at::Tensor tensorOf(const torch::jit::Module& module, const std::string& name,
    const std::string& path)
{
    if (!module.hasattr(name) || !module.attr(name).isTensor())
    {
        throw Error("model \"" + path + "\" has no tensor " + name
            + ", which its card asks for");
    }
    return module.attr(name).toTensor();
}


std::vector<double> rowOf(const torch::jit::Module& module, const std::string& name,
    const std::string& path)
{
    const at::Tensor row = tensorOf(module, name, path).to(at::kDouble).flatten().contiguous();
    return {row.const_data_ptr<double>(), row.const_data_ptr<double>() + row.numel()};
}


SurrogateScales scalesOf(const torch::jit::Module& module, const ModelCard& card,
    const std::string& path)
{
    SurrogateScales scales;
    scales.input.nodes = {rowOf(module, "input_shift", path), rowOf(module, "input_scale", path)};
    scales.target = {rowOf(module, "target_shift", path), rowOf(module, "target_scale", path)};
    scales.inputReference = rowOf(module, "input_reference", path);
    scales.targetReference = rowOf(module, "target_reference", path);

    const auto nInputs = static_cast<std::size_t>(card.nInputColumns());
    if (scales.inputReference.size() != nInputs)
    {
        throw Error("model \"" + path + "\" has scales of "
            + std::to_string(scales.inputReference.size()) + " input columns, its card has "
            + std::to_string(nInputs));
    }
    takeScales(scales.input, card, rowOf(module, "static_scale", path),
        rowOf(module, "edge_scale", path), path);
    scales.inputReference.resize(nInputs - card.features.size());
    return scales;
}


//- A network larger than what the file holds needs no memory to be refused
void requireModest(const ModelOptions& options, const ModelShape& shape,
    const torch::jit::Module& module, const std::string& path)
{
    const torch::jit::parameter_list parameters = module.parameters();
    double numbers = 0;
    for (const at::Tensor& parameter : parameters)
    {
        numbers += static_cast<double>(parameter.numel());
    }
    const ModelOptions::Size size = options.size(shape);
    if (size.tensors > static_cast<double>(parameters.size()) || size.numbers > numbers)
    {
        throw Error("model \"" + path + "\": its card describes a larger network than it holds");
    }
}


std::unique_ptr<Model> networkOf(const Loaded& loaded, const ModelOptions& options,
    const std::string& path, ThreadPool& pool)
{
    const ModelCard& card = loaded.card;
    const Precision precision =
        card.precision == "float64" ? Precision::float64 : Precision::float32;
    const ModelShape shape
    {
        card.nInputColumns() + static_cast<int>(card.staticColumns.size()),
        static_cast<int>(card.edgeColumns.size()),
        card.nTargetColumns()
    };
    requireModest(options, shape, loaded.module, path);
    std::unique_ptr<Model> network;
    try
    {
        network = options.build(shape, precision, 0, pool);
    }
    catch (const std::exception& fault)
    {
        const std::string text = fault.what();
        throw Error("model \"" + path + "\": its card describes a network that cannot be made: "
            + text.substr(0, text.find('\n')));
    }

    const at::NoGradGuard noGradients;
    for (const auto& [name, tensor] : network->namedTensors())
    {
        const at::Tensor saved = tensorOf(loaded.module, attributeOf(name), path);
        if (saved.sizes() != tensor.sizes() || saved.scalar_type() != tensor.scalar_type())
        {
            throw Error("model \"" + path + "\": parameter " + name + " has another shape or type"
                " than its card asks for");
        }
        at::Tensor(tensor).copy_(saved);
    }
    return network;
}


std::unique_ptr<Surrogate> fromScript(const ModelFile& file, ThreadPool& pool,
    const CountBuild& count)
{
    Loaded loaded = load(file);
    const std::string& path = file.path;
    requireFinite(loaded.module, path);
    if (loaded.isArtifact)
    {
        if (const auto options = optionsOf(loaded.card, path + ", card.json"))
        {
            SurrogateScales scales = scalesOf(loaded.module, loaded.card, path);
            std::unique_ptr<Model> network = networkOf(loaded, *options, path, pool);
            return makeSurrogate(std::move(loaded.card), std::move(network), std::move(scales),
                pool, count);
        }
        loaded.card.arguments = {"nodes", "static", "edge_index", "edges"};
        loaded.card.precision = "float64";
    }
    return std::make_unique<ScriptSurrogate>(loaded.card, loaded.module, path, count);
}

}


Surrogate::Surrogate(ModelCard card, std::vector<double> inputReference, Precision precision)
:
    card_(std::move(card)),
    inputReference_(std::move(inputReference)),
    precision_(precision)
{}


void Surrogate::update(const Model&, SurrogateScales, ModelCard)
{
    throw Error("a network that was read as a program cannot follow one in training");
}


std::string Surrogate::useDevice(const std::string& entry, const std::shared_ptr<Comm>&,
    std::function<void(const std::string&)>)
{
    const std::string reason = "this kind of model runs on the CPU only";
    if (entry != "auto" && entry != "cpu")
    {
        throw Error("device " + entry + " cannot be used: " + reason
            + ".\n    Remedy: choose device cpu");
    }
    return entry == "cpu" ? "cpu" : "cpu (" + reason + ')';
}


void takeScales(InputScales& scales, const ModelCard& card,
    const std::vector<double>& staticScales, const std::vector<double>& edgeScales,
    const std::string& path)
{
    const auto nInputs = static_cast<std::size_t>(card.nEdgeInputs());
    if (staticScales.size() != card.staticColumns.size()
     || edgeScales.size() != card.edgeColumns.size() || edgeScales.size() <= nInputs)
    {
        throw Error("model \"" + path + "\" has scales of "
            + std::to_string(staticScales.size()) + " static and "
            + std::to_string(edgeScales.size()) + " edge columns, its card has "
            + std::to_string(card.staticColumns.size()) + " and "
            + std::to_string(card.edgeColumns.size()) + ", " + std::to_string(nInputs)
            + " of them edge inputs");
    }
    scales.mesh.edgeLength = edgeScales.front();
    for (std::size_t c = 0; c < card.staticColumns.size(); ++c)
    {
        if (card.staticColumns[c] == "cellVolume")
        {
            scales.mesh.cellVolume = staticScales[c];
        }
    }
    scales.edges.assign(edgeScales.end() - static_cast<std::ptrdiff_t>(nInputs),
        edgeScales.end());
}


std::string sizeText(const Surrogate& surrogate)
{
    const auto part = [](std::int64_t number, const char* what)
        { return number > 0 ? ", " + std::to_string(number) + what : std::string(); };
    return part(surrogate.nParameters(), " parameters")
        + part(surrogate.card().samples, " samples of training");
}


std::unique_ptr<Surrogate> loadSurrogate
(
    const std::string& path,
    ThreadPool& pool,
    const CountBuild& count
)
{
    if (!std::filesystem::is_regular_file(path))
    {
        throw Error("model \"" + path + "\" is not there, or no file");
    }
    const ModelFile file = [&]
    {
        try
        {
            return readModelFile(path);
        }
        catch (const Error& fault)
        {
            throw Error("model \"" + path + "\" cannot be loaded; it is damaged, or no model: "
                + fault.what());
        }
    }();

    switch (file.kind)
    {
        case ModelFile::Kind::torchScript: return fromScript(file, pool, count);
        case ModelFile::Kind::mdlus: return surrogateFromMdlus(file, pool, count);
        case ModelFile::Kind::package:
            return std::make_unique<PackageSurrogate>(cardBeside(path), file, count);
        case ModelFile::Kind::exportedProgram:
            throw Error("model \"" + path + "\" is a program of torch.export that is not compiled,"
                " which LibTorch cannot run; in Python: torch._inductor.aoti_compile_and_package("
                "torch.export.load(…), package_path=…), or save it as TorchScript");
        case ModelFile::Kind::stateDictionary: break;
    }
    throw Error("model \"" + path + "\" is a state dictionary of torch.save: weights without a"
        " network. A meshTrainer takes them as initialWeights");
}

}
