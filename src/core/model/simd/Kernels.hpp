// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

// Multilayer perceptrons on rows, fused in tiles that stay in cache, forward and backward.
// Each *.simd.cpp is compiled once per instruction set; the widest that the machine has is
// taken when the program starts. Plain structs and raw pointers only: code in this header
// must not be compiled to functions that could differ between instruction sets.
//
// Matrices are row-major. "Padded" rows have a leading dimension that is a multiple of
// 64 bytes, start on 64 bytes and hold zeros beyond their columns, unless said otherwise.

namespace inSitu
{

enum class Activation : int
{
    relu,
    silu,
    gelu,
    tanh,
    elu,
    leakyRelu,
    sigmoid,
    identity
};


//- y = x W^T + b, W being [out, in], in both packings
template<class T>
struct LinearView
{
    int in;
    int out;
    long ldIn;              //!< padded in
    long ldOut;             //!< padded out
    const T* forward;       //!< W^T, [in][ldOut]
    const T* backward;      //!< W, [out][ldIn]
    const T* bias;          //!< [ldOut]; null: none
    long weightGradient;    //!< where [in][ldOut] starts in a gradient array
    long biasGradient;      //!< where [ldOut] starts in a gradient array
};


//- Linear layers with an activation between them, then layer normalisation if gain is set
template<class T>
struct MlpView
{
    const LinearView<T>* layers;
    int nLayers;
    const LinearView<T>* second;    //!< first layer's columns for the second input, or null
    Activation activation;
    const T* gain;                  //!< [ldOut], null: no normalisation
    const T* shift;
    long gainGradient;
    long shiftGradient;
    double dropout;                 //!< probability to drop a hidden value, 0: none
    std::uint64_t dropoutKey;       //!< identifies the draw: same key, same mask
};


//- What enters the first layer in row i: input0[i] (and input1[i]), to whose product are
//  added senderTerm[senders[i]] and receiverTerm[receivers[i]] where these are set
template<class T>
struct InputRows
{
    const T* input0;
    long ld0;
    const T* input1;
    long ld1;
    const T* senderTerm;            //!< padded, leading dimension ldTerm
    const T* receiverTerm;
    long ldTerm;
    const std::int32_t* senders;
    const std::int32_t* receivers;
};


template<class T>
struct ForwardRows
{
    InputRows<T> in;
    const T* residual;      //!< padded like the output; added to it; null: none
    T* output;              //!< null: not wanted. Padded if the MLP has a normalisation,
    long ldOutput;          //!< else any: only the columns are written
    T* aggregate;           //!< row receivers[i] is increased by output row i; null: none
};


//- Where the gradient of an input goes
template<class T>
struct InputGradient
{
    T* data;                //!< null: not wanted
    long ld;
    bool padded;            //!< false: only the columns are written
    bool accumulate;        //!< add to what is there
    const T* rowScale;      //!< factor of row i, null: 1
};


template<class T>
struct BackwardRows
{
    InputRows<T> in;
    const T* outputGradient;        //!< padded if the MLP has a normalisation; null: zero
    long ldOutputGradient;
    const T* aggregateGradient;     //!< row receivers[i] is added to it; null: none
    T* totalGradient;               //!< padded, receives that sum (the residual's gradient)
    InputGradient<T> gradient0;
    InputGradient<T> gradient1;
    T* termGradient;                //!< padded: gradient before the first activation
    long ldTermGradient;            //!< (needs two layers); null: not wanted
};


//- The products of the first layer with the rows' nodes: y = x W^T for sender and receiver
template<class T>
struct TermRows
{
    const LinearView<T>* sender;
    const LinearView<T>* receiver;
    const T* x;                     //!< padded
    long ldX;
};


//- Where the edges of a node lie
struct NodeEdges
{
    const std::int32_t* receiverStart;
    const std::int32_t* senderStart;
    const std::int32_t* senderEdge;
};


//- All functions work on rows begin..end-1. scratch has scratchSize() elements, starts on
//  64 bytes and belongs to the calling thread. Gradients of parameters are added to an array
//  in the layout that the views describe.
template<class T>
struct Kernels
{
    const char* name;

    long (*scratchSize)(const MlpView<T>& mlp);

    void (*forward)(const MlpView<T>& mlp, const ForwardRows<T>& rows,
        long begin, long end, T* scratch);

    void (*backward)(const MlpView<T>& mlp, const BackwardRows<T>& rows,
        long begin, long end, T* gradients, T* scratch);

    //- senderTerm and receiverTerm (padded) from x
    void (*terms)(const TermRows<T>& rows, T* senderTerm, T* receiverTerm,
        long begin, long end);

    //- Given the gradient of the sum of terms per edge, increase xGradient and add the
    //  gradients of both weights. Segment sums over the edges of each node.
    void (*termsBackward)(const TermRows<T>& rows, const NodeEdges& edges,
        const T* termGradient, T* xGradient, long begin, long end, T* gradients, T* scratch);

    //- target[i] += source[i]
    void (*add)(T* target, const T* source, long count);
};


//- The kernels of the instruction set that is used: the widest that the machine has, or what
//  the environment variable INSITU_SIMD (baseline avx2 avx512) says. Throws Error if that is
//  not known or not available. T: float double.
template<class T>
const Kernels<T>& kernels();

//- Elements of T in a padded row of n columns (static: each source keeps its own copy)
template<class T>
static constexpr long padded(long n)
{
    return (n + 64/long(sizeof(T)) - 1)/(64/long(sizeof(T)))*(64/long(sizeof(T)));
}

}
