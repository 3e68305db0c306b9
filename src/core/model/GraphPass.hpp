// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/Comm.hpp"
#include "graph/MeshGraph.hpp"

#include <memory>

namespace inSitu
{

//- Forward and backward arithmetic of a graph network on raw memory, of the CPU or of a GPU, as
//  the one who made it chose. Work memory is kept between calls. T: float double, the type of
//  parameters, features and their gradients.
template<class T>
class GraphPass
{
public:

    virtual ~GraphPass() = default;

    //- What a forward pass keeps for the backward pass
    struct Tape
    {
        virtual ~Tape() = default;
    };

    virtual std::unique_ptr<Tape> makeTape() const = 0;

    //- Work with these ranks: graphs may have a halo, and backward() gives the gradients of the
    //  parameters summed over the ranks. All ranks call forward() and backward() alike. On a GPU
    //  the ranks are those that it was made with: throws Error if there are not as many.
    virtual void joinRanks(std::shared_ptr<Comm> comm) = 0;

    //- Samples of one graph: nodes [samples, nNodes, nodeFeatures], edges [nEdges, edgeFeatures]
    struct Input
    {
        std::shared_ptr<const MeshGraph> graph;
        long samples;
        const T* nodes;
        const T* edges;
    };

    //- What a prediction may keep of the edges' encoding, which does not depend on the nodes
    enum class Encoding
    {
        fresh,      //!< nothing
        keep,       //!< keep it for calls with the same parameters, graph and edges
        kept        //!< use what the last call with keep has left
    };

    //- output [samples, nNodes, outputs]. With a tape, it is filled for backward(). Anything but
    //  fresh is for one sample without a tape.
    virtual void forward(const T* parameters, const Input& input, Tape* tape, T* output,
        Encoding encoding) = 0;

    //- From the gradient of the output those of the parameters (flat) and, where not null, of
    //  the input. input, tape and parameters are those of the forward pass.
    virtual void backward(const T* parameters, const Input& input, const Tape& tape,
        const T* outputGradient, T* parameterGradient, T* nodeGradient, T* edgeGradient) = 0;
};

}
