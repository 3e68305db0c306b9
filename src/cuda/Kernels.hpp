// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Storage.hpp"
#include "model/simd/Kernels.hpp"

#include <cstdint>

// What MeshGraphNet computes on the GPU beside matrix products. All pointers are of the device, all
// work is put into a stream, nothing waits, nothing allocates. Same input, same bits: each sum has
// one owner and a fixed order, nothing is atomic.
//
// Rows have ld columns, a multiple of 8, of which those beyond the width hold zeros, and start
// on 16 bytes. Rows of several samples lie one behind the other. T: double float BFloat16 Float16.

namespace inSitu
{
namespace device
{

//- A cudaStream_t
using Stream = void*;


//- The graph, as MeshGraph describes it: senders from nNodes on are halo rows, edges of senders
//  from nEdges on those that other ranks have
struct GraphView
{
    long nNodes;
    long nEdges;
    int nSamples;
    const std::int32_t* start;          //!< of receivers
    const std::int32_t* senders;
    const std::int32_t* receivers;
    const std::int32_t* senderStart;
    const std::int32_t* senderEdge;
    long nHalo = 0;
    long nSent = 0;
    const std::int32_t* sent = nullptr;         //!< cells whose rows other ranks have as halo
    const std::int32_t* haloEdge = nullptr;     //!< the edge that leaves each halo row
};


//- out [rows, ld] from in [rows, columns], zeros beyond
template<class T>
void padRows(Stream stream, const Accumulator<T>* in, long rows, int columns, T* out, int ld);

//- out [rows, columns] from in [rows, ld], plus bias if there is one
template<class T>
void cutRows(Stream stream, const T* in, int ld, long rows, int columns,
    const Accumulator<T>* bias, Accumulator<T>* out);


//- out [times, count] repeats in [count], a multiple of 8
template<class T>
void repeatRows(Stream stream, const T* in, long count, int times, T* out);

//- out [count] sums in [times, count], a multiple of 8
template<class T>
void sumRows(Stream stream, const T* in, long count, int times, T* out);


//- What inSitu::RowScaling says, of pointers. T: double float.
template<class T>
struct ScaleRows
{
    const T* const* rows;               //!< [samples]
    const double* numbers;
    const T* noise;                     //!< null: none
    long nNoisyRows;
    T* out;
    long nSamples;
    long nRows;
    int stride;
    int nColumns;
    int nFeatures;
    int first;
};

template<class T>
void scaleRows(Stream stream, const ScaleRows<T>& a);


//- Whether the slope of an activation needs the value before it: it does not follow from the one
//  behind
constexpr bool needsInput(Activation activation)
{
    return activation == Activation::silu || activation == Activation::gelu;
}


//- In place z + bias, then the activation. before receives the value between if not null.
template<class T>
struct Activate
{
    long rows;
    int ld;
    T* values;
    const Accumulator<T>* bias;
    T* before;
    Activation activation;
};

template<class T>
void activate(Stream stream, const Activate<T>& a);


//- out [samples, n, ld] receives columns 0..ld-1 of the rows that are chosen, in their order
template<class T>
struct ChooseRows
{
    long nRows;                         //!< of one sample
    int nSamples;
    const T* rows;                      //!< [samples, rows, stride]
    long stride;
    const std::int32_t* chosen;         //!< [n]
    long n;
    int ld;
    T* out;
};

template<class T>
void chooseRows(Stream stream, const ChooseRows<T>& a);


//- First layer of the edge MLP, in place: the product with the edges' states, plus
//  terms[sender, 0..ld-1] + terms[receiver, ld..2 ld-1] + bias, then the activation
template<class T>
struct GatherActivate
{
    GraphView graph;
    int ld;
    T* values;                          //!< [samples, edges, ld]
    const T* terms;                     //!< [samples, nodes, 2 ld]
    const T* halo;                      //!< [samples, halo rows, ld] of those senders
    const Accumulator<T>* bias;
    T* before;                          //!< as above
    Activation activation;
};

template<class T>
void gatherActivate(Stream stream, const GatherActivate<T>& a);


//- Last bias, layer normalisation (eps 1e-5), residual, and sum over the rows of each receiver.
//      after = (z + bias - mean)/deviation*gain + shift + residual,   sums = their sum or mean
//  Without start each row is by itself and there are no sums.
template<class T>
struct NormaliseForward
{
    long rows;                          //!< of one sample
    long nTargets;                      //!< receivers of one sample; rows without start
    int nSamples;
    int width;
    int ld;
    const std::int32_t* start;
    const T* z;
    const T* residual;                  //!< null: none
    int ldResidual;
    T* after;                           //!< null: not wanted. May be residual.
    int ldAfter;
    T* sums;                            //!< null: not wanted
    int ldSums;
    bool mean;
    const Accumulator<T>* bias;
    const Accumulator<T>* gain;
    const Accumulator<T>* shift;
    Accumulator<T>* statistics;         //!< [rows, 2] receives mean, 1/deviation; null: not
};

template<class T>
void normaliseForward(Stream stream, const NormaliseForward<T>& a);


//- Number of partial sums over rows that the kernels below leave, [count, …]: it depends on the
//  number of rows and of columns alone
template<class T>
int partialCount(long rows, int ld);


//- Backward of the above. Total gradient of a row
//      t = gradient + sumGradient[receiver] (divided by the rows of the receiver if mean)
//  goes to total, the gradient of z to dz, and partial [count, 3, ld] receives column sums of
//  t*normalised (the gain's), t (the shift's) and dz (those of the bias before).
template<class T>
struct NormaliseBackward
{
    long rows;                          //!< of one sample
    long nTargets;
    int nSamples;
    int width;
    int ld;
    const T* z;
    const Accumulator<T>* bias;
    const Accumulator<T>* statistics;
    const Accumulator<T>* gain;
    const T* gradient;                  //!< null: none
    int ldGradient;
    const T* sumGradient;               //!< null: none
    int ldSumGradient;
    const std::int32_t* receivers;      //!< null: no sums
    const std::int32_t* start;
    bool mean;
    T* total;                           //!< null: not wanted. May be gradient.
    int ldTotal;
    T* dz;                              //!< may be z
    T* cleared;                         //!< rows that receive zeros, ldCleared apart; null: none
    int ldCleared;
    Accumulator<T>* partial;
};

template<class T>
void normaliseBackward(Stream stream, const NormaliseBackward<T>& a);


//- In place: gradient behind an activation to the one before, and its column sums to partial
//  [count, ld]
template<class T>
struct ActivateBackward
{
    long rows;
    int ld;
    T* gradient;
    const T* after;
    const T* before;                    //!< where needsInput(activation)
    Activation activation;
    Accumulator<T>* partial;
};

template<class T>
void activateBackward(Stream stream, const ActivateBackward<T>& a);


//- terms[n, 0..ld-1] = sum of the rows that leave n, terms[n, ld..2 ld-1] = of those that enter
template<class T>
struct SegmentSums
{
    GraphView graph;
    int ld;
    const T* rows;                      //!< [samples, edges, ld]
    const T* returned;                  //!< [samples, sent, ld] of other ranks' edges
    T* terms;                           //!< [samples, nodes, 2 ld]
};

template<class T>
void segmentSums(Stream stream, const SegmentSums<T>& a);


//- A matrix of the flat parameters and its place in the packed ones. Negative: not there.
struct Segment
{
    std::int64_t flat;
    std::int64_t rows;
    std::int64_t columns;
    std::int64_t flatStride;
    std::int64_t packed;
    std::int64_t packedStride;
    std::int64_t vector;                //!< among the vectors, which keep the parameters' type
};

template<class T>
void packParameters(Stream stream, const Segment* segments, int nSegments,
    const Accumulator<T>* flat, T* packed, Accumulator<T>* vectors);

//- Back into the order of the parameters, for segments that are packed and not vectors
template<class T>
void unpackGradients(Stream stream, const Segment* segments, int nSegments, const T* packed,
    T* flat);


//- Column sums whose partial sums lie at partial, stride elements apart
struct ColumnSum
{
    std::int64_t flat;
    std::int64_t columns;
    std::int64_t partial;
    std::int64_t stride;
    std::int64_t count;
};

//- flat[sum.flat + column] = sum of the partial ones. T: double float.
template<class T>
void finishSums(Stream stream, const ColumnSum* sums, int nSums, int maxColumns, const T* partial,
    T* flat);

}
}
