// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/Launch.cuh"

namespace inSitu
{
namespace device
{
namespace
{

__device__ long firstElement()
{
    return static_cast<long>(blockIdx.x)*blockSize + threadIdx.x;
}


template<class T>
__global__ void padRowsKernel(const Accumulator<T>* in, long rows, int columns, T* out, int ld)
{
    const long i = firstElement();
    if (i < rows*ld)
    {
        const long row = i/ld;
        const int column = static_cast<int>(i - row*ld);
        out[i] = narrow<T>(column < columns ? in[row*columns + column] : Accumulator<T>(0));
    }
}


template<class T>
__global__ void cutRowsKernel(const T* in, int ld, long rows, int columns,
    const Accumulator<T>* bias, Accumulator<T>* out)
{
    const long i = firstElement();
    if (i < rows*columns)
    {
        const long row = i/columns;
        const int column = static_cast<int>(i - row*columns);
        out[i] = widen(in[row*ld + column]) + (bias ? bias[column] : Accumulator<T>(0));
    }
}


template<class T>
__global__ void repeatRowsKernel(const T* in, long count, T* out)
{
    const long i = firstElement()*vectorSize<T>;
    if (i < count)
    {
        Vector<T>::load(in + i).store(out + blockIdx.y*count + i);
    }
}


template<class T>
__global__ void sumRowsKernel(const T* in, long count, int times, T* out)
{
    const long i = firstElement()*vectorSize<T>;
    if (i < count)
    {
        Vector<T> sum = Vector<T>::load(in + i);
        for (int sample = 1; sample < times; ++sample)
        {
            const Vector<T> next = Vector<T>::load(in + sample*count + i);
#pragma unroll
            for (int k = 0; k < Vector<T>::size; ++k)
            {
                sum.v[k] += next.v[k];
            }
        }
        sum.store(out + i);
    }
}


//- work(segment, row, column) for all elements of the segment blockIdx.y
template<class Work>
__device__ void forElements(const Segment* segments, const Work& work)
{
    const Segment segment = segments[blockIdx.y];
    const long count = segment.rows*segment.columns;
    const long step = static_cast<long>(gridDim.x)*blockSize;
    for (long i = firstElement(); i < count; i += step)
    {
        const long row = i/segment.columns;
        work(segment, row, i - row*segment.columns);
    }
}


template<class T>
__global__ void packKernel(const Segment* segments, const Accumulator<T>* flat, T* packed,
    Accumulator<T>* vectors)
{
    forElements(segments, [&](const Segment& s, long row, long column)
    {
        const Accumulator<T> value = flat[s.flat + row*s.flatStride + column];
        if (s.packed >= 0)
        {
            packed[s.packed + row*s.packedStride + column] = narrow<T>(value);
        }
        if (s.vector >= 0)
        {
            vectors[s.vector + column] = value;
        }
    });
}


template<class T>
__global__ void unpackKernel(const Segment* segments, const T* packed, T* flat)
{
    forElements(segments, [&](const Segment& s, long row, long column)
    {
        if (s.packed >= 0 && s.vector < 0)
        {
            flat[s.flat + row*s.flatStride + column]
                = packed[s.packed + row*s.packedStride + column];
        }
    });
}


// 32 columns to a block, each summed in 32 slices
constexpr int nSlices = 32;

template<class T>
__global__ void finishSumsKernel(const ColumnSum* sums, const T* partial, T* flat)
{
    __shared__ T shared[nSlices][33];
    const ColumnSum sum = sums[blockIdx.y];
    const int x = static_cast<int>(threadIdx.x) % 32;
    const int slice = static_cast<int>(threadIdx.x)/32;
    const long column = static_cast<long>(blockIdx.x)*32 + x;

    T value = 0;
    if (column < sum.columns)
    {
#pragma unroll 8
        for (long i = slice; i < sum.count; i += nSlices)
        {
            value += partial[sum.partial + i*sum.stride + column];
        }
    }
    shared[slice][x] = value;
    __syncthreads();
    if (slice == 0 && column < sum.columns)
    {
        for (int i = 1; i < nSlices; ++i)
        {
            value += shared[i][x];
        }
        flat[sum.flat + column] = value;
    }
}

// Blocks that share a segment
constexpr long blocksOfSegment = 16;

}


template<class T>
void padRows(Stream stream, const Accumulator<T>* in, long rows, int columns, T* out, int ld)
{
    launch(stream, {quotientUp(rows*ld, blockSize)}, blockSize, padRowsKernel<T>, in, rows, columns,
        out, ld);
}


template<class T>
void cutRows(Stream stream, const T* in, int ld, long rows, int columns,
    const Accumulator<T>* bias, Accumulator<T>* out)
{
    launch(stream, {quotientUp(rows*columns, blockSize)}, blockSize, cutRowsKernel<T>, in, ld, rows,
        columns, bias, out);
}


template<class T>
void repeatRows(Stream stream, const T* in, long count, int times, T* out)
{
    launch(stream, {quotientUp(count/vectorSize<T>, blockSize), times}, blockSize,
        repeatRowsKernel<T>, in, count, out);
}


template<class T>
void sumRows(Stream stream, const T* in, long count, int times, T* out)
{
    launch(stream, {quotientUp(count/vectorSize<T>, blockSize)}, blockSize, sumRowsKernel<T>, in,
        count, times, out);
}


template<class T>
void packParameters(Stream stream, const Segment* segments, int nSegments,
    const Accumulator<T>* flat, T* packed, Accumulator<T>* vectors)
{
    launch(stream, {blocksOfSegment, nSegments}, blockSize, packKernel<T>, segments, flat, packed,
        vectors);
}


template<class T>
void unpackGradients(Stream stream, const Segment* segments, int nSegments, const T* packed,
    T* flat)
{
    launch(stream, {blocksOfSegment, nSegments}, blockSize, unpackKernel<T>, segments, packed,
        flat);
}


template<class T>
void finishSums(Stream stream, const ColumnSum* sums, int nSums, int maxColumns, const T* partial,
    T* flat)
{
    launch(stream, {quotientUp(maxColumns, 32), nSums}, 32*nSlices, finishSumsKernel<T>, sums,
        partial, flat);
}


#define INSITU_INSTANTIATE(T) \
    template void padRows<T>(Stream, const Accumulator<T>*, long, int, T*, int); \
    template void cutRows<T>(Stream, const T*, int, long, int, const Accumulator<T>*, \
        Accumulator<T>*); \
    template void repeatRows<T>(Stream, const T*, long, int, T*); \
    template void sumRows<T>(Stream, const T*, long, int, T*); \
    template void packParameters<T>(Stream, const Segment*, int, const Accumulator<T>*, T*, \
        Accumulator<T>*);

INSITU_FOR_STORAGE(INSITU_INSTANTIATE)

template void unpackGradients<double>(Stream, const Segment*, int, const double*, double*);
template void unpackGradients<float>(Stream, const Segment*, int, const float*, float*);
template void finishSums<double>(Stream, const ColumnSum*, int, int, const double*, double*);
template void finishSums<float>(Stream, const ColumnSum*, int, int, const float*, float*);

}
}
