// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "infer/Surrogate.hpp"
#include "model/Model.hpp"
#include "train/BatchAssembler.hpp"

#include <functional>
#include <memory>
#include <string>

namespace inSitu
{

class DeviceForward;
class DeviceLibrary;
class DeviceQueue;

//- A network of ours on our kernels: computes as the trainer does, bit for bit
class NetworkSurrogate final : public Surrogate
{
public:

    NetworkSurrogate(ModelCard card, std::unique_ptr<Model> network, SurrogateScales scales,
        ThreadPool& pool, const CountBuild& count);

    ~NetworkSurrogate() override;

    void joinRanks(std::shared_ptr<Comm> comm) override { network_->joinRanks(std::move(comm)); }
    bool handlesHalo() const override { return network_->handlesHalo(); }
    std::string useDevice(const std::string& entry, const std::shared_ptr<Comm>& comm,
        std::function<void(const std::string&)> note) override;

    //- The same with a library, null: the one beside the core's
    std::string useDevice(const std::string& entry, const std::shared_ptr<Comm>& comm,
        std::function<void(const std::string&)> note, std::shared_ptr<DeviceLibrary> library);

    std::int64_t nParameters() const override { return network_->nParameters(); }
    void predict(const Sample& sample, Span<double> prediction) override;
    std::string firstStaleEntry() const override { return assembler_->firstStaleEntry(); }
    void update(const Model& network, SurrogateScales scales, ModelCard card) override;

private:

    std::unique_ptr<Model> network_;
    SurrogateScales scales_;
    ThreadPool& pool_;
    CountBuild count_;
    std::unique_ptr<BatchAssembler> assembler_;
    std::shared_ptr<DeviceQueue> queue_;        // of a GPU
    std::unique_ptr<DeviceForward> forward_;
};

}
