// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/Model.hpp"
#include "model/ParameterSet.hpp"

#include <ATen/ATen.h>

namespace inSitu
{

//- What models with a ParameterSet and a last linear layer have in common
class FlatModel : public Model
{
public:

    std::vector<at::Tensor> parameters() const override { return {parameters_.flat()}; }
    std::vector<std::pair<std::string, at::Tensor>> namedTensors() const override;
    bool rescaleOutput(const std::vector<double>& factor,
        const std::vector<double>& shift) override;

protected:

    //- lastLinear: name of the layer that gives the output, without ".weight"
    FlatModel(ModelShape shape, ParameterSet parameters, std::string lastLinear)
    :
        shape_(shape),
        parameters_(std::move(parameters)),
        lastLinear_(std::move(lastLinear))
    {}

    //- Throws Error, naming both, unless tensors are contiguous, of the parameters' type and
    //  on their device, and of the shapes that the case dictates
    void check(const GraphBatch& batch) const;

    //- Memory for a prediction [B, nNodes, nOutputs]: that of the last one, if nobody holds it
    at::Tensor predictionFor(const GraphBatch& batch);

    ModelShape shape_;
    ParameterSet parameters_;

private:

    std::string lastLinear_;
    at::Tensor prediction_;
};

at::ScalarType scalarType(Precision precision);

}
