// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "io/MdlusContent.hpp"
#include "model/MeshGraphNet.hpp"

namespace inSitu
{

//- Arguments of the constructor of PhysicsNeMo's MeshGraphNet, with its defaults
struct MdlusArguments
{
    std::int64_t inputDimNodes = 0;
    std::int64_t inputDimEdges = 0;
    std::int64_t outputDim = 0;
    std::int64_t processorSize = 15;
    std::string activation = "relu";
    std::int64_t numLayersNodeProcessor = 2;
    std::int64_t numLayersEdgeProcessor = 2;
    std::int64_t hiddenDimProcessor = 128;
    std::int64_t hiddenDimNodeEncoder = 128;
    std::int64_t numLayersNodeEncoder = 2;
    std::int64_t hiddenDimEdgeEncoder = 128;
    std::int64_t numLayersEdgeEncoder = 2;
    std::int64_t hiddenDimNodeDecoder = 128;
    std::int64_t numLayersNodeDecoder = 2;
    std::string aggregation = "sum";
    bool concatTrick = false;
    std::int64_t checkpointSegments = 0;
    bool checkpointOffloading = false;
    bool recomputeActivation = false;
    std::string normType = "LayerNorm";

    //- From a file. Throws Error: another class, an argument that is not known, or a value of it
    //  that cannot be had here.
    static MdlusArguments of(const MdlusContent& content);

    static MdlusArguments of(const MeshGraphNetSizes& sizes);

    //- Under PhysicsNeMo's names
    void describe(Schema& schema);

    ModelShape shape() const;
    MeshGraphNetOptions options() const;

    //- The content of args.json. Throws Error if PhysicsNeMo has not the activation.
    std::string json();
};

}
