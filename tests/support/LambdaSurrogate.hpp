// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "infer/Surrogate.hpp"

#include <functional>
#include <utility>

namespace inSitu
{

//- A network that is a function of the sample
class LambdaSurrogate final : public Surrogate
{
public:

    using Function = std::function<void(const Sample&, Span<double>)>;

    LambdaSurrogate(ModelCard card, std::vector<double> inputReference, Function function,
        Precision precision = Precision::float64)
    :
        Surrogate(std::move(card), std::move(inputReference), precision),
        function_(std::move(function))
    {}

    std::int64_t nParameters() const override { return 0; }

    void predict(const Sample& sample, Span<double> prediction) override
    {
        function_(sample, prediction);
    }

private:

    Function function_;
};

}
