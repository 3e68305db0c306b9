// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/ScriptFile.hpp"

#include "base/Error.hpp"
#include "io/scriptTensors.hpp"

#include <caffe2/serialize/in_memory_adapter.h>
#include <caffe2/serialize/inline_container.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/serialization/import.h>

#include <filesystem>
#include <fstream>

namespace inSitu
{
namespace
{

//- The beginning of a message of LibTorch, which may be long, quote a file and begin with a line
//  break
std::string oneLine(const std::string& message)
{
    constexpr std::size_t most = 400;
    std::string line;
    for (const char c : message)
    {
        const bool isPlain = c > ' ' && c <= '~';
        if (isPlain || (!line.empty() && line.back() != ' '))
        {
            line += isPlain ? c : ' ';
        }
    }
    return line.empty() ? "no reason given" : line.substr(0, most);
}


void requireWhole(const std::shared_ptr<caffe2::serialize::ReadAdapterInterface>& bytes)
{
    caffe2::serialize::PyTorchStreamReader reader(bytes);
    for (const std::string part : {"data", "constants"})
    {
        const auto [pickle, size] = reader.getRecord(part + ".pkl");
        requireWholeTensors(std::string_view(static_cast<const char*>(pickle.get()), size),
            part + ".pkl", [&](const std::string& record) { return reader.getRecordSize(part + '/' + record); });
    }
}

}


std::string pathIn(const std::string& folder, const std::string& filename)
{
    return (std::filesystem::path(folder)/filename).string();
}


torch::jit::Module moduleOf(const ModelFile& file, torch::jit::ExtraFilesMap& extra)
{
    if (file.kind != ModelFile::Kind::torchScript)
    {
        throw Error('\'' + file.path + "' is " + ModelFile::nameOf(file.kind)
            + ", not a TorchScript module");
    }
    try
    {
        const auto reader = std::make_shared<caffe2::serialize::MemoryReadAdapter>(
            file.bytes.data(), static_cast<off_t>(file.bytes.size()));
        requireWhole(reader);
        return torch::jit::load(reader, at::Device(at::kCPU), extra);
    }
    catch (const c10::Error& fault)
    {
        throw Error(oneLine(fault.what_without_backtrace()));
    }
    catch (const std::exception& fault)
    {
        throw Error(oneLine(fault.what()));
    }
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
        torch::jit::ExtraFilesMap none;
        return moduleOf(readModelFile(filename), none);
    }
    catch (const Error& error)
    {
        throw Error(key + " \"" + filename + "\" is not a TorchScript file, or damaged ("
            + error.what() + "); save the module with torch.jit.script(module).save(...)");
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
    std::vector<c10::IValue> arguments, const std::vector<NamedTensor>& kept)
{
    std::vector<std::int64_t> versions;
    for (const auto& [name, tensor] : kept)
    {
        versions.push_back(tensor.defined() ? tensor._version() : 0);
    }
    const torch::jit::GraphOptimizerEnabledGuard plain(false);
    try
    {
        c10::IValue result = module.forward(std::move(arguments));
        for (std::size_t i = 0; i < kept.size(); ++i)
        {
            if (kept[i].second.defined() && kept[i].second._version() != versions[i])
            {
                throw Error("\"" + filename + "\" writes into its argument '" + kept[i].first
                    + "', which is used again; let it work on a new tensor: x = x*2, not x *= 2");
            }
        }
        return result;
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
