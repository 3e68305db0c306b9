// SPDX-License-Identifier: GPL-3.0-or-later
#include "scaleRows.hpp"

#include "Runtime.hpp"

namespace inSitu
{
namespace device
{
namespace
{

template<class T>
void scale(const RowScaling& rows)
{
    ScaleRows<T> a;
    a.rows = static_cast<const T* const*>(rows.rows.const_data_ptr());
    a.numbers = rows.numbers.const_data_ptr<double>();
    a.noise = rows.noise.defined() ? rows.noise.const_data_ptr<T>() : nullptr;
    a.nNoisyRows = rows.nNoisyRows();
    a.out = rows.out.mutable_data_ptr<T>();
    a.nSamples = rows.nSamples();
    a.nRows = rows.nRows();
    a.stride = static_cast<int>(rows.stride());
    a.nColumns = rows.nColumns;
    a.nFeatures = rows.nFeatures;
    a.first = rows.first;
    scaleRows(currentStream(rows.out.device()), a);
}

}


void scaleRows(const RowScaling& rows)
{
    rows.out.scalar_type() == at::kDouble ? scale<double>(rows) : scale<float>(rows);
}

}
}
