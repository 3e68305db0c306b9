// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/Model.hpp"
#include "base/StateTree.hpp"

#include <ATen/core/Tensor.h>

#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace inSitu
{

//- Copies of a model's tensors, in its order
std::vector<at::Tensor> copyTensors(const Model& model);

//- Write them back
void restoreTensors(const Model& model, const std::vector<at::Tensor>& tensors);

//- All tensors under their names
StateTree saveTensors(const std::vector<std::pair<std::string, at::Tensor>>& tensors);

//- The saved ones in the order given. Throws IncompatibleState, naming the first difference
//  in names, types or shapes.
std::vector<at::Tensor> readTensors(const StateTree& state,
    const std::vector<std::pair<std::string, at::Tensor>>& tensors);


//- The weights of the best skill so far. When the scale of the targets moves later, the
//  change of the output is kept beside them and made when they are used.
class BestWeights
{
public:

    double skill() const { return skill_; }

    void keep(const Model& model, int nOutputs, double skill);

    //- Output c of the model in use became factor[c]*output c + shift[c]
    void rescale(const std::vector<double>& factor, const std::vector<double>& shift);

    //- Call visit with the kept weights in the model; the current ones are back afterwards,
    //  also after an exception. Without kept weights visit sees the current ones.
    void visit(Model& model, const std::function<void(const Model&)>& visit) const;

    StateTree save(const Model& model) const;
    static BestWeights from(const StateTree& state, const Model& model);

private:

    double skill_ = -std::numeric_limits<double>::infinity();
    std::vector<at::Tensor> tensors_;
    std::vector<double> factor_;
    std::vector<double> shift_;
};

}
