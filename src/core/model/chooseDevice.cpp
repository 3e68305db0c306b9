// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/chooseDevice.hpp"

#include "base/Error.hpp"
#include "model/Model.hpp"

#include <cstdlib>
#include <exception>
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


//- Why a GPU cannot be used; empty: it can
std::string obstacle(const Model& model, int nRanks)
{
    if (!model.runsOnGpus())
    {
        return "a model of this type runs on the CPU only";
    }
    return nRanks == 1 ? "" : "a GPU takes one rank, and there are " + std::to_string(nRanks);
}

}


ChosenDevice chooseDevice(const std::string& entry, const Model& model, int nRanks,
    std::shared_ptr<DeviceLibrary> given)
{
    ChosenDevice chosen;
    if (entry == "cpu")
    {
        return chosen;
    }
    const bool isAuto = entry == "auto";
    const auto refuse = [&](const std::string& reason)
    {
        if (!isAuto)
        {
            throw Error("device " + entry + " cannot be used: " + reason
                + ".\n    Remedy: choose device cpu, or auto, which takes a GPU where it can");
        }
        chosen.reason = reason;
        return chosen;
    };

    const std::string reason = obstacle(model, nRanks);
    if (!reason.empty())
    {
        return refuse(reason);
    }
    if (!given && !mayHaveGpu())
    {
        return refuse("no GPU is visible");
    }
    try
    {
        const std::shared_ptr<DeviceLibrary> library = given ? given : DeviceLibrary::open();
        const int index = entry.size() > 5 ? std::stoi(entry.substr(5)) : 0;
        if (index >= library->nDevices())
        {
            return refuse(library->nDevices() == 0 ? std::string("no GPU is visible")
                : "the visible GPUs are 0 to " + std::to_string(library->nDevices() - 1));
        }
        chosen.library = library;
        chosen.index = index;
        chosen.name = "cuda:" + std::to_string(index) + " (" + library->nameOf(index) + ')';
    }
    catch (const std::exception& error)
    {
        if (!isAuto)
        {
            throw;
        }
        const std::string why = error.what();
        return refuse(why.substr(0, why.find('\n')));
    }
    return chosen;
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
