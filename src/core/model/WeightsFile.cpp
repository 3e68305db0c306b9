// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/WeightsFile.hpp"

#include "base/Error.hpp"
#include "io/Checkpoint.hpp"
#include "io/ModelFile.hpp"
#include "io/TorchFile.hpp"
#include "model/MdlusFile.hpp"
#include "model/ScriptFile.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

namespace inSitu
{
namespace
{

// ---- reading

at::ScalarType torchTypeOf(StateTree::Type type)
{
    switch (type)
    {
        case StateTree::Type::float32: return at::kFloat;
        case StateTree::Type::float64: return at::kDouble;
        case StateTree::Type::int32: return at::kInt;
        case StateTree::Type::int64: return at::kLong;
        case StateTree::Type::uint8: break;
    }
    return at::kByte;
}


void add(WeightsFile& file, const StateTree& state)
{
    for (const auto& [name, array] : state.arrays())
    {
        const std::shared_ptr<const void> owner = array.data;
        file.tensors.emplace_back(name, at::from_blob(const_cast<void*>(owner.get()), array.shape,
            [owner](void*) {}, at::TensorOptions().dtype(torchTypeOf(array.type))));
    }
}


//- The name in the network of a parameter of an artifact, where dots are "__"
std::string dotted(std::string name)
{
    for (auto at = name.find("__"); at != std::string::npos; at = name.find("__", at))
    {
        name.replace(at, 2, ".");
    }
    return name;
}


//- What PyTorch calls the state dictionary of an artifact is that of its network
void undoArtifactNames(WeightsFile& file)
{
    const auto isDotted = [](const std::pair<std::string, at::Tensor>& entry)
    {
        return entry.first.find('.') != std::string::npos;
    };
    const auto isScale = [](const std::pair<std::string, at::Tensor>& entry)
    {
        return entry.first.find("__") == std::string::npos;
    };
    auto& tensors = file.tensors;
    if (std::any_of(tensors.begin(), tensors.end(), isDotted)
     || std::all_of(tensors.begin(), tensors.end(), isScale))
    {
        return;
    }
    tensors.erase(std::remove_if(tensors.begin(), tensors.end(), isScale), tensors.end());
    for (auto& entry : tensors)
    {
        entry.first = dotted(std::move(entry.first));
    }
}


//- In an artifact buffers at the root are the scales around the network
void addArtifact(WeightsFile& file, const torch::jit::Module& module)
{
    for (const auto& parameter : module.named_parameters())
    {
        file.tensors.emplace_back(dotted(parameter.name), parameter.value.detach());
    }
    for (const auto& buffer : module.named_buffers())
    {
        if (buffer.name.find('.') != std::string::npos)
        {
            file.tensors.emplace_back(buffer.name, buffer.value.detach());
        }
    }
}


void addModule(WeightsFile& file, const torch::jit::Module& module)
{
    for (const auto& parameter : module.named_parameters())
    {
        file.tensors.emplace_back(parameter.name, parameter.value.detach());
    }
    for (const auto& buffer : module.named_buffers())
    {
        file.tensors.emplace_back(buffer.name, buffer.value.detach());
    }
}


void addFromFile(WeightsFile& file, const ModelFile& content)
{
    file.kind = ModelFile::nameOf(content.kind);
    switch (content.kind)
    {
        case ModelFile::Kind::torchScript:
        {
            torch::jit::ExtraFilesMap extra{{"card.json", ""}};
            const torch::jit::Module module = moduleOf(content, extra);
            if (extra["card.json"].empty())
            {
                return addModule(file, module);
            }
            file.kind = "an artifact";
            return addArtifact(file, module);
        }
        case ModelFile::Kind::mdlus:
        {
            ThreadPool pool(1);
            const ImportedMeshGraphNet imported =
                meshGraphNetFrom(parseMdlus(content.bytes, content.path), Precision::float64, pool);
            file.tensors = imported.model->namedTensors();
            return;
        }
        case ModelFile::Kind::stateDictionary:
            add(file, readTorchState(content.bytes, content.path));
            return undoArtifactNames(file);
        case ModelFile::Kind::package:
        case ModelFile::Kind::exportedProgram: break;
    }
    throw Error('\'' + file.path + "' is " + file.kind + ", from which weights are not taken; save"
        " the state dictionary of its network with torch.save");
}


// ---- matching

bool isCopied(const at::Tensor& to, const at::Tensor& from)
{
    return to.sizes() == from.sizes()
        && (to.scalar_type() == from.scalar_type()
            || (to.is_floating_point() && from.is_floating_point()));
}


std::string described(const at::Tensor& tensor, bool withType)
{
    std::vector<std::string> sizes;
    for (const std::int64_t size : tensor.sizes())
    {
        sizes.push_back(std::to_string(size));
    }
    return '[' + join(sizes, ", ") + ']'
        + (withType ? std::string(" ") + c10::toString(tensor.scalar_type()) : "");
}


using Names = std::map<std::string, at::Tensor>;

//- Under which most tensors fit; of equal ones the shortest
std::string commonPrefix(const Names& model, const Names& file)
{
    std::map<std::string, int> fits;
    for (const auto& [stored, tensor] : file)
    {
        for (const auto& [name, wanted] : model)
        {
            const std::size_t length = stored.size() - std::min(stored.size(), name.size());
            const bool separated = length == 0 || stored[length - 1] == '.'
                || stored[length - 1] == '/';
            if (separated && stored.compare(length, std::string::npos, name) == 0
             && isCopied(wanted, tensor))
            {
                ++fits[stored.substr(0, length)];
            }
        }
    }
    std::string best;
    int most = 0;
    for (const auto& [prefix, count] : fits)
    {
        if (count > most || (count == most && prefix.size() < best.size()))
        {
            best = prefix;
            most = count;
        }
    }
    return best;
}

}


WeightsFile readWeights(const std::string& path)
{
    WeightsFile file;
    file.path = path;
    if (std::filesystem::is_directory(path))
    {
        file.kind = "a checkpoint";
        add(file, readState(path).subTree("loop/trainer/model"));
    }
    else
    {
        addFromFile(file, readModelFile(path));
    }

    if (file.tensors.empty())
    {
        throw Error('\'' + path + "' (" + file.kind + ") has no tensors");
    }
    for (const auto& [name, tensor] : file.tensors)
    {
        if (tensor.is_floating_point() && !at::isfinite(tensor).all().item<bool>())
        {
            throw Error('\'' + path + "' has values in " + name + " that are not finite");
        }
    }
    return file;
}


std::string WeightsMatch::text() const
{
    std::string lines;
    const auto list = [&](const std::string& what, const std::vector<std::string>& names)
    {
        if (!names.empty())
        {
            lines += "\n    " + what + " (" + std::to_string(names.size()) + "): "
                + join(names, ", ");
        }
    };
    if (missing.empty() && otherShape.empty() && leftOver.empty() && prefix.empty())
    {
        return ": all " + std::to_string(matched.size()) + " tensors match";
    }
    list(prefix.empty() ? "matched" : "matched below '" + prefix + '\'', matched);
    list("missing in the file, initial values kept", missing);
    list("of another shape or type, initial values kept", otherShape);
    list("left over in the file", leftOver);
    return lines;
}


WeightsMatch takeWeights(const Model& model, const WeightsFile& file)
{
    const auto named = model.namedTensors();
    const Names inModel(named.begin(), named.end());
    const Names inFile(file.tensors.begin(), file.tensors.end());

    WeightsMatch match;
    match.prefix = commonPrefix(inModel, inFile);
    std::set<std::string> used;
    std::vector<std::pair<at::Tensor, at::Tensor>> copies;
    for (const auto& [name, tensor] : named)
    {
        const auto found = inFile.find(match.prefix + name);
        if (found == inFile.end())
        {
            match.missing.push_back(name);
            continue;
        }
        used.insert(found->first);
        if (isCopied(tensor, found->second))
        {
            match.matched.push_back(name);
            copies.emplace_back(tensor, found->second);
        }
        else
        {
            const bool withType = tensor.sizes() == found->second.sizes();
            match.otherShape.push_back(name + ' ' + described(tensor, withType) + ", in the file "
                + described(found->second, withType));
        }
    }
    for (const auto& entry : inFile)
    {
        if (used.count(entry.first) == 0)
        {
            match.leftOver.push_back(entry.first);
        }
    }
    if (copies.empty())
    {
        throw Error("none of the " + std::to_string(named.size()) + " tensors of the network is in"
            " '" + file.path + "' (" + file.kind + ") with the same name and shape:" + match.text());
    }

    const at::NoGradGuard noGradients;
    for (const auto& [to, from] : copies)
    {
        at::Tensor(to).copy_(from);
    }
    return match;
}

}
