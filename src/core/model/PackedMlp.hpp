// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/AlignedBuffer.hpp"
#include "model/ParameterSet.hpp"
#include "model/simd/Kernels.hpp"

#include <string>
#include <vector>

namespace inSitu
{

//- One multilayer perceptron of a ParameterSet as the kernels read it: padded, each weight
//  in both orders. Also knows where its gradients lie in a chunk's gradient array and puts
//  their sum back into the order of the parameters. T: float double.
template<class T>
class PackedMlp
{
public:

    //- Parameters prefix + "0.weight", "0.bias", "2.weight", …; with a normalisation behind
    //  the last one also its weight and bias
    struct Names
    {
        std::string prefix;
        int nLayers;
        bool normalised;
    };

    //- How the columns of the first weight are cut: first input, second input, terms of
    //  sender and receiver, in that order. Widths; 0: there is none.
    struct Columns
    {
        int first;
        int second = 0;
        int sender = 0;
        int receiver = 0;
    };

    //- gradientStart: where its part of a gradient array starts, a multiple of 64 bytes
    PackedMlp(const ParameterSet& parameters, const Names& names, const Columns& columns,
        Activation activation, long gradientStart);

    PackedMlp(const PackedMlp&) = delete;
    PackedMlp& operator=(const PackedMlp&) = delete;

    //- Copy the flat parameters
    void pack(const T* parameters);

    const MlpView<T>& view() const { return view_; }
    const LinearView<T>& sender() const { return linears_[sender_].view; }
    const LinearView<T>& receiver() const { return linears_[receiver_].view; }

    //- Draw other dropout masks from now on
    void setDropout(double probability, std::uint64_t key);

    //- Its part of the flat parameters
    std::int64_t flatBegin() const { return flatBegin_; }
    std::int64_t flatEnd() const { return flatEnd_; }

    //- Where its part of a gradient array ends
    long gradientEnd() const { return gradientEnd_; }

    //- The sum over chunks of their gradient arrays (stride elements apart) goes to the flat
    //  gradient, in order of the chunks. Independent pieces for parallel work; scratch has
    //  pieceSize() elements.
    int nPieces() const { return static_cast<int>(pieces_.size()); }
    long pieceSize() const;
    void collect(int piece, const Kernels<T>& kernels, const T* gradients, long stride,
        int nChunks, T* flat, T* scratch) const;

private:

    struct Linear
    {
        LinearView<T> view;
        std::int64_t weight;        //!< of the flat parameters
        std::int64_t bias;          //!< -1: none
        std::int64_t firstColumn;
        std::int64_t nColumns;      //!< of the whole weight
    };

    //- Rows begin..end-1 of [in][ldOut], or one vector
    struct Piece
    {
        const Linear* linear;       //!< null: a vector
        int begin;
        int end;
        long gradient;
        std::int64_t target;
    };

    int addLinear(const ParameterSet::Entry& weight, const ParameterSet::Entry* bias,
        int firstColumn, int in);
    void assignMemory();

    std::vector<Linear> linears_;
    std::vector<LinearView<T>> layers_;
    std::vector<Piece> pieces_;
    AlignedBuffer<T> memory_;
    MlpView<T> view_ = {};
    int second_ = -1;
    int sender_ = -1;
    int receiver_ = -1;
    std::int64_t gain_ = -1;
    std::int64_t shift_ = -1;
    std::int64_t flatBegin_;
    std::int64_t flatEnd_;
    long gradientEnd_;
};

}
