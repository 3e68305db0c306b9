// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/MdlusFile.hpp"

#include "base/Error.hpp"
#include "config/Json.hpp"
#include "config/JsonReader.hpp"
#include "config/ScalarParser.hpp"
#include "inSituVersion.hpp"
#include "io/Archive.hpp"
#include "io/Disk.hpp"
#include "io/JsonLines.hpp"
#include "io/Pickle.hpp"
#include "io/StateDictionaryPickle.hpp"
#include "model/MdlusArguments.hpp"
#include "model/TensorState.hpp"

#include <ATen/ATen.h>
#include <caffe2/serialize/inline_container.h>

#include <algorithm>

namespace inSitu
{
namespace
{

const char* const writtenFor = "2.2.2";     //!< PhysicsNeMo's version whose files ours are like


// ---- tensors

using Tensors = std::map<std::string, at::Tensor>;

[[noreturn]] void failTensor(const MdlusContent& content, const std::string& name,
    const std::string& what)
{
    throw Error('\'' + content.path + "': the tensor " + shown(name) + ' ' + what);
}


//- A view of an array of numbers, which must outlive it
at::Tensor viewOf(const StateTree::Array& array, const MdlusContent& content,
    const std::string& name)
{
    if (array.type != StateTree::Type::float32 && array.type != StateTree::Type::float64)
    {
        failTensor(content, name, "does not hold floating point numbers");
    }
    const auto type = array.type == StateTree::Type::float32 ? at::kFloat : at::kDouble;
    const at::Tensor tensor = at::from_blob(const_cast<void*>(array.data.get()), array.shape,
        at::TensorOptions().dtype(type));
    if (!at::isfinite(tensor).all().item<bool>())
    {
        failTensor(content, name, "has values that are not finite");
    }
    return tensor;
}


bool endsWith(const std::string& text, const std::string& end)
{
    return text.size() >= end.size()
        && text.compare(text.size() - end.size(), end.size(), end) == 0;
}


//- Weights by name. Left out: what PhysicsNeMo passes over too, a marker of the device in old
//  files and Transformer Engine's own state.
Tensors weightsOf(const MdlusContent& content)
{
    Tensors tensors;
    for (const auto& [name, array] : content.tensors.arrays())
    {
        if (!endsWith(name, "device_buffer") && !endsWith(name, "_extra_state"))
        {
            tensors[name] = viewOf(array, content, name);
        }
    }
    return tensors;
}


//- With the concat trick the first edge layer lies in three parts beside the others, which count
//  one less: give all of a block's edge layer their plain names
void joinParts(Tensors& tensors, const MeshGraphNetSizes& sizes, const MdlusContent& content)
{
    for (int block = 0; block < sizes.blocks; ++block)
    {
        const std::string model = sizes.edgePrefix(block);
        const std::string beside = model.substr(0, model.size() - std::string("model.").size());
        const auto take = [&](const std::string& name)
        {
            const auto found = tensors.find(name);
            if (found == tensors.end())
            {
                failTensor(content, name, "is missing");
            }
            const at::Tensor tensor = found->second;
            tensors.erase(found);
            return tensor;
        };

        // Upwards would overwrite names that are still needed
        for (int layer = 2*sizes.edgeProcessorLayers + 1; layer > 1; --layer)
        {
            for (const char* const part : {".weight", ".bias"})
            {
                const std::string old = model + std::to_string(layer - 1) + part;
                if (tensors.count(old) > 0)
                {
                    tensors[model + std::to_string(layer) + part] = take(old);
                }
            }
        }

        std::vector<at::Tensor> columns;
        for (const char* const part : {"lin_efeat", "lin_src", "lin_dst"})
        {
            columns.push_back(take(beside + part));
            if (columns.back().sizes() != at::IntArrayRef({sizes.width, sizes.width}))
            {
                failTensor(content, beside + part, "is not " + std::to_string(sizes.width) + " x "
                    + std::to_string(sizes.width));
            }
        }
        tensors[model + "0.weight"] = at::cat({columns[0].to(at::kDouble),
            columns[1].to(at::kDouble), columns[2].to(at::kDouble)}, 1);
        tensors[model + "0.bias"] = take(beside + "bias");
    }
}


std::string sizesText(at::IntArrayRef sizes)
{
    std::vector<std::string> words;
    for (const std::int64_t size : sizes)
    {
        words.push_back(std::to_string(size));
    }
    return '[' + join(words, ", ") + ']';
}


//- More tensors than there are need no memory to be refused
void requireCount(const MdlusContent& content, const MeshGraphNetSizes& s)
{
    const std::int64_t perBlock = 2*(static_cast<std::int64_t>(s.edgeProcessorLayers)
        + s.nodeProcessorLayers + 4);
    const std::int64_t outside = 2*(static_cast<std::int64_t>(s.edgeEncoderLayers)
        + s.nodeEncoderLayers + s.decoderLayers + 5);
    const auto there = static_cast<std::int64_t>(content.tensors.arrays().size());
    if (s.blocks*perBlock + outside > there)
    {
        throw Error('\'' + content.path + "': a model with these arguments (processor_size, "
            "num_layers_…) has " + std::to_string(s.blocks*perBlock + outside)
            + " tensors, but there are " + std::to_string(there));
    }
}


//- Exactly the tensors of the layout, in its shapes
void compare(const MdlusContent& content, const ParameterSet& layout, const Tensors& tensors)
{
    std::vector<std::string> names;
    for (const ParameterSet::Entry& entry : layout.entries())
    {
        const auto found = tensors.find(entry.name);
        if (found == tensors.end())
        {
            failTensor(content, entry.name, "is missing");
        }
        if (found->second.sizes() != at::IntArrayRef(entry.shape))
        {
            failTensor(content, entry.name, "is " + sizesText(found->second.sizes())
                + ", but its arguments call for " + sizesText(entry.shape));
        }
        names.push_back(entry.name);
    }
    std::sort(names.begin(), names.end());
    for (const auto& entry : tensors)
    {
        if (!std::binary_search(names.begin(), names.end(), entry.first))
        {
            failTensor(content, entry.first, "does not belong to a MeshGraphNet with these"
                " arguments");
        }
    }
}


// ---- scales

std::string jsonList(const std::vector<double>& values, const char* name)
{
    std::string text;
    for (const double value : values)
    {
        if (!std::isfinite(value))
        {
            throw Error(std::string("a scale that is not finite cannot be written: ") + name);
        }
        text += (text.empty() ? "" : ",") + jsonNumber(value);
    }
    return '[' + text + ']';
}


//- The lists of an ArtifactContent under their names in scales.json
template<class Content, class Visit>
void visitScales(Content& content, const Visit& visit)
{
    visit("inputReference", content.inputReference);
    visit("inputShift", content.input.shift);
    visit("inputScale", content.input.scale);
    visit("targetReference", content.targetReference);
    visit("targetShift", content.target.shift);
    visit("targetScale", content.target.scale);
    visit("staticScales", content.staticScales);
    visit("edgeScales", content.edgeScales);
}


std::string scalesJson(const ArtifactContent& content)
{
    JsonObject object;
    visitScales(content, [&](const char* name, const std::vector<double>& values)
    {
        object.addRaw(name, jsonList(values, name));
    });
    return object.text();
}


// ---- writing

//- What torch.save writes of the model's state dictionary
std::string savedState(const Model& model)
{
    StateTree state;
    NamedArrays arrays;
    for (const auto& [name, tensor] : model.namedTensors())
    {
        putTensor(state, name, tensor);
        arrays.emplace_back(name, state.getArray(name));
    }

    std::string bytes;
    caffe2::serialize::PyTorchStreamWriter writer([&](const void* data, std::size_t size)
    {
        bytes.append(static_cast<const char*>(data), size);
        return size;
    });
    const auto record = [&](const std::string& name, const std::string& content)
    {
        writer.writeRecord(name, content.data(), content.size());
    };
    record("data.pkl", stateDictionaryPickle(arrays));
    record("byteorder", "little");
    for (std::size_t i = 0; i < arrays.size(); ++i)
    {
        const StateTree::Array& array = arrays[i].second;
        writer.writeRecord("data/" + std::to_string(i), array.data.get(), array.bytes());
    }
    writer.writeEndOfFile();
    return bytes;
}

}


ImportedMeshGraphNet meshGraphNetFrom(const MdlusContent& content, Precision precision,
    ThreadPool& pool)
{
    const MdlusArguments arguments = MdlusArguments::of(content);
    ImportedMeshGraphNet imported;
    imported.shape = arguments.shape();
    imported.options = arguments.options();
    const MeshGraphNetSizes sizes = imported.options.sizes(imported.shape);

    requireCount(content, sizes);
    Tensors tensors = weightsOf(content);
    if (arguments.concatTrick)
    {
        joinParts(tensors, sizes, content);
    }
    compare(content, sizes.declare(), tensors);

    imported.model = imported.options.build(imported.shape, precision, 0, pool);
    at::NoGradGuard noGrad;
    for (const auto& [name, tensor] : imported.model->namedTensors())
    {
        tensor.copy_(tensors.at(name));
    }
    return imported;
}


std::optional<ArtifactContent> artifactOf(const MdlusContent& content)
{
    const auto scales = content.extras.find("scales.json");
    const auto card = content.extras.find("card.json");
    if (scales == content.extras.end() || card == content.extras.end())
    {
        return std::nullopt;
    }

    const std::string place = content.path + ':' + mdlus::extraFolder + scales->first;
    const Node node = parseJson(scales->second, place);
    ArtifactContent artifact;
    visitScales(artifact, [&](const char* name, std::vector<double>& values)
    {
        const Node* const list = node.find(name);
        if (!list || list->kind != Node::Kind::list)
        {
            throw ConfigError(place, node.line, std::string("has no list ") + name);
        }
        for (const Node& item : list->items)
        {
            values.push_back(parseDouble(item, name, Range::any()));
        }
    });
    if (artifact.input.shift.size() != artifact.input.scale.size()
     || artifact.inputReference.size() != artifact.input.scale.size()
     || artifact.target.shift.size() != artifact.target.scale.size()
     || artifact.targetReference.size() != artifact.target.scale.size())
    {
        throw ConfigError(place, node.line, "has lists of different lengths");
    }
    artifact.nInputColumns = static_cast<int>(artifact.input.scale.size());
    artifact.card = card->second;
    return artifact;
}


void writeMdlus(const std::string& path, const Model& model, const ArtifactContent* artifact)
{
    const std::optional<MeshGraphNetSizes> sizes = sizesOf(model);
    if (!sizes)
    {
        throw Error("'" + path + "' cannot be written: only a meshGraphNet has a counterpart in"
            " PhysicsNeMo");
    }

    ArchiveMembers members;
    members[mdlus::argumentsMember] = MdlusArguments::of(*sizes).json();
    members[mdlus::metadataMember] = JsonObject()
        .add("physicsnemo_version", writtenFor)
        .add("mdlus_file_version", mdlus::formatVersion)
        .add("producer", std::string("inSituFoam ") + INSITU_VERSION)
        .text();
    members[mdlus::modelMember] = savedState(model);
    if (artifact)
    {
        members[mdlus::extraFolder + "card.json"] = artifact->card;
        members[mdlus::extraFolder + "scales.json"] = scalesJson(*artifact);
    }
    replaceFile(path, zipArchive(members));
}

}
