// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/chooseDevice.hpp"

#include "base/Error.hpp"
#include "base/agree.hpp"
#include "model/Model.hpp"
#include "model/assignDevices.hpp"

#include <algorithm>
#include <cstdlib>
#include <unistd.h>

namespace inSitu
{
namespace
{

//- Without mapping LibTorch's part for CUDA: whether there is a driver whose GPUs are not hidden
bool mayHaveGpu()
{
    const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
    if (visible && (std::string(visible).empty() || std::string(visible) == "-1"))
    {
        return false;
    }
    return access("/dev/nvidiactl", F_OK) == 0 || access("/dev/dxg", F_OK) == 0;
}


//- The library and the GPU of a rank that computes alone. Throws Error with the reason if there is
//  none.
ChosenDevice visibleDevice(const std::string& entry, std::shared_ptr<DeviceLibrary> given)
{
    if (!given && !mayHaveGpu())
    {
        throw Error("no GPU is visible");
    }
    ChosenDevice chosen;
    chosen.library = given ? given : DeviceLibrary::open();
    chosen.index = entry.size() > 5 ? std::stoi(entry.substr(5)) : 0;
    const int nDevices = chosen.library->nDevices();
    if (chosen.index >= nDevices)
    {
        throw Error(nDevices == 0 ? std::string("no GPU is visible")
            : "the visible GPUs are 0 to " + std::to_string(nDevices - 1));
    }
    return chosen;
}


//- A GPU for each rank. Throws Error, on all of them, if there are too few.
void shareOut(const std::string& entry, ChosenDevice& chosen, const std::shared_ptr<Comm>& comm)
{
    const std::string nRanks = std::to_string(comm->size());
    if (entry.size() > 5)
    {
        throw AgreedError(entry + " names one GPU, and " + nRanks + " ranks compute the model;"
            " cuda gives each of them its own");
    }
    std::vector<std::string> names;
    for (int i = 0; i < chosen.library->nDevices(); ++i)
    {
        names.push_back(chosen.library->identityOf(i));
    }
    const std::vector<int> devices = assignDevices(*comm, names);
    const auto without = std::count(devices.begin(), devices.end(), -1);
    if (without > 0)
    {
        const std::string nGpus = std::to_string(comm->size() - without);
        throw AgreedError("each rank that computes the model takes a GPU, and for " + nRanks
            + " ranks there " + (nGpus == "1" ? "is " : "are ") + nGpus + "; trainerRanks "
            + (comm->nodeSize() == comm->size() ? nGpus : "as many as the GPUs of a node")
            + " would do");
    }
    chosen.index = devices[comm->rank()];
    chosen.ranks = chosen.library->joinRanks(chosen.index, comm);
}

}


ChosenDevice chooseDevice(const std::string& entry, const Model& model,
    const std::shared_ptr<Comm>& comm, std::shared_ptr<DeviceLibrary> given)
{
    ChosenDevice chosen;
    if (entry == "cpu")
    {
        return chosen;
    }
    try
    {
        if (!model.runsOnGpus())
        {
            throw AgreedError("a model of this type runs on the CPU only");
        }
        together(*comm, [&] { chosen = visibleDevice(entry, std::move(given)); });
        if (comm->size() > 1)
        {
            shareOut(entry, chosen, comm);
        }
        chosen.name = "cuda:" + std::to_string(chosen.index) + " ("
            + chosen.library->nameOf(chosen.index) + ')';
        return chosen;
    }
    catch (const AgreedError& error)
    {
        const std::string reason = error.what();
        if (entry != "auto")
        {
            throw AgreedError(deviceRefusal(entry, reason));
        }
        chosen = ChosenDevice();
        chosen.reason = reason.substr(0, reason.find('\n'));
        return chosen;
    }
}


std::string gpuObstacle(const std::string& entry, const Comm& comm)
{
    return entry == "cpu" ? std::string()
        : faultOf(comm, [&] { visibleDevice(entry, nullptr); });
}


std::string deviceRefusal(const std::string& entry, const std::string& reason)
{
    // The reason may say itself what to do
    return "device " + entry + " cannot be used: " + reason
        + (reason.find('\n') != std::string::npos ? ""
            : ".\n    Remedy: choose device cpu, or auto, which takes a GPU where it can");
}


double bytesPerNode(const MeshGraphNetSizes& sizes, double edgesPerNode, const DeviceChoice& choice)
{
    const double itemSize = choice.storage == Storage::float64 ? 8
        : choice.storage == Storage::float32 ? 4 : 2;
    const double width = (sizes.width + 7)/8*8;

    // Of each block the states in front of it: x, the sums beside it, and e; and what the MLPs keep,
    // which is there once where it is computed again
    const double states = 2 + edgesPerNode;
    const double activations = (sizes.nodeProcessorLayers + 1)
        + edgesPerNode*(sizes.edgeProcessorLayers + 1);
    const double kept = sizes.blocks*(states + (choice.recompute ? 0 : activations));

    // Gradients of edges and nodes, terms, encoders and decoder
    const double work = 8 + 4*edgesPerNode + (choice.recompute ? activations : 2*activations/3);
    return itemSize*width*(kept + work);
}

}
