// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/Activations.cuh"

namespace inSitu
{
namespace device
{
namespace
{

//- A row's hidden values: what is added has been added
template<class R, class T>
__device__ void finishRow(R& row, int ld, Activation activation, T* before, T* values)
{
    if (before)
    {
        row.store(before, ld);
    }
#pragma unroll
    for (auto& vector : row.v)
    {
        applyActivation(activation, vector);
    }
    row.store(values, ld);
}


template<class T, int G, int C>
__global__ void activateKernel(Activate<T> a)
{
    using R = Row<T, G, C>;
    const long i = static_cast<long>(blockIdx.x)*R::rowsOfBlock + R::group();
    if (i < a.rows)
    {
        R row = R::load(a.values + i*a.ld, a.ld);
        row.add(R::ofParameters(a.bias, a.ld));
        finishRow(row, a.ld, a.activation, a.before ? a.before + i*a.ld : nullptr,
            a.values + i*a.ld);
    }
}


template<class T, int G, int C>
__global__ void gatherActivateKernel(GatherActivate<T> a)
{
    using R = Row<T, G, C>;
    const long edge = static_cast<long>(blockIdx.x)*R::rowsOfBlock + R::group();
    if (edge >= a.graph.nEdges)
    {
        return;
    }
    const long i = blockIdx.y*a.graph.nEdges + edge;
    const T* terms = a.terms + blockIdx.y*a.graph.nNodes*2*a.ld;
    const long sender = a.graph.senders[edge];
    const long receiver = a.graph.receivers[edge];
    R row = R::load(a.values + i*a.ld, a.ld);
    const long fromHalo = sender - a.graph.nNodes;
    const R sent = R::load(fromHalo < 0 ? terms + sender*2*a.ld
        : a.halo + (blockIdx.y*a.graph.nHalo + fromHalo)*a.ld, a.ld);
    const R received = R::load(terms + receiver*2*a.ld + a.ld, a.ld);
    row.add(sent);
    row.add(received);
    row.add(R::ofParameters(a.bias, a.ld));
    finishRow(row, a.ld, a.activation, a.before ? a.before + i*a.ld : nullptr,
        a.values + i*a.ld);
}


template<class T, int G, int C>
__global__ void activateBackwardKernel(ActivateBackward<T> a)
{
    using R = Row<T, G, C>;
    const T* known = needsInput(a.activation) ? a.before : a.after;
    R sum = R::zero();
    const long step = static_cast<long>(gridDim.x)*R::rowsOfBlock;
    for (long i = static_cast<long>(blockIdx.x)*R::rowsOfBlock + R::group(); i < a.rows; i += step)
    {
        R gradient = R::load(a.gradient + i*a.ld, a.ld);
        if (a.activation != Activation::identity)
        {
            const R value = R::load(known + i*a.ld, a.ld);
#pragma unroll
            for (int c = 0; c < C; ++c)
            {
                applySlope(a.activation, value.v[c], gradient.v[c]);
            }
            gradient.store(a.gradient + i*a.ld, a.ld);
        }
        sum.add(gradient);
    }
    sumOverBlock(sum, a.ld, a.partial + static_cast<long>(blockIdx.x)*a.ld);
}

}


template<class T>
void activate(Stream stream, const Activate<T>& a)
{
    forWidth<T>(a.ld, [&](auto g, auto c)
    {
        using R = Row<T, g(), c()>;
        launch(stream, {quotientUp(a.rows, R::rowsOfBlock)}, blockSize,
            activateKernel<T, g(), c()>, a);
    });
}


template<class T>
void gatherActivate(Stream stream, const GatherActivate<T>& a)
{
    forWidth<T>(a.ld, [&](auto g, auto c)
    {
        using R = Row<T, g(), c()>;
        launch(stream, {quotientUp(a.graph.nEdges, R::rowsOfBlock), a.graph.nSamples}, blockSize,
            gatherActivateKernel<T, g(), c()>, a);
    });
}


template<class T>
void activateBackward(Stream stream, const ActivateBackward<T>& a)
{
    forWidth<T>(a.ld, [&](auto g, auto c)
    {
        launch(stream, {partialCount<T>(a.rows, a.ld)}, blockSize,
            activateBackwardKernel<T, g(), c()>, a);
    });
}


#define INSITU_INSTANTIATE(T) \
    template void activate<T>(Stream, const Activate<T>&); \
    template void gatherActivate<T>(Stream, const GatherActivate<T>&); \
    template void activateBackward<T>(Stream, const ActivateBackward<T>&);

INSITU_FOR_STORAGE(INSITU_INSTANTIATE)

}
}
