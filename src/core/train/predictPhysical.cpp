// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/predictPhysical.hpp"

#include "train/FixedChunks.hpp"

#include <ATen/ATen.h>

namespace inSitu
{

void predictPhysical(Model& model, const GraphBatch& batch, const Scaling& target,
    ThreadPool& pool, Span<double> prediction)
{
    const at::NoGradGuard noGradients;
    model.train(false);
    toPhysical(model.forward(batch).contiguous(), batch.graph->nCells(), target, pool,
        prediction);
}


void toPhysical(const at::Tensor& output, std::int64_t nCells, const Scaling& target,
    ThreadPool& pool, Span<double> prediction)
{
    const auto nColumns = static_cast<std::int64_t>(target.scale.size());
    AT_DISPATCH_FLOATING_TYPES(output.scalar_type(), "physical", [&]
    {
        const auto* values = output.const_data_ptr<scalar_t>();
        forChunks(pool, nCells*nColumns,
            [&](std::int64_t first, std::int64_t last, int)
            {
                for (std::int64_t i = first; i < last; ++i)
                {
                    const auto c = static_cast<std::size_t>(i % nColumns);
                    prediction[static_cast<std::size_t>(i)] =
                        static_cast<double>(values[i])*target.scale[c] + target.shift[c];
                }
            });
    });
}

}
