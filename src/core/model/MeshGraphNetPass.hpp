// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/ThreadPool.hpp"
#include "graph/MeshGraph.hpp"
#include "model/AlignedBuffer.hpp"
#include "model/GraphPass.hpp"
#include "model/HaloExchange.hpp"
#include "model/MeshGraphNetSizes.hpp"
#include "model/PackedMlp.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace inSitu
{

//- What a forward pass keeps for the backward pass: the state before each block and its
//  aggregates. The rest is computed again, tile by tile.
template<class T>
struct MeshGraphNetTape : GraphPass<T>::Tape
{
    std::vector<AlignedBuffer<T>> nodes;        //!< blocks + 1, [samples*nodes, width]
    std::vector<AlignedBuffer<T>> edges;        //!< blocks, [samples*edges, width]; 0: [edges]
    std::vector<AlignedBuffer<T>> aggregates;   //!< blocks, [samples*nodes, width]
    std::vector<AlignedBuffer<T>> haloTerms;    //!< blocks, [samples*halo rows, width]
};


//- MeshGraphNet on raw memory, forward and backward. Work is cut into chunks of receivers
//  that depend on the graph alone; a chunk owns the rows of its receivers and of their
//  incoming edges, and has its own parameter gradients, added up in the order of the chunks.
//  Memory is kept between calls. Per sample and block the first layer of the edge MLP is
//      z = We e + (Ws x)[sender] + (Wr x)[receiver] + b
//  with [We Ws Wr] its weight.
//
//  Over several ranks Ws x of the cells at the border travels before each block, and the gradient
//  of each edge from a halo row travels back, where it is that of one more edge that leaves the
//  cell. Meanwhile the receivers without a halo row are worked on. T: float double.
template<class T>
class MeshGraphNetPass final : public GraphPass<T>
{
public:

    using typename GraphPass<T>::Tape;
    using typename GraphPass<T>::Input;
    using typename GraphPass<T>::Encoding;

    //- pool outlives this
    MeshGraphNetPass(const MeshGraphNetSizes& sizes, const ParameterSet& parameters,
        ThreadPool& pool);

    std::unique_ptr<Tape> makeTape() const override
    {
        return std::make_unique<MeshGraphNetTape<T>>();
    }

    void joinRanks(std::shared_ptr<Comm> comm) override;

    void forward(const T* parameters, const Input& input, Tape* tape, T* output,
        Encoding encoding) override;

    void backward(const T* parameters, const Input& input, const Tape& tape,
        const T* outputGradient, T* parameterGradient, T* nodeGradient, T* edgeGradient) override;

private:

    using Packed = std::unique_ptr<PackedMlp<T>>;

    void pack(const T* parameters);
    void cut(const MeshGraph& graph);
    void prepare(const Input& input);

    //- Receivers of a chunk, with or without halo rows among their senders
    struct Receivers
    {
        std::int32_t begin;
        std::int32_t end;
    };

    struct ReceiverLists
    {
        std::vector<Receivers> ranges;
        std::vector<std::int32_t> start;    //!< of each chunk, and the end
    };

    //- Call work(begin, end) for the ranges of a chunk
    template<class Work>
    static void forRanges(const ReceiverLists& lists, int chunk, const Work& work);

    //- Of a node row in terms_: block picks one of two sets
    T* termsOf(int block) const { return terms_.data() + (block % 2)*2*samples_*termStride_; }

    TermRows<T> termRows(int block, const T* nodes) const;
    InputRows<T> edgeRows(const Input& input, const T* edges, const T* terms, long sample) const;

    //- Exchange of the terms before a block, and those of the forward pass again
    void startHalo(int block);
    void finishHalo(const Input& input, int block, MeshGraphNetTape<T>* tape);
    void recallHalo(const Input& input, int block, const MeshGraphNetTape<T>& tape);

    void nodeBlockBackward(const Input& input, const MeshGraphNetTape<T>& tape, int block,
        long sample, long begin, long end, T* gradients, T* scratch);
    void edgeBlockBackward(const Input& input, const MeshGraphNetTape<T>& tape, int block,
        long sample, long begin, long end, T* gradients, T* scratch);

    //- Add the chunks' gradients of these into the flat gradient, whose part is complete then:
    //  the sum over the ranks begins
    void collect(const std::vector<const PackedMlp<T>*>& mlps, T* parameterGradient);

    //- Behind a chunk: the thread that calls Comm helps what travels meanwhile
    void helpMessages(int thread)
    {
        if (comm_ && thread == 0)
        {
            comm_->progress();
        }
    }

    T* scratch(int thread) { return scratch_[thread].data(); }

    MeshGraphNetSizes sizes_;
    ThreadPool& pool_;
    const Kernels<T>& kernels_;
    long ld_;

    Packed edgeEncoder_;
    Packed nodeEncoder_;
    Packed decoder_;
    std::vector<Packed> edgeBlocks_;
    std::vector<Packed> nodeBlocks_;
    std::vector<PackedMlp<T>*> all_;

    std::shared_ptr<Comm> comm_;            //!< null: alone
    std::optional<HaloExchange<T>> exchange_;

    std::vector<std::int32_t> chunks_;      //!< first receiver of each, and the end
    ReceiverLists inner_;
    ReceiverLists outer_;                   //!< with halo rows among their senders
    bool hasHalo_ = false;                  //!< there are neighbours to exchange with
    long samples_ = 0;
    long termStride_ = 0;                   //!< of a sample in terms_, halo rows included
    long edgeStride_ = 0;                   //!< of a sample in termGradients_, with what comes back
    long gradientSize_;                     //!< of a chunk

    // Where the states before and behind each block of a forward pass are, and its aggregates
    std::vector<T*> nodesOf_;
    std::vector<T*> edgesOf_;
    std::vector<T*> aggregatesOf_;

    // Work memory
    std::vector<AlignedBuffer<T>> scratch_; //!< per thread
    AlignedBuffer<T> inverseCount_;         //!< 1/in-degree
    AlignedBuffer<T> terms_;                //!< [2][sender, receiver][samples*senders, width]
    AlignedBuffer<T> nodes_;                //!< prediction: [2][samples*nodes, width]
    AlignedBuffer<T> edges_;                //!< prediction
    AlignedBuffer<T> firstEdges_;           //!< prediction of several samples, or that keeps them
    AlignedBuffer<T> aggregates_;           //!< prediction, and gradients
    AlignedBuffer<T> nodeGradients_;
    AlignedBuffer<T> edgeGradients_;
    AlignedBuffer<T> termGradients_;
    AlignedBuffer<T> chunkGradients_;
};

}
