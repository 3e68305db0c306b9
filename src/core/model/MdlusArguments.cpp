// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/MdlusArguments.hpp"

#include "base/Error.hpp"
#include "config/ScalarParser.hpp"
#include "config/SchemaReader.hpp"
#include "io/JsonLines.hpp"
#include "io/Pickle.hpp"
#include "model/ActivationWords.hpp"

#include <algorithm>

namespace inSitu
{
namespace
{

const char* const className = "MeshGraphNet";
const char* const modulePath = "physicsnemo.models.meshgraphnet.meshgraphnet";


//- Activations that are the same function under the same name on both sides: all of ours but
//  leaky_relu, whose slope is 0.01 here and 0.1 in PhysicsNeMo
std::vector<std::string> sharedActivations()
{
    std::vector<std::string> words = activationWords();
    words.erase(std::remove(words.begin(), words.end(), "leaky_relu"), words.end());
    return words;
}


bool isShared(const std::string& activation)
{
    const auto words = sharedActivations();
    return std::find(words.begin(), words.end(), activation) != words.end();
}

}


MdlusArguments MdlusArguments::of(const MdlusContent& content)
{
    if (content.className != className)
    {
        throw Error('\'' + content.path + "' holds a " + shown(content.className)
            + "; of PhysicsNeMo's models only MeshGraphNet can be run here");
    }
    MdlusArguments arguments;
    readConfig(content.arguments, className,
        [&](Schema& schema) { arguments.describe(schema); });

    // PhysicsNeMo compares the word without case
    std::string& word = arguments.activation;
    std::transform(word.begin(), word.end(), word.begin(),
        [](unsigned char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); });
    if (!isShared(word))
    {
        const Node* const written = content.arguments.find("mlp_activation_fn");
        fail(*written, std::string(className) + ".mlp_activation_fn", "is " + shown(word)
            + ", which cannot be had here; one of: " + join(sharedActivations()));
    }
    return arguments;
}


MdlusArguments MdlusArguments::of(const MeshGraphNetSizes& s)
{
    MdlusArguments a;
    a.inputDimNodes = s.nodeFeatures;
    a.inputDimEdges = s.edgeFeatures;
    a.outputDim = s.outputs;
    a.processorSize = s.blocks;
    a.activation = activationWords()[static_cast<std::size_t>(s.activation)];
    a.numLayersNodeProcessor = s.nodeProcessorLayers;
    a.numLayersEdgeProcessor = s.edgeProcessorLayers;
    a.hiddenDimProcessor = s.width;
    a.hiddenDimNodeEncoder = s.nodeEncoderWidth;
    a.numLayersNodeEncoder = s.nodeEncoderLayers;
    a.hiddenDimEdgeEncoder = s.edgeEncoderWidth;
    a.numLayersEdgeEncoder = s.edgeEncoderLayers;
    a.hiddenDimNodeDecoder = s.decoderWidth;
    a.numLayersNodeDecoder = s.decoderLayers;
    a.aggregation = s.mean ? "mean" : "sum";
    return a;
}


void MdlusArguments::describe(Schema& schema)
{
    const Range count = Range::within(1, 1 << 20);
    const auto required = [&](const char* name, std::int64_t& value)
    {
        schema.key(name, value, "", count);
        schema.required(name);
    };
    required("input_dim_nodes", inputDimNodes);
    required("input_dim_edges", inputDimEdges);
    required("output_dim", outputDim);
    schema.key("processor_size", processorSize, "", count);
    schema.key("mlp_activation_fn", activation, "");
    schema.key("num_layers_node_processor", numLayersNodeProcessor, "", count);
    schema.key("num_layers_edge_processor", numLayersEdgeProcessor, "", count);
    schema.key("hidden_dim_processor", hiddenDimProcessor, "", count);
    schema.key("hidden_dim_node_encoder", hiddenDimNodeEncoder, "", count);
    schema.key("num_layers_node_encoder", numLayersNodeEncoder, "", count);
    schema.key("hidden_dim_edge_encoder", hiddenDimEdgeEncoder, "", count);
    schema.key("num_layers_edge_encoder", numLayersEdgeEncoder, "", count);
    schema.key("hidden_dim_node_decoder", hiddenDimNodeDecoder, "", count);
    schema.key("num_layers_node_decoder", numLayersNodeDecoder, "", count);
    schema.choice("aggregation", aggregation, {"sum", "mean"}, "");
    schema.key("do_concat_trick", concatTrick, "");
    schema.key("num_processor_checkpoint_segments", checkpointSegments, "",
        Range::atLeast(0));
    schema.key("checkpoint_offloading", checkpointOffloading, "");
    schema.key("recompute_activation", recomputeActivation, "");
    schema.choice("norm_type", normType, {"LayerNorm", "TELayerNorm"}, "");
}


ModelShape MdlusArguments::shape() const
{
    return {static_cast<int>(inputDimNodes), static_cast<int>(inputDimEdges),
        static_cast<int>(outputDim)};
}


MeshGraphNetOptions MdlusArguments::options() const
{
    MeshGraphNetOptions o;
    o.processorSize = processorSize;
    o.hiddenDimProcessor = hiddenDimProcessor;
    o.hiddenDimNodeEncoder = hiddenDimNodeEncoder;
    o.hiddenDimEdgeEncoder = hiddenDimEdgeEncoder;
    o.hiddenDimNodeDecoder = hiddenDimNodeDecoder;
    o.numLayersNodeProcessor = numLayersNodeProcessor;
    o.numLayersEdgeProcessor = numLayersEdgeProcessor;
    o.numLayersNodeEncoder = numLayersNodeEncoder;
    o.numLayersEdgeEncoder = numLayersEdgeEncoder;
    o.numLayersNodeDecoder = numLayersNodeDecoder;
    o.aggregation = aggregation;
    o.activation = activation;
    return o;
}


std::string MdlusArguments::json()
{
    if (!isShared(activation))
    {
        throw Error("a meshGraphNet with activation " + activation + " cannot be written as"
            " .mdlus: PhysicsNeMo has no such function; one of: " + join(sharedActivations()));
    }
    return JsonObject()
        .add("__name__", className)
        .add("__module__", modulePath)
        .addRaw("__args__", writeConfig([&](Schema& schema) { describe(schema); }).json())
        .text();
}

}
