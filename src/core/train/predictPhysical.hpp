// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Span.hpp"
#include "base/ThreadPool.hpp"
#include "model/GraphBatch.hpp"
#include "model/Model.hpp"
#include "sample/Normaliser.hpp"

namespace inSitu
{

//- Evaluate the model for a batch of one sample, without gradients, and bring its cells back to
//  physical units: output*scale + shift [nCells, nOutputs], in double
void predictPhysical(Model& model, const GraphBatch& batch, const Scaling& target,
    ThreadPool& pool, Span<double> prediction);

//- The same from what the model has given for one sample, [1, nNodes, nOutputs] on the host
void toPhysical(const at::Tensor& output, std::int64_t nCells, const Scaling& target,
    ThreadPool& pool, Span<double> prediction);

}
