// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "io/ModelFile.hpp"

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

#include <string>
#include <utility>
#include <vector>

namespace inSitu
{

//- filename in folder; an absolute filename stays as it is
std::string pathIn(const std::string& folder, const std::string& filename);

//- The TorchScript module in a file, on the CPU; extra is filled with the extra files it names.
//  Throws Error: LibTorch's own word for what is wrong.
torch::jit::Module moduleOf(const ModelFile& file, torch::jit::ExtraFilesMap& extra);

//- Load a TorchScript module onto the CPU. Throws Error, naming the file and what key it
//  comes from ("model.filename"), if it is missing or not TorchScript.
torch::jit::Module loadScript(const std::string& filename, const std::string& key);

//- Arguments of the module's forward, self not counted; throws Error outside
//  [minimum, maximum]. signature tells the user what is expected.
int countArguments(const torch::jit::Module& module, const std::string& filename, int minimum,
    int maximum, const std::string& signature);

//- A tensor with the name that a script's author knows it by
using NamedTensor = std::pair<std::string, at::Tensor>;

//- Run forward. Errors of the module become Error with its file, and so does writing into one of
//  kept, which are used again; graph optimisation is off, because it sets in after some calls and
//  changes the last bits, which a restarted run would not reproduce.
c10::IValue runScript(torch::jit::Module& module, const std::string& filename,
    std::vector<c10::IValue> arguments, const std::vector<NamedTensor>& kept);

}
