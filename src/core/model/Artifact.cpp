// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/Artifact.hpp"

#include "base/Error.hpp"
#include "model/TorchScriptModel.hpp"

#include <ATen/ATen.h>
#include <torch/csrc/jit/api/module.h>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sstream>

namespace inSitu
{
namespace
{

// Differences and scales in double whatever the nodes are given in, the network in its own
// precision (that of the buffer 'working'): as the trainer computes
const char* const forwardSource = R"(
def forward(self, nodes: Tensor, static: Tensor, edge_index: Tensor, edges: Tensor) -> Tensor:
    x = (nodes.to(self.input_scale) - self.input_reference - self.input_shift)/self.input_scale
    x = torch.cat([x.to(self.working), static.to(self.working)], 1)
    e = (edges.to(self.edge_scale)/self.edge_scale).to(self.working)
    y = self.network_output(x, edge_index, e).to(self.target_scale)
    y = y*self.target_scale + self.target_shift + self.target_reference
    return y.to(nodes)
)";


at::Tensor row(const std::vector<double>& values)
{
    return at::tensor(values, at::kDouble);
}


//- Method network_output of a native model: its own source, its parameters at the root
void addNative(torch::jit::Module& root, const Model& model)
{
    for (const auto& [name, tensor] : model.namedTensors())
    {
        root.register_parameter(attributeName(name), tensor.clone(), false);
    }
    root.define(model.torchScript());
    root.define(R"(
def network_output(self, nodes: Tensor, edge_index: Tensor, edges: Tensor) -> Tensor:
    return self.network(nodes, edge_index, edges)
)");
}


//- Method network_output of a user's module, which becomes the submodule 'network'
void addScripted(torch::jit::Module& root, const TorchScriptModel& model)
{
    const char* const arguments[] = {"nodes", "nodes, edge_index", "nodes, edge_index, edges"};
    root.register_module("network", model.module().deepcopy());
    root.define(
        "def network_output(self, nodes: Tensor, edge_index: Tensor, edges: Tensor) -> Tensor:\n"
        "    return self.network(" + std::string(arguments[model.nArguments() - 1]) + ")\n");
}


at::ScalarType precisionOf(const Model& model)
{
    return model.parameters().front().scalar_type();
}


[[noreturn]] void fail(const std::string& what, const std::string& path)
{
    throw Error("artifact " + path + ": " + what + " failed (" + std::strerror(errno)
        + "); the earlier file, if any, is unchanged");
}


void writeAndSync(const std::string& path, const std::string& bytes)
{
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (file < 0)
    {
        fail("opening", path);
    }
    std::size_t done = 0;
    while (done < bytes.size())
    {
        const ssize_t n = ::write(file, bytes.data() + done, bytes.size() - done);
        if (n < 0 && errno != EINTR)
        {
            const int cause = errno;
            ::close(file);
            errno = cause;
            fail("writing", path);
        }
        done += n > 0 ? static_cast<std::size_t>(n) : 0;
    }
    const bool synced = ::fsync(file) == 0;
    if (::close(file) != 0 || !synced)
    {
        fail("syncing", path);
    }
}


void replaceFile(const std::string& path, const std::string& bytes)
{
    const std::string beside = path + ".tmp" + std::to_string(::getpid());
    try
    {
        writeAndSync(beside, bytes);
        if (std::rename(beside.c_str(), path.c_str()) != 0)
        {
            fail("renaming", beside);
        }
    }
    catch (const Error&)
    {
        ::unlink(beside.c_str());
        throw;
    }
}

}


std::string attributeName(const std::string& parameter)
{
    std::string name;
    for (const char c : parameter)
    {
        name += c == '.' ? std::string("__") : std::string(1, c);
    }
    return name;
}


void writeArtifact(const std::string& path, const Model& model, const ArtifactContent& content)
{
    torch::jit::Module root("inSituSurrogate");
    root.register_buffer("input_reference", row(content.inputReference));
    root.register_buffer("input_shift", row(content.input.shift));
    root.register_buffer("input_scale", row(content.input.scale));
    root.register_buffer("target_reference", row(content.targetReference));
    root.register_buffer("target_shift", row(content.target.shift));
    root.register_buffer("target_scale", row(content.target.scale));
    root.register_buffer("edge_scale", at::scalar_tensor(content.edgeScale, at::kDouble));
    root.register_buffer("working", at::zeros({1}, precisionOf(model)));

    if (const auto* scripted = dynamic_cast<const TorchScriptModel*>(&model))
    {
        addScripted(root, *scripted);
    }
    else
    {
        addNative(root, model);
    }
    root.define(forwardSource);
    root.eval();

    std::ostringstream stream;
    root.save(stream, {{"card.json", content.card}});
    replaceFile(path, stream.str());
}

}
