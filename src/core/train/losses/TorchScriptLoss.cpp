// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/losses/Losses.hpp"

#include "model/ScriptFile.hpp"

#include <ATen/ATen.h>

namespace inSitu
{
namespace
{

const char* const signature =
    "forward(prediction, target) or forward(prediction, target, weight) that returns one number";


class TorchScriptLoss final : public Loss
{
public:

    explicit TorchScriptLoss(std::string filename)
    :
        filename_(std::move(filename)),
        module_(loadScript(filename_, "loss.filename")),
        takesWeight_(countArguments(module_, filename_, 2, 3, signature) == 3)
    {
        module_.eval();
    }

    at::Tensor operator()(const at::Tensor& prediction, const at::Tensor& target,
        const at::Tensor& weight, double) override
    {
        if (precision_ != prediction.scalar_type() || device_ != prediction.device())
        {
            precision_ = prediction.scalar_type();
            device_ = prediction.device();
            module_.to(device_, precision_);
        }

        std::vector<c10::IValue> arguments{prediction.narrow(1, 0, target.size(1)), target};
        if (takesWeight_)
        {
            arguments.emplace_back(weight.to(precision_));
        }
        else if (!at::all(weight == weight[0]).item<bool>())
        {
            throw Error("loss.filename \"" + filename_ + "\" takes no weights, but those of the "
                "cells differ (weights volume or cellZone); add a third argument 'weight' to its "
                "forward, or remove those entries");
        }

        const c10::IValue result = runScript(module_, filename_, std::move(arguments),
            {{"prediction", prediction}, {"target", target}, {"weight", weight}});
        if (!result.isTensor() || result.toTensor().numel() != 1)
        {
            throw Error("loss.filename \"" + filename_ + "\" returned "
                + (result.isTensor()
                    ? std::to_string(result.toTensor().numel()) + " numbers" : result.tagKind())
                + "; write " + signature);
        }
        return result.toTensor().reshape({}).to(at::kDouble);
    }

    bool canBeRecorded() const override { return false; }

private:

    std::string filename_;
    torch::jit::Module module_;
    bool takesWeight_;
    at::ScalarType precision_ = at::ScalarType::Undefined;
    at::Device device_ = at::kCPU;
};


class TorchScriptLossOptions final : public LossOptions
{
public:

    void describe(Schema& schema) override
    {
        schema.key("filename", filename_,
            "TorchScript file with forward(prediction, target[, weight]), relative to the case");
        schema.required("filename");
        describeCommon(schema);
    }

    void setFolder(const std::string& folder) override { folder_ = folder; }

    std::string file() const override { return pathIn(folder_, filename_); }

    std::unique_ptr<Loss> build(ThreadPool&) const override
    {
        return std::make_unique<TorchScriptLoss>(file());
    }

private:

    std::string filename_;
    std::string folder_;
};

}


std::unique_ptr<LossOptions> makeTorchScriptLossOptions()
{
    return std::make_unique<TorchScriptLossOptions>();
}

}
