// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/TrainingConfig.hpp"

#include "config/SchemaReader.hpp"
#include "config/deviceWords.hpp"

namespace inSitu
{

TrainingConfig::TrainingConfig()
:
    model(modelRegistry().at(modelType)()),
    loss(lossRegistry().at(lossType)()),
    optimizer(optimizerRegistry().at(optimizerType)()),
    schedule(scheduleRegistry().at(scheduleType)())
{}


void TrainingConfig::describe(Schema& schema)
{
    schema.key("device", device, "where to train: auto (a GPU where one can be used), cpu, cuda or "
        "cuda:N");
    schema.check({"device"}, [this] { return complaintAboutDevice(device); });
    schema.choice("precision", precision, {"float32", "float64", "bfloat16", "float16"},
        "of model and samples; bfloat16 and float16, on a GPU, keep parameters and sums in float32");
    schema.key("tf32", tf32, "on a GPU, products of precision float32 may round their factors to 10 "
        "bits (TF32)");
    schema.key("recompute", recompute, "on a GPU, compute activations again in the backward pass: "
        "less memory for more time");
    schema.choice("castOn", castOn, {"host", "device"},
        "with a GPU, where rows of samples get the model's scales: on the CPU, or on the GPU, to "
        "which they go as they were gathered; device where the GPU keeps the samples");
    schema.choice("capture", capture, {"auto", "yes", "no"},
        "on a GPU, record a training step as one CUDA graph; auto: where that works");
    schema.key("maxCaptures", maxCaptures, "recorded steps, one for each mesh and batch",
        Range::atLeast(1));
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


DeviceChoice TrainingConfig::onDevice(int index) const
{
    DeviceChoice choice;
    choice.index = index;
    choice.storage = precision == "float64" ? Storage::float64
        : precision == "bfloat16" ? Storage::bfloat16
        : precision == "float16" ? Storage::float16 : Storage::float32;
    choice.tf32 = tf32;
    choice.recompute = recompute;
    return choice;
}


Node TrainingConfig::written() const
{
    // describe() is one function for reading and writing; a writer changes nothing
    auto& self = const_cast<TrainingConfig&>(*this);
    return writeConfig([&self](Schema& schema) { self.describe(schema); });
}

}
