// SPDX-License-Identifier: GPL-3.0-or-later
#include "infer/Inspection.hpp"

#include "base/Error.hpp"
#include "base/Text.hpp"
#include "config/JsonReader.hpp"
#include "config/featureWords.hpp"
#include "infer/PackageSurrogate.hpp"
#include "infer/Surrogate.hpp"
#include "infer/cardBeside.hpp"
#include "infer/inspectHdf5.hpp"
#include "io/TorchFile.hpp"
#include "model/MdlusFile.hpp"
#include "model/ScriptFile.hpp"

#include <ATen/ATen.h>

#include <filesystem>

namespace inSitu
{
namespace
{

std::string typeName(at::ScalarType type)
{
    switch (type)
    {
        case at::kFloat: return "float32";
        case at::kDouble: return "float64";
        case at::kHalf: return "float16";
        case at::kInt: return "int32";
        case at::kLong: return "int64";
        case at::kByte: return "uint8";
        case at::kBool: return "bool";
        default: return c10::toString(type);
    }
}


//- Looks at one file of a network
class ModelInspector
{
public:

    ModelInspector(Inspection& result, const ModelFile& file)
    :
        result_(result),
        file_(file)
    {}

    void look()
    {
        result_.kind = ModelFile::nameOf(file_.kind);
        switch (file_.kind)
        {
            case ModelFile::Kind::torchScript: return lookAtScript();
            case ModelFile::Kind::mdlus: return lookAtMdlus();
            case ModelFile::Kind::package: return lookAtPackage();
            case ModelFile::Kind::exportedProgram:
                result_.facts.emplace_back("use", "none here: it is not compiled");
                return;
            case ModelFile::Kind::stateDictionary:
                result_.facts.emplace_back("use", "as initialWeights of a meshTrainer");
                return addTensors(result_, readTorchState(file_.bytes, file_.path));
        }
    }

private:

    void lookAtScript()
    {
        torch::jit::ExtraFilesMap extra{{"card.json", ""}};
        const torch::jit::Module module = moduleOf(file_, extra);
        result_.checks.push_back({"TorchScript", ""});

        std::string fault;
        const auto add = [&](const std::string& name, const at::Tensor& tensor)
        {
            result_.tensors.push_back({name, typeName(tensor.scalar_type()), tensor.sizes().vec()});
            if (fault.empty() && tensor.is_floating_point()
             && !at::isfinite(tensor).all().item<bool>())
            {
                fault = name + " has values that are not";
            }
        };
        for (const auto& parameter : module.named_parameters())
        {
            add(parameter.name, parameter.value);
        }
        for (const auto& buffer : module.named_buffers())
        {
            add(buffer.name, buffer.value);
        }
        result_.checks.push_back({"finite values", fault});

        if (extra["card.json"].empty())
        {
            return takeCardBeside(true);
        }
        result_.kind = "an artifact of inSituFoam";
        result_.card = ModelCard::parse(extra["card.json"], file_.path + ", card.json");
        const auto row = [&](const char* name)
        {
            const at::Tensor values = module.attr(name).toTensor().to(at::kDouble).contiguous();
            return std::vector<double>(values.const_data_ptr<double>(),
                values.const_data_ptr<double>() + values.numel());
        };
        addScales("input", row("input_reference"), row("input_shift"), row("input_scale"));
        addScales("target", row("target_reference"), row("target_shift"), row("target_scale"));
        addMesh(row("static_scale"), row("edge_scale"));
        checkCard();
    }

    void lookAtMdlus()
    {
        const MdlusContent content = parseMdlus(file_.bytes, file_.path);
        result_.facts.emplace_back("class", content.module + '.' + content.className);
        result_.facts.emplace_back("arguments", content.arguments.json());
        for (const auto& [name, value] : content.metadata)
        {
            result_.facts.emplace_back(name, value);
        }
        addTensors(result_, content.tensors);
        ThreadPool pool(1);
        meshGraphNetFrom(content, Precision::float32, pool);
        result_.checks.push_back({"arguments and tensors", ""});

        const std::optional<ArtifactContent> own = artifactOf(content);
        if (!own)
        {
            takeCardBeside(true);
            return;
        }
        result_.card = ModelCard::parse(own->card, file_.path + ", card.json");
        addScales("input", own->inputReference, own->input.shift, own->input.scale);
        addScales("target", own->targetReference, own->target.shift, own->target.scale);
        addMesh(own->staticScales, own->edgeScales);
        checkCard();
    }

    void lookAtPackage()
    {
        const PackageTraits traits = packageTraits(file_);
        result_.facts.emplace_back("network", traits.model);
        result_.facts.emplace_back("compiled for",
            traits.device + ", " + traits.platform + ' ' + traits.machine + ", "
            + traits.instructions);
        try
        {
            requireRunnable(traits, file_.path);
            result_.facts.emplace_back("runs here", "yes; it is machine code, not looked into");
        }
        catch (const Error& fault)
        {
            result_.facts.emplace_back("runs here", std::string("no: ") + fault.what());
        }
        takeCardBeside();
    }

    //- compare: with the network, by making it
    void takeCardBeside(bool compare = false)
    {
        if (!std::filesystem::exists(cardPathOf(file_.path)))
        {
            result_.facts.emplace_back("card", "none; a meshPredictor wants "
                + cardPathOf(file_.path));
            return;
        }
        result_.card = cardBeside(file_.path);
        result_.checks.push_back({"card", ""});
        if (compare)
        {
            checkCard();
        }
    }

    void checkCard()
    {
        result_.checks.push_back({"card and network", ""});
        ThreadPool pool(1);
        try
        {
            loadSurrogate(file_.path, pool, [](const std::string&, const std::string&, double) {});
        }
        catch (const Error& fault)
        {
            result_.checks.back().fault = fault.what();
        }
    }

    void addScales(const std::string& side, const std::vector<double>& reference,
        const std::vector<double>& shift, const std::vector<double>& scale)
    {
        std::vector<std::string> columns;
        const ModelCard& card = *result_.card;
        for (const FieldSpec& field : side == "input" ? card.inputs : card.targets)
        {
            columns.insert(columns.end(), field.columnNames.begin(), field.columnNames.end());
        }
        if (side == "input")
        {
            columns.insert(columns.end(), result_.card->features.begin(),
                result_.card->features.end());
        }
        if (columns.size() != scale.size() || shift.size() != scale.size()
         || reference.size() != scale.size())
        {
            throw Error("there are " + std::to_string(scale.size()) + " scales of " + side
                + " columns, the card has " + std::to_string(columns.size()));
        }
        for (std::size_t i = 0; i < scale.size(); ++i)
        {
            result_.scales.push_back({side, columns[i], reference[i] + shift[i], scale[i]});
        }
    }

    void addMesh(const std::vector<double>& staticScales, const std::vector<double>& edgeScales)
    {
        const ModelCard& card = *result_.card;
        InputScales scales;
        takeScales(scales, card, staticScales, edgeScales, file_.path);
        result_.facts.emplace_back("length of edges, m", numberText(scales.mesh.edgeLength));
        if (contains(card.staticColumns, "cellVolume"))
        {
            result_.facts.emplace_back("volume of cells, m3", numberText(scales.mesh.cellVolume));
        }
        for (std::size_t i = 0; i < scales.edges.size(); ++i)
        {
            result_.scales.push_back({"edge",
                card.edgeColumns[card.edgeColumns.size() - scales.edges.size() + i], 0,
                scales.edges[i]});
        }
    }

    Inspection& result_;
    const ModelFile& file_;
};


void look(Inspection& result)
{
    const std::string& path = result.path;
    if (std::filesystem::is_directory(path))
    {
        return inspectCheckpoint(result);
    }
    if (isHdf5(path))
    {
        return inspectHdf5(result);
    }
    const ModelFile file = readModelFile(path);
    result.checks.push_back({"archive and checksums", ""});
    ModelInspector(result, file).look();
}

}


Inspection inspect(const std::string& path)
{
    Inspection result;
    result.path = path;
    result.kind = "not known";
    try
    {
        look(result);
    }
    catch (const std::exception& fault)
    {
        const std::string text = fault.what();
        result.checks.push_back({"reading", text.substr(0, text.find('\n'))});
    }
    return result;
}

}
