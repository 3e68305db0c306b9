// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/MeshGraphNetSizes.hpp"
#include "model/Model.hpp"

#include <optional>

namespace inSitu
{

//- MeshGraphNet (Pfaff et al. 2021) exactly as NVIDIA PhysicsNeMo has it: encoders of nodes
//  and edges, processorSize pairs of
//      e' = MLP([e, x_sender, x_receiver]) + e,    x' = MLP([aggregate of e', x]) + x,
//  a decoder; every MLP but the decoder ends with a layer normalisation (eps 1e-5). Parameter
//  names and initial weights are PhysicsNeMo's. Forward and backward are one fused operator
//  in float32 or float64.
class MeshGraphNetOptions final : public ModelOptions
{
public:

    std::int64_t processorSize = 15;
    std::int64_t hiddenSize = 128;
    std::optional<std::int64_t> hiddenDimProcessor;
    std::optional<std::int64_t> hiddenDimNodeEncoder;
    std::optional<std::int64_t> hiddenDimEdgeEncoder;
    std::optional<std::int64_t> hiddenDimNodeDecoder;
    std::int64_t hiddenLayersProcessor = 2;
    std::int64_t hiddenLayersEncoder = 2;
    std::int64_t hiddenLayersDecoder = 2;
    std::optional<std::int64_t> numLayersNodeProcessor;
    std::optional<std::int64_t> numLayersEdgeProcessor;
    std::optional<std::int64_t> numLayersNodeEncoder;
    std::optional<std::int64_t> numLayersEdgeEncoder;
    std::optional<std::int64_t> numLayersNodeDecoder;
    std::string aggregation = "sum";
    std::string activation = "relu";

    void describe(Schema& schema) override;

    std::unique_ptr<Model> build(const ModelShape& shape, Precision precision,
        std::uint64_t seed, ThreadPool& pool) const override;

    MeshGraphNetSizes sizes(const ModelShape& shape) const;

    Size size(const ModelShape& shape) const override;
};

//- Sizes of a model that MeshGraphNetOptions made; nothing for other models
std::optional<MeshGraphNetSizes> sizesOf(const Model& model);

}
