// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/TrainingConfig.hpp"

#include "config/SchemaReader.hpp"

namespace inSitu
{
namespace
{

std::string complaintAboutDevice(const std::string& device)
{
    if (device == "auto" || device == "cpu")
    {
        return {};
    }
    const bool isCuda = device == "cuda"
        || (device.size() > 5 && device.compare(0, 5, "cuda:") == 0
            && device.find_first_not_of("0123456789", 5) == std::string::npos);
    return isCuda
        ? "device " + device + " is not supported yet: use auto or cpu"
        : "device '" + device + "' is not known; one of: auto cpu cuda cuda:N";
}


std::string complaintAboutPrecision(const std::string& precision)
{
    return precision == "float32" || precision == "float64"
        ? std::string()
        : "precision " + precision + " is not supported yet: use float32 or float64";
}

}


TrainingConfig::TrainingConfig()
:
    model(modelRegistry().at(modelType)()),
    loss(lossRegistry().at(lossType)()),
    optimizer(optimizerRegistry().at(optimizerType)()),
    schedule(scheduleRegistry().at(scheduleType)())
{}


void TrainingConfig::describe(Schema& schema)
{
    schema.key("device", device, "auto, cpu, cuda or cuda:N (cuda is not supported yet)");
    schema.check({"device"}, [this] { return complaintAboutDevice(device); });
    schema.choice("precision", precision, {"float32", "float64", "bfloat16", "float16"},
        "arithmetic of snapshots, model and optimiser (the 16-bit ones are not supported yet)");
    schema.check({"precision"}, [this] { return complaintAboutPrecision(precision); });
    schema.key("seed", seed, "of all generators", Range::atLeast(0));
    schema.key("batchSize", batchSize,
        "samples per training step: the newest one, the others drawn from the buffer",
        Range::atLeast(1));
    schema.key("stepsPerExecute", stepsPerExecute, "training steps per execution",
        Range::atLeast(1));
    schema.key("keepBest", keepBest,
        "the artifact holds the weights of the best report so far: mean skill over the targets");
    schema.typed("model", modelType, model, modelRegistry(), "the network");
    schema.typed("loss", lossType, loss, lossRegistry(), "what is minimised");
    schema.typed("optimizer", optimizerType, optimizer, optimizerRegistry(),
        "how parameters follow the gradient");
    schema.typed("lrScheduler", scheduleType, schedule, scheduleRegistry(),
        "learning rate over the optimiser steps");
}


void TrainingConfig::setFolder(const std::string& folder)
{
    model->setFolder(folder);
    loss->setFolder(folder);
}


Precision TrainingConfig::arithmetic() const
{
    return precision == "float64" ? Precision::float64 : Precision::float32;
}


Node TrainingConfig::written() const
{
    // describe() is one function for reading and writing; a writer changes nothing
    auto& self = const_cast<TrainingConfig&>(*this);
    return writeConfig([&self](Schema& schema) { self.describe(schema); });
}

}
