// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/Model.hpp"

#include <ATen/core/Tensor.h>

#include <string>
#include <utility>
#include <vector>

namespace inSitu
{

//- Tensors by name, from a file of some network
struct WeightsFile
{
    std::string path;
    std::string kind;       //!< "a checkpoint", "a state dictionary", …
    std::vector<std::pair<std::string, at::Tensor>> tensors;
};

//- Read them from the folder of a checkpoint, an artifact or other TorchScript module, a .mdlus of
//  PhysicsNeMo or a file of torch.save with a state dictionary; told by content. Those of an
//  artifact have the names of the network in it. Nothing but TorchScript's own code for its state
//  is executed. Throws Error naming path and fault: missing, damaged, of another kind, without
//  tensors, a tensor that is not finite.
WeightsFile readWeights(const std::string& path);


//- What became of the tensors of a network and of a file
struct WeightsMatch
{
    std::string prefix;                     //!< before all names in the file: "module."
    std::vector<std::string> matched;
    std::vector<std::string> missing;       //!< in the file
    std::vector<std::string> otherShape;    //!< "weight [3, 4], in the file [3, 5]"
    std::vector<std::string> leftOver;      //!< in the file

    //- Lines that name all of them
    std::string text() const;
};

//- Copy into the model every tensor of the file that has the same name and shape; names in the file
//  may have a prefix, that under which most of them fit. Numbers are converted to the model's
//  precision. Throws Error, and changes nothing, if none matches.
WeightsMatch takeWeights(const Model& model, const WeightsFile& file);

}
