// SPDX-License-Identifier: GPL-3.0-or-later

#include "model/MeshGraphNetSizes.hpp"

#include "model/Initialise.hpp"

namespace inSitu
{

namespace
{

void declareMlp(ParameterSet& parameters, const std::string& prefix, int in, int hidden, int out,
    int layers, bool normalised)
{
    for (int l = 0; l <= layers; ++l)
    {
        const int columns = l == 0 ? in : hidden;
        const int rows = l == layers ? out : hidden;
        parameters.declare(prefix + std::to_string(2*l) + ".weight", {rows, columns});
        parameters.declare(prefix + std::to_string(2*l) + ".bias", {rows});
    }
    if (normalised)
    {
        parameters.declare(prefix + std::to_string(2*layers + 1) + ".weight", {out});
        parameters.declare(prefix + std::to_string(2*layers + 1) + ".bias", {out});
    }
}

}


std::string MeshGraphNetSizes::edgePrefix(int block) const
{
    return "processor.processor_layers." + std::to_string(2*block) + ".edge_mlp.model.";
}


std::string MeshGraphNetSizes::nodePrefix(int block) const
{
    return "processor.processor_layers." + std::to_string(2*block + 1) + ".node_mlp.model.";
}


ParameterSet MeshGraphNetSizes::declare() const
{
    ParameterSet p;
    declareMlp(p, edgeEncoderPrefix, edgeFeatures, edgeEncoderWidth, width, edgeEncoderLayers,
        true);
    declareMlp(p, nodeEncoderPrefix, nodeFeatures, nodeEncoderWidth, width, nodeEncoderLayers,
        true);
    declareMlp(p, decoderPrefix, width, decoderWidth, outputs, decoderLayers, false);
    for (int block = 0; block < blocks; ++block)
    {
        declareMlp(p, edgePrefix(block), 3*width, width, width, edgeProcessorLayers, true);
        declareMlp(p, nodePrefix(block), 2*width, width, width, nodeProcessorLayers, true);
    }
    return p;
}


void MeshGraphNetSizes::initialise(const ParameterSet& parameters, at::Generator& generator) const
{
    const auto draw = [&](const std::string& prefix, int layers, bool normalised)
    {
        for (int l = 0; l <= layers; ++l)
        {
            initialiseLinear(parameters, prefix + std::to_string(2*l), generator);
        }
        if (normalised)
        {
            parameters.view(prefix + std::to_string(2*layers + 1) + ".weight").fill_(1);
        }
    };

    draw(edgeEncoderPrefix, edgeEncoderLayers, true);
    draw(nodeEncoderPrefix, nodeEncoderLayers, true);
    draw(decoderPrefix, decoderLayers, false);
    for (int block = 0; block < blocks; ++block)
    {
        draw(edgePrefix(block), edgeProcessorLayers, true);
    }
    for (int block = 0; block < blocks; ++block)
    {
        draw(nodePrefix(block), nodeProcessorLayers, true);
    }
}

}
