// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Stamped.hpp"
#include "model/DeviceLibrary.hpp"
#include "model/Model.hpp"

#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace inSitu
{

//- What the trainer has to know of the case besides its configuration
struct TrainerLayout
{
    ModelShape shape;
    int nInputColumns = 0;      //!< gathered columns of a row
    int nFeatures = 0;          //!< per-sample columns behind them
    std::vector<std::string> staticColumns = {};    //!< behind those
    int nEdgeInputs = 0;        //!< columns of edges behind those of the geometry
    bool increment = true;
    double noise = 0;           //!< deviation on normalised gathered inputs of cells

    //- For each target column the input column of the same field, -1: none. Increments start from
    //  the noisy input: its noise is part of what the network has to undo (Pfaff et al. 2021).
    std::vector<int> inputOfTarget;
    CountBuild countBuild;      //!< told of each build of a cache of the trainer; may be empty

    //- Receives what a user should know of the device; may be empty
    std::function<void(const std::string&)> note;

    //- Null: the library beside the core's, if it is needed
    std::shared_ptr<DeviceLibrary> devices;

    //- What samples are drawn from, whose rows a GPU may keep
    struct Buffer
    {
        std::string location = "host";      //!< auto | host | device
        double bytes = 0;                   //!< of all that it may come to hold
        std::size_t memory = std::numeric_limits<std::size_t>::max();   //!< bytes that it may take
    };
    Buffer buffer;
};

}
