// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/Node.hpp"
#include "model/DeviceLibrary.hpp"
#include "model/Model.hpp"
#include "train/Loss.hpp"
#include "train/Optimizer.hpp"
#include "train/Schedule.hpp"

namespace inSitu
{

//- The block `training`, or the file that trainingFile names
struct TrainingConfig
{
    std::string device = "auto";            //!< auto | cpu | cuda | cuda:N
    std::string precision = "float32";      //!< float32 | float64 | bfloat16 | float16
    bool tf32 = false;                      //!< on a GPU: products of float32 in TF32
    bool recompute = false;                 //!< on a GPU: activations twice for less memory
    std::string castOn = "host";            //!< with a GPU: host | device
    std::string capture = "auto";           //!< on a GPU: auto | yes | no
    std::int64_t maxCaptures = 8;
    std::int64_t seed = 1;
    std::int64_t batchSize = 1;
    std::int64_t stepsPerExecute = 1;
    bool keepBest = false;                  //!< the artifact holds the best weights so far

    std::string modelType = "meshGraphNet";
    std::unique_ptr<ModelOptions> model;
    std::string lossType = "mse";
    std::unique_ptr<LossOptions> loss;
    std::string optimizerType = "adam";
    std::unique_ptr<OptimizerOptions> optimizer;
    std::string scheduleType = "constant";
    std::unique_ptr<ScheduleOptions> schedule;

    //- Defaults from the registries
    TrainingConfig();

    void describe(Schema& schema);

    //- Folder that relative file names start from
    void setFolder(const std::string& folder);

    //- Of samples, parameters and optimiser: float64 or float32
    Precision arithmetic() const;

    //- In which a GPU stores and multiplies
    DeviceChoice onDevice(int index) const;

    //- The values in force, defaults included
    Node written() const;
};

}
