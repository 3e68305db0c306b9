// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "train/Loss.hpp"

namespace inSitu
{

//- What the registry offers
std::unique_ptr<LossOptions> makeMseOptions();
std::unique_ptr<LossOptions> makeL1Options();

//- A user's file: forward(prediction [B, nCells, C], target [B, nCells, C]) or
//  forward(prediction, target, weight [nCells]) gives one number, all in the working
//  precision. A module without the third argument cannot honour weights that differ from
//  cell to cell (weights volume, cellZone): an error at the first step. The file is read,
//  and its arguments are counted, when the loss is built.
std::unique_ptr<LossOptions> makeTorchScriptLossOptions();

//- What mse and l1 compute on a GPU: factor times the weighted sum of term(prediction − target), in
//  double, with LibTorch's operators
at::Tensor pointwiseSum(at::Tensor (*term)(const at::Tensor&), const at::Tensor& prediction,
    const at::Tensor& target, const at::Tensor& weight, double factor);

}
