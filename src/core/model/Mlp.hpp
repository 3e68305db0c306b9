// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/Model.hpp"

namespace inSitu
{

//- Multilayer perceptron on each node's row alone, TorchFort's `mlp`: linear layers with an
//  activation and dropout behind all but the last. Parameters as in a torch.nn.Sequential:
//  layers.0.weight, layers.0.bias, layers.2.weight, … Edges are not read.
class MlpOptions final : public ModelOptions
{
public:

    std::vector<std::int64_t> layerSizes;       //!< empty: from hiddenSize and hiddenLayers
    std::int64_t hiddenSize = 128;
    std::int64_t hiddenLayers = 2;
    double dropout = 0;
    std::string activation = "relu";
    bool flattenNonBatchDims = true;

    void describe(Schema& schema) override;

    Size size(const ModelShape& shape) const override;

    //- Throws Error, naming both, if layerSizes starts or ends with other widths than the case
    std::unique_ptr<Model> build(const ModelShape& shape, Precision precision,
        std::uint64_t seed, ThreadPool& pool) const override;
};

}
