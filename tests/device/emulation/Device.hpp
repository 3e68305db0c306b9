// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "DevicePass.hpp"
#include "FakeDevice.hpp"
#include "scaleRows.hpp"

namespace inSitu
{
namespace test
{

//- A device whose models compute by the kernels, as C++ on the CPU, and whose queue does nothing
//  before it must
class EmulatedDevice final : public FakeDevice
{
public:

    std::string nameOf(int) const override { return "emulated"; }
    std::int64_t memoryStamp() const override { return device::memoryStamp(); }
    void scaleRows(const RowScaling& rows) override { device::scaleRows(rows); }

protected:

    std::shared_ptr<GraphPass<double>> doublePass(const MeshGraphNetSizes& sizes,
        const ParameterSet& parameters, const DeviceChoice& theChoice) override
    {
        return std::make_shared<device::DevicePass<double>>(sizes, parameters, at::kCPU, theChoice);
    }

    std::shared_ptr<GraphPass<float>> floatPass(const MeshGraphNetSizes& sizes,
        const ParameterSet& parameters, const DeviceChoice& theChoice) override
    {
        if (theChoice.storage == Storage::bfloat16)
        {
            return std::make_shared<device::DevicePass<device::BFloat16>>(sizes, parameters,
                at::kCPU, theChoice);
        }
        return std::make_shared<device::DevicePass<float>>(sizes, parameters, at::kCPU, theChoice);
    }
};

}
}
