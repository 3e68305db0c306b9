// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/ParameterSet.hpp"
#include "model/simd/Kernels.hpp"

#include <string>

namespace inSitu
{

//- Everything that fixes a MeshGraphNet's parameters and arithmetic. "Layers" counts hidden
//  layers as PhysicsNeMo does: n layers are n + 1 linear maps.
struct MeshGraphNetSizes
{
    int nodeFeatures = 0;
    int edgeFeatures = 0;
    int outputs = 0;
    int blocks = 15;
    int width = 128;                //!< of node and edge states
    int nodeEncoderWidth = 128;
    int edgeEncoderWidth = 128;
    int decoderWidth = 128;
    int nodeProcessorLayers = 2;
    int edgeProcessorLayers = 2;
    int nodeEncoderLayers = 2;
    int edgeEncoderLayers = 2;
    int decoderLayers = 2;
    Activation activation = Activation::relu;
    bool mean = false;              //!< aggregation: mean instead of sum

    std::string edgePrefix(int block) const;
    std::string nodePrefix(int block) const;

    static constexpr const char* edgeEncoderPrefix = "edge_encoder.model.";
    static constexpr const char* nodeEncoderPrefix = "node_encoder.model.";
    static constexpr const char* decoderPrefix = "node_decoder.model.";

    //- The parameters under PhysicsNeMo's names, in the order of its state_dict
    ParameterSet declare() const;

    //- Draw weights and biases as PhysicsNeMo does after torch.manual_seed on generator: edge
    //  encoder, node encoder, decoder, edge blocks, node blocks
    void initialise(const ParameterSet& parameters, at::Generator& generator) const;
};

}
