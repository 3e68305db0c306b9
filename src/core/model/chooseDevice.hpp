// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/DeviceLibrary.hpp"

#include <memory>
#include <string>

namespace inSitu
{

class Model;

//- Where a model computes
struct ChosenDevice
{
    std::shared_ptr<DeviceLibrary> library;     //!< null: on the CPU
    int index = 0;
    std::string name = "cpu";                   //!< "cuda:0 (NVIDIA H200)"
    std::string reason;                         //!< why auto is not a GPU
};

//- What a device entry (auto cpu cuda cuda:N) means for a model on nRanks. auto is a GPU where one
//  is visible, the library for it was built and the model can use it; otherwise reason says why not.
//  cuda is the first visible GPU. given: the library, null: the one beside the core's, which is
//  opened only if there may be a GPU. Throws Error with the remedy if a GPU is asked for in vain.
ChosenDevice chooseDevice(const std::string& entry, const Model& model, int nRanks,
    std::shared_ptr<DeviceLibrary> given = nullptr);

//- Bytes that a training step of a MeshGraphNet takes on a GPU per node and sample, about: states
//  and activations. edgesPerNode: of the graph.
double bytesPerNode(const MeshGraphNetSizes& sizes, double edgesPerNode, const DeviceChoice& choice);

}
