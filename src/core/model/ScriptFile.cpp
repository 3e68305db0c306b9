// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/ScriptFile.hpp"

#include "base/Error.hpp"

#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/serialization/import.h>

#include <filesystem>
#include <fstream>

namespace inSitu
{

std::string pathIn(const std::string& folder, const std::string& filename)
{
    return (std::filesystem::path(folder)/filename).string();
}


torch::jit::Module loadScript(const std::string& filename, const std::string& key)
{
    if (!std::ifstream(filename).good())
    {
        throw Error(key + " \"" + filename + "\" cannot be opened; name an existing file saved "
            "with torch.jit.save, relative to the case or absolute");
    }
    try
    {
        return torch::jit::load(filename, at::kCPU);
    }
    catch (const c10::Error& error)
    {
        throw Error(key + " \"" + filename + "\" is not a TorchScript file ("
            + error.what_without_backtrace() + "); save the module with "
            "torch.jit.script(module).save(...)");
    }
}


int countArguments(const torch::jit::Module& module, const std::string& filename, int minimum,
    int maximum, const std::string& signature)
{
    const auto method = module.find_method("forward");
    const int count =
        method ? static_cast<int>(method->function().getSchema().arguments().size()) - 1 : -1;
    if (count < minimum || count > maximum)
    {
        throw Error("\"" + filename + "\" "
            + (method ? "has a forward with " + std::to_string(count) + " arguments"
                      : std::string("has no forward"))
            + "; write " + signature);
    }
    return count;
}


c10::IValue runScript(torch::jit::Module& module, const std::string& filename,
    std::vector<c10::IValue> arguments)
{
    const torch::jit::GraphOptimizerEnabledGuard plain(false);
    try
    {
        return module.forward(std::move(arguments));
    }
    catch (const c10::Error& error)
    {
        throw Error("\"" + filename + "\" failed: " + error.what_without_backtrace());
    }
    catch (const std::runtime_error& error)
    {
        throw Error("\"" + filename + "\" failed: " + error.what());
    }
}

}
