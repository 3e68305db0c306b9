// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/Launch.cuh"

namespace inSitu
{
namespace device
{
namespace
{

// Neither a product nor a sum behind one: nothing that could be rounded once less than on the host
template<class T>
__global__ void scaleRowsKernel(ScaleRows<T> a)
{
    const int n = a.nColumns + a.nFeatures;
    const long i = static_cast<long>(blockIdx.x)*blockSize + threadIdx.x;
    if (i < a.nRows*n)
    {
        const long sample = blockIdx.y;
        const long row = i/n;
        const int c = static_cast<int>(i - row*n);
        const bool isColumn = c < a.nColumns;
        const double* const scale = a.numbers + n;
        const double* const features = scale + n + sample*a.nFeatures;
        const double value = isColumn
            ? static_cast<double>(a.rows[sample][row*a.nColumns + c]) : features[c - a.nColumns];
        T scaled = static_cast<T>((value - a.numbers[c])/scale[c]);
        if (isColumn && row < a.nNoisyRows)
        {
            scaled += a.noise[(sample*a.nNoisyRows + row)*a.nColumns + c];
        }
        a.out[(sample*a.nRows + row)*a.stride + a.first + c] = scaled;
    }
}

}


template<class T>
void scaleRows(Stream stream, const ScaleRows<T>& a)
{
    launch(stream, {quotientUp(a.nRows*(a.nColumns + a.nFeatures), blockSize), a.nSamples},
        blockSize, scaleRowsKernel<T>, a);
}


template void scaleRows<double>(Stream, const ScaleRows<double>&);
template void scaleRows<float>(Stream, const ScaleRows<float>&);

}
}
