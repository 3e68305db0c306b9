// SPDX-License-Identifier: GPL-3.0-or-later
#include "EdgeBlock.hpp"

namespace inSitu
{
namespace device
{

template<class T>
EdgeBlock<T>::EdgeBlock(PackedParameters<T>& parameters, const MeshGraphNetSizes& sizes, int block)
:
    mlp_(parameters, sizes.edgePrefix(block), sizes.edgeProcessorLayers, {{0, sizes.width}},
        sizes.width, true, sizes.activation, RowKind::edges),
    toTerms_(parameters.addStacked(sizes.edgePrefix(block) + "0.weight",
        {{sizes.width, sizes.width}, {2*sizes.width, sizes.width}}))
{}


template<class T>
void EdgeBlock<T>::makeTerms(Work<T>& work, const States& states)
{
    work.products.forward(work.stream, {states.nodes, states.ldNodes},
        {work.parameters.packed() + toTerms_.weight, toTerms_.in}, nullptr,
        {work.terms, toTerms_.out}, nNodes(states), toTerms_.in, toTerms_.out);
}


template<class T>
void EdgeBlock<T>::activations(Work<T>& work, const States& states, Activations<T>& kept)
{
    const LinearPlace& first = mlp_.first();
    const T* packed = work.parameters.packed();
    T* values = mlp_.afterOf(work, 0, nEdges(states), kept);
    work.products.forward(work.stream, {states.edges, first.in}, {packed + first.weight, first.in},
        nullptr, {values, first.out}, nEdges(states), first.in, first.out);
    gatherActivate<T>(work.stream, {states.graph, first.out, values, work.terms, states.halo,
        work.parameters.vectors() + first.biasVector,
        mlp_.beforeOf(work, 0, nEdges(states), kept), mlp_.activation()});
    mlp_.forwardFromFirst(work, nEdges(states), kept);
}


template<class T>
void EdgeBlock<T>::recompute(Work<T>& work, const States& states, Activations<T>& kept)
{
    makeTerms(work, states);
    activations(work, states, kept);
}


template<class T>
void EdgeBlock<T>::forward(Work<T>& work, const States& states, T* after, T* sums,
    Activations<T>& kept)
{
    makeTerms(work, states);
    if (states.plan)
    {
        work.halo->forward(work.stream, states.graph, *states.plan, work.terms, toTerms_.out,
            mlp_.first().out, states.halo);
    }
    activations(work, states, kept);

    NormaliseForward<T> how = {};
    how.rows = states.graph.nEdges;
    how.nTargets = states.graph.nNodes;
    how.nSamples = states.graph.nSamples;
    how.start = states.graph.start;
    how.residual = states.edges;
    how.ldResidual = mlp_.out();
    how.after = after;
    how.ldAfter = mlp_.out();
    how.sums = sums;
    how.ldSums = static_cast<int>(states.ldNodes);
    how.mean = states.mean;
    how.statistics = states.statistics;
    mlp_.normalise(work, how, kept);
}


template<class T>
void EdgeBlock<T>::backward(Work<T>& work, const States& states, const T* gradient,
    T* edgeGradient, const T* sumGradient, T* nodeGradient, const Activations<T>& kept)
{
    NormaliseBackward<T> how = {};
    how.rows = states.graph.nEdges;
    how.nTargets = states.graph.nNodes;
    how.nSamples = states.graph.nSamples;
    how.gradient = gradient;
    how.ldGradient = mlp_.out();
    how.sumGradient = sumGradient;
    how.ldSumGradient = static_cast<int>(states.ldNodes);
    how.receivers = states.graph.receivers;
    how.start = states.graph.start;
    how.mean = states.mean;
    how.statistics = states.statistics;
    how.total = edgeGradient;
    how.ldTotal = mlp_.out();
    mlp_.normaliseBackward(work, how, kept);
    mlp_.backward(work, nEdges(states), kept);

    // work.gradient is that of We e + (Ws x)[sender] + (Wr x)[receiver] now
    const T* returned = states.plan
        ? work.halo->backward(work.stream, states.graph, *states.plan, work.gradient,
            mlp_.first().out)
        : nullptr;
    mlp_.backwardFirst(work, {states.edges, mlp_.in()}, nEdges(states),
        {edgeGradient, mlp_.in()}, true);
    segmentSums<T>(work.stream,
        {states.graph, mlp_.first().out, work.gradient, returned, work.terms});
    const Rows<const T> dTerms{work.terms, toTerms_.out};
    work.products.weightGradient(work.stream, dTerms, {states.nodes, states.ldNodes},
        {work.parameters.gradients() + toTerms_.weight, toTerms_.in}, nNodes(states),
        toTerms_.in, toTerms_.out);
    work.products.inputGradient(work.stream, dTerms,
        {work.parameters.packed() + toTerms_.weight, toTerms_.in}, {nodeGradient, states.ldNodes},
        nNodes(states), toTerms_.in, toTerms_.out, true);
}

#ifndef INSITU_CUDA_EMULATED
template class EdgeBlock<Float16>;
#endif
template class EdgeBlock<double>;
template class EdgeBlock<float>;
template class EdgeBlock<BFloat16>;

}
}
