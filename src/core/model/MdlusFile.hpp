// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "io/MdlusContent.hpp"
#include "model/Artifact.hpp"
#include "model/MeshGraphNet.hpp"

#include <memory>
#include <optional>
#include <string>

namespace inSitu
{

//- A MeshGraphNet of PhysicsNeMo, made here
struct ImportedMeshGraphNet
{
    std::unique_ptr<Model> model;
    ModelShape shape;
    MeshGraphNetOptions options;        //!< what would make such a model: `model { … }`
};

//- Make the model that a `.mdlus` file describes, weights included; pool outlives it. Its
//  predictions are PhysicsNeMo's. Arguments that only concern PhysicsNeMo's training
//  (num_processor_checkpoint_segments, checkpoint_offloading, recompute_activation) have no
//  effect; with do_concat_trick the parts of the first edge layer are put together;
//  TELayerNorm is LayerNorm, as in PhysicsNeMo on a CPU. Throws Error, naming the argument or
//  tensor: another class than MeshGraphNet, an argument or value that is not known or cannot be
//  had here (activations; leaky_relu has another slope there), a tensor that is missing, left
//  over, of another shape or type, or not finite.
ImportedMeshGraphNet meshGraphNetFrom(const MdlusContent& content, Precision precision,
    ThreadPool& pool);

//- Scales and card if inSituFoam wrote the file, else nothing. Throws Error if they are damaged.
std::optional<ArtifactContent> artifactOf(const MdlusContent& content);

//- Write a MeshGraphNet so that PhysicsNeMo's Module.from_checkpoint makes the same network
//  from it. That network takes normalised features; scales and card, if given, go beside it as
//  members that PhysicsNeMo passes over. Written beside, synced and renamed. Throws Error:
//  another model than a MeshGraphNet, the activation leaky_relu.
void writeMdlus(const std::string& path, const Model& model,
    const ArtifactContent* artifact = nullptr);

}
