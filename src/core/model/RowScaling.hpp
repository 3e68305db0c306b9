// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace inSitu
{

//- Rows on a device, as they were gathered, that become columns of a model's tensor there:
//      out[s, r, first + c] = (value − shift[c])/scale[c] + noise[s, r, c]
//  in double, rounded once, to which the noise is added. A value is rows[s][r, c] for the first
//  nColumns, and the sample's feature for the nFeatures behind them, which have no noise.
struct RowScaling
{
    at::Tensor rows;        //!< [samples] int64: addresses on the device, each of [nRows, nColumns]
    at::Tensor numbers;     //!< double: shift, scale of columns and features; then the features
    at::Tensor noise;       //!< [samples, noisy rows, nColumns], of the first rows; undefined: none
    at::Tensor out;         //!< [samples, nRows, stride]; without the first dimension: one sample
    int nColumns = 0;
    int nFeatures = 0;
    int first = 0;

    std::int64_t nSamples() const { return rows.size(0); }
    std::int64_t nRows() const { return out.size(-2); }
    std::int64_t stride() const { return out.size(-1); }
    std::int64_t nNoisyRows() const { return noise.defined() ? noise.size(1) : 0; }
};

}
