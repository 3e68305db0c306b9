// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/Launch.cuh"

namespace inSitu
{
namespace device
{
namespace
{

template<class T, int G, int C>
__global__ void segmentSumsKernel(SegmentSums<T> a)
{
    using R = Row<T, G, C>;
    const long node = static_cast<long>(blockIdx.x)*R::rowsOfBlock + R::group();
    if (node >= a.graph.nNodes)
    {
        return;
    }
    const T* rows = a.rows + blockIdx.y*a.graph.nEdges*a.ld;
    const T* returned = a.returned + blockIdx.y*a.graph.nSent*a.ld;
    T* terms = a.terms + (blockIdx.y*a.graph.nNodes + node)*2*a.ld;

    R sent = R::zero();
    const std::int32_t sentEnd = a.graph.senderStart[node + 1];
#pragma unroll 4
    for (std::int32_t i = a.graph.senderStart[node]; i < sentEnd; ++i)
    {
        const long edge = a.graph.senderEdge[i];
        const long elsewhere = edge - a.graph.nEdges;
        sent.add(R::load(elsewhere < 0 ? rows + edge*a.ld : returned + elsewhere*a.ld, a.ld));
    }
    sent.store(terms, a.ld);

    R received = R::zero();
    const std::int32_t receivedEnd = a.graph.start[node + 1];
#pragma unroll 4
    for (std::int32_t i = a.graph.start[node]; i < receivedEnd; ++i)
    {
        received.add(R::load(rows + static_cast<long>(i)*a.ld, a.ld));
    }
    received.store(terms + a.ld, a.ld);
}


template<class T, int G, int C>
__global__ void chooseRowsKernel(ChooseRows<T> a)
{
    using R = Row<T, G, C>;
    const long i = static_cast<long>(blockIdx.x)*R::rowsOfBlock + R::group();
    if (i < a.n)
    {
        const long row = blockIdx.y*a.nRows + a.chosen[i];
        R::load(a.rows + row*a.stride, a.ld).store(a.out + (blockIdx.y*a.n + i)*a.ld, a.ld);
    }
}

}


template<class T>
void segmentSums(Stream stream, const SegmentSums<T>& a)
{
    forWidth<T>(a.ld, [&](auto g, auto c)
    {
        using R = Row<T, g(), c()>;
        launch(stream, {quotientUp(a.graph.nNodes, R::rowsOfBlock), a.graph.nSamples}, blockSize,
            segmentSumsKernel<T, g(), c()>, a);
    });
}


template<class T>
void chooseRows(Stream stream, const ChooseRows<T>& a)
{
    forWidth<T>(a.ld, [&](auto g, auto c)
    {
        using R = Row<T, g(), c()>;
        launch(stream, {quotientUp(a.n, R::rowsOfBlock), a.nSamples}, blockSize,
            chooseRowsKernel<T, g(), c()>, a);
    });
}


#define INSITU_INSTANTIATE(T) \
    template void segmentSums<T>(Stream, const SegmentSums<T>&); \
    template void chooseRows<T>(Stream, const ChooseRows<T>&);

INSITU_FOR_STORAGE(INSITU_INSTANTIATE)

}
}
