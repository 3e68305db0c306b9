// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "DeviceMlp.hpp"
#include "model/MeshGraphNetSizes.hpp"

namespace inSitu
{
namespace device
{

//- One edge block of MeshGraphNet: with its first weight [We Ws Wr],
//      e' = norm(MLP'(We e + (Ws x)[sender] + (Wr x)[receiver] + b)) + e
//  and the sums of e' over the receivers' rows, forward and backward. T: storage type.
template<class T>
class EdgeBlock
{
public:

    EdgeBlock(PackedParameters<T>& parameters, const MeshGraphNetSizes& sizes, int block);

    //- States around the block. Rows of nodes lie ldNodes apart.
    struct States
    {
        GraphView graph;
        long ldNodes;
        const T* nodes;             //!< x
        const T* edges;             //!< e
        bool mean;
        Accumulator<T>* statistics; //!< [edges, 2] of the normalisation; null: prediction

        //- Null: no other rank sends anything. Ws x of other ranks' cells
        //  [samples, halo rows, out], which forward() fetches and the others read.
        const HaloPlan* plan = nullptr;
        T* halo = nullptr;
    };

    //- e' to after if not null, which may be the states' edges; sums as if they were nodes
    void forward(Work<T>& work, const States& states, T* after, T* sums, Activations<T>& kept);

    //- The activations once more. Nothing travels.
    void recompute(Work<T>& work, const States& states, Activations<T>& kept);

    //- gradient: of e', null: none; becomes that of e at edgeGradient, which may be the same.
    //  sumGradient: of the sums. What x gets is added to nodeGradient. The last two as nodes.
    void backward(Work<T>& work, const States& states, const T* gradient, T* edgeGradient,
        const T* sumGradient, T* nodeGradient, const Activations<T>& kept);

private:

    void makeTerms(Work<T>& work, const States& states);
    void activations(Work<T>& work, const States& states, Activations<T>& kept);

    long nEdges(const States& states) const { return states.graph.nEdges*states.graph.nSamples; }
    long nNodes(const States& states) const { return states.graph.nNodes*states.graph.nSamples; }

    DeviceMlp<T> mlp_;
    LinearPlace toTerms_;           //!< Ws above Wr
};

}
}
