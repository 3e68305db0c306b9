// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"
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
    std::shared_ptr<DeviceRanks> ranks;         //!< null: one rank
    std::string name = "cpu";                   //!< "cuda:0 (NVIDIA H200)"
    std::string reason;                         //!< why auto is not a GPU
};

//- What a device entry (auto cpu cuda cuda:N) means for a model that these ranks compute together.
//  auto is a GPU for each of them where they see as many, the library was built and the model
//  can use it; otherwise reason says why not, and all are on the CPU. cuda is the first visible GPU
//  that no earlier rank has, cuda:N is for one rank. given: the library, null: the one beside the
//  core's, which is opened only if there may be a GPU. Collective. Throws Error with the remedy, on
//  all ranks, if a GPU is asked for in vain.
ChosenDevice chooseDevice(const std::string& entry, const Model& model,
    const std::shared_ptr<Comm>& comm, std::shared_ptr<DeviceLibrary> given = nullptr);

//- Why no model of these ranks would get a GPU by this entry: none is visible, or not that one, or
//  the library for it is missing. Empty: it may, or the entry is cpu. Before a run has begun.
//  Collective.
std::string gpuObstacle(const std::string& entry, const Comm& comm);

//- What to say of an entry cuda or cuda:N, and why it cannot be used
std::string deviceRefusal(const std::string& entry, const std::string& reason);

//- Bytes that a training step of a MeshGraphNet takes on a GPU per node and sample, about: states
//  and activations. edgesPerNode: of the graph.
double bytesPerNode(const MeshGraphNetSizes& sizes, double edgesPerNode, const DeviceChoice& choice);

}
