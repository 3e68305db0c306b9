// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/Launch.cuh"

namespace inSitu
{
namespace device
{
namespace
{

//- Largest of a warp; all lanes call it
__device__ int warpMaximum(int value)
{
#pragma unroll
    for (int offset = warpSize_/2; offset > 0; offset /= 2)
    {
        const int other = __shfl_xor_sync(allLanes, value, offset);
        value = other > value ? other : value;
    }
    return value;
}


//- A group goes through the rows of a receiver, one after the other
template<class T, int G, int C>
__global__ void normaliseForwardKernel(NormaliseForward<T> a)
{
    using R = Row<T, G, C>;
    using A = Accumulator<T>;

    const long target = static_cast<long>(blockIdx.x)*R::rowsOfBlock + R::group();
    const long sample = blockIdx.y;
    long begin = 0;
    int count = 0;
    if (target < a.nTargets)
    {
        begin = sample*a.rows + (a.start ? a.start[target] : target);
        count = a.start ? a.start[target + 1] - a.start[target] : 1;
    }
    const R bias = R::ofParameters(a.bias, a.ld);
    const R gain = R::ofParameters(a.gain, a.ld);
    const R shift = R::ofParameters(a.shift, a.ld);
    R sum = R::zero();

    const int most = warpMaximum(count);
    for (int i = 0; i < most; ++i)
    {
        const bool active = i < count;
        const long row = begin + i;
        R z = active ? R::load(a.z + row*a.ld, a.ld) : R::zero();
        R residual = active && a.residual
            ? R::load(a.residual + row*a.ldResidual, a.ld) : R::zero();

        A total = 0;
        z.each([&](A& value, int c, int k, int)
        {
            value += bias.v[c][k];
            total += value;
        });
        const A mean = groupSum<G>(total)/a.width;
        A square = 0;
        z.each([&](A& value, int, int, int column)
        {
            value = column < a.width ? value - mean : A(0);
            square += value*value;
        });
        const A scale = 1/sqrt(groupSum<G>(square)/a.width + A(1e-5));
        if (!active)
        {
            continue;
        }
        if (a.statistics && R::lane() == 0)
        {
            a.statistics[2*row] = mean;
            a.statistics[2*row + 1] = scale;
        }
        residual.each([&](A& value, int c, int k, int)
            { value += z.v[c][k]*scale*gain.v[c][k] + shift.v[c][k]; });
        if (a.after)
        {
            residual.store(a.after + row*a.ldAfter, a.ld);
        }
        sum.add(residual);
    }

    if (a.sums && target < a.nTargets)
    {
        if (a.mean && count > 1)
        {
            sum.each([&](A& value, int, int, int) { value /= count; });
        }
        sum.store(a.sums + (sample*a.nTargets + target)*a.ldSums, a.ld);
    }
}


template<class T, int G, int C>
__global__ void normaliseBackwardKernel(NormaliseBackward<T> a)
{
    using R = Row<T, G, C>;
    using A = Accumulator<T>;

    const R bias = R::ofParameters(a.bias, a.ld);
    const R gain = R::ofParameters(a.gain, a.ld);
    R gainSum = R::zero();
    R shiftSum = R::zero();
    R biasSum = R::zero();

    const long nRows = a.rows*a.nSamples;
    const long step = static_cast<long>(gridDim.x)*R::rowsOfBlock;
    for (long first = static_cast<long>(blockIdx.x)*R::rowsOfBlock; first < nRows; first += step)
    {
        const long row = first + R::group();
        const bool active = row < nRows;
        R z = active ? R::load(a.z + row*a.ld, a.ld) : R::zero();
        R t = active && a.gradient ? R::load(a.gradient + row*a.ldGradient, a.ld) : R::zero();
        if (active && a.sumGradient)
        {
            const long sample = a.nSamples > 1 ? row/a.rows : 0;
            const long target = a.receivers[row - sample*a.rows];
            R received = R::load(a.sumGradient + (sample*a.nTargets + target)*a.ldSumGradient,
                a.ld);
            if (a.mean)
            {
                const A share = A(1)/(a.start[target + 1] - a.start[target]);
                received.each([&](A& value, int, int, int) { value *= share; });
            }
            t.add(received);
        }
        const A mean = active ? a.statistics[2*row] : A(0);
        const A scale = active ? a.statistics[2*row + 1] : A(0);

        // z becomes the normalised value
        A sum = 0;
        A product = 0;
        z.each([&](A& value, int c, int k, int column)
        {
            value = column < a.width ? (value + bias.v[c][k] - mean)*scale : A(0);
            const A scaled = t.v[c][k]*gain.v[c][k];
            sum += scaled;
            product += scaled*value;
        });
        sum = groupSum<G>(sum)/a.width;
        product = groupSum<G>(product)/a.width;
        if (!active)
        {
            continue;
        }
        if (a.total)
        {
            t.store(a.total + row*a.ldTotal, a.ld);
        }
        if (a.cleared)
        {
            R::zero().store(a.cleared + row*a.ldCleared, a.ld);
        }
        shiftSum.add(t);
        z.each([&](A& value, int c, int k, int column)
        {
            gainSum.v[c][k] += t.v[c][k]*value;
            value = column < a.width
                ? scale*(t.v[c][k]*gain.v[c][k] - sum - value*product) : A(0);
        });
        biasSum.add(z);
        z.store(a.dz + row*a.ld, a.ld);
    }

    A* partial = a.partial + static_cast<long>(blockIdx.x)*3*a.ld;
    sumOverBlock(gainSum, a.ld, partial);
    sumOverBlock(shiftSum, a.ld, partial + a.ld);
    sumOverBlock(biasSum, a.ld, partial + 2*a.ld);
}

}


template<class T>
void normaliseForward(Stream stream, const NormaliseForward<T>& a)
{
    forWidth<T>(a.ld, [&](auto g, auto c)
    {
        using R = Row<T, g(), c()>;
        launch(stream, {quotientUp(a.nTargets, R::rowsOfBlock), a.nSamples}, blockSize,
            normaliseForwardKernel<T, g(), c()>, a);
    });
}


template<class T>
void normaliseBackward(Stream stream, const NormaliseBackward<T>& a)
{
    forWidth<T>(a.ld, [&](auto g, auto c)
    {
        launch(stream, {partialCount<T>(a.rows*a.nSamples, a.ld)}, blockSize,
            normaliseBackwardKernel<T, g(), c()>, a);
    });
}


template<class T>
int partialCount(long rows, int ld)
{
    // Enough blocks to fill a GPU, each with several rows per group
    constexpr long rowsOfGroup = 4;
    constexpr long maxBlocks = 1024;
    long count = 0;
    forWidth<T>(ld, [&](auto g, auto)
        { count = quotientUp(rows, rowsOfGroup*(blockSize/g())); });
    return static_cast<int>(count < maxBlocks ? count : maxBlocks);
}


#define INSITU_INSTANTIATE(T) \
    template void normaliseForward<T>(Stream, const NormaliseForward<T>&); \
    template void normaliseBackward<T>(Stream, const NormaliseBackward<T>&); \
    template int partialCount<T>(long, int);

INSITU_FOR_STORAGE(INSITU_INSTANTIATE)

}
}
