// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "FakeDevice.hpp"
#include "TrainCase.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace inSitu
{

using Entries = std::vector<std::pair<std::string, std::string>>;

// Rates are exact in float32, which the device keeps them in
inline const Entries small{{"precision", "float64"}, {"model.processorSize", "2"},
    {"model.hiddenSize", "8"}, {"optimizer.learningRate", "0.0078125"}};

inline Entries with(Entries entries, const Entries& more)
{
    for (const auto& [key, value] : more)
    {
        entries.erase(std::remove_if(entries.begin(), entries.end(),
            [key = key](const auto& entry) { return entry.first == key; }), entries.end());
        entries.emplace_back(key, value);
    }
    return entries;
}


//- A trainer on the device
struct DeviceBench : TrainerBench
{
    DeviceBench(const Entries& entries, TrainerLayout layout)
    :
        DeviceBench(entries, std::move(layout), std::make_shared<FakeDevice>())
    {}

    std::shared_ptr<FakeDevice> device;

private:

    DeviceBench(const Entries& entries, TrainerLayout layout, std::shared_ptr<FakeDevice> theDevice)
    :
        TrainerBench(trainingConfig(with(entries, {{"device", "cuda"}})),
            withDevice(std::move(layout), theDevice)),
        device(theDevice)
    {}

    static TrainerLayout withDevice(TrainerLayout layout, std::shared_ptr<FakeDevice> device)
    {
        layout.devices = std::move(device);
        return layout;
    }
};

}
