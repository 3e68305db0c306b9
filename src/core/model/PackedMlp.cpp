// SPDX-License-Identifier: GPL-3.0-or-later

#include "model/PackedMlp.hpp"

#include <algorithm>
#include <cstring>

namespace inSitu
{

namespace
{

constexpr int pieceRows = 16;       // a cache line of the flat gradient's rows

}


template<class T>
PackedMlp<T>::PackedMlp(const ParameterSet& parameters, const Names& names,
    const Columns& columns, Activation activation, long gradientStart)
:
    gradientEnd_(gradientStart)
{
    const auto name = [&](int layer, const char* what)
    {
        return names.prefix + std::to_string(layer) + what;
    };

    for (int l = 0; l < names.nLayers; ++l)
    {
        const auto& weight = parameters.entry(name(2*l, ".weight"));
        addLinear(weight, &parameters.entry(name(2*l, ".bias")), 0,
            l == 0 ? columns.first : static_cast<int>(weight.shape[1]));
    }

    const auto& weight = parameters.entry(name(0, ".weight"));
    const int last = names.normalised ? 2*names.nLayers - 1 : 2*(names.nLayers - 1);
    const auto& end = parameters.entry(name(last, ".bias"));
    flatBegin_ = weight.offset;
    flatEnd_ = end.offset + end.count;

    int column = columns.first;
    const auto addPart = [&](int width)
    {
        const int index = width > 0 ? addLinear(weight, nullptr, column, width) : -1;
        column += width;
        return index;
    };
    second_ = addPart(columns.second);
    sender_ = addPart(columns.sender);
    receiver_ = addPart(columns.receiver);

    view_.activation = activation;
    view_.nLayers = names.nLayers;
    if (names.normalised)
    {
        gain_ = parameters.entry(name(2*names.nLayers - 1, ".weight")).offset;
        shift_ = parameters.entry(name(2*names.nLayers - 1, ".bias")).offset;
        const long ld = linears_[names.nLayers - 1].view.ldOut;
        view_.gainGradient = gradientEnd_;
        view_.shiftGradient = gradientEnd_ + ld;
        gradientEnd_ += 2*ld;
    }
    assignMemory();
}


template<class T>
int PackedMlp<T>::addLinear(const ParameterSet::Entry& weight, const ParameterSet::Entry* bias,
    int firstColumn, int in)
{
    Linear linear = {};
    linear.weight = weight.offset;
    linear.bias = bias ? bias->offset : -1;
    linear.firstColumn = firstColumn;
    linear.nColumns = weight.shape[1];
    linear.view.in = in;
    linear.view.out = static_cast<int>(weight.shape[0]);
    linear.view.ldIn = padded<T>(linear.view.in);
    linear.view.ldOut = padded<T>(linear.view.out);
    linear.view.weightGradient = gradientEnd_;
    gradientEnd_ += in*linear.view.ldOut;
    if (bias)
    {
        linear.view.biasGradient = gradientEnd_;
        gradientEnd_ += linear.view.ldOut;
    }
    linears_.push_back(linear);
    return static_cast<int>(linears_.size()) - 1;
}


template<class T>
void PackedMlp<T>::assignMemory()
{
    const long ldLast = linears_[view_.nLayers - 1].view.ldOut;
    long size = gain_ >= 0 ? 2*ldLast : 0;
    for (const Linear& linear : linears_)
    {
        const LinearView<T>& v = linear.view;
        size += v.in*v.ldOut + v.out*v.ldIn + (linear.bias >= 0 ? v.ldOut : 0);
    }

    T* memory = memory_.resize(size);
    std::memset(memory, 0, size*sizeof(T));
    const auto take = [&](long count)
    {
        T* taken = memory;
        memory += count;
        return taken;
    };
    for (Linear& linear : linears_)
    {
        LinearView<T>& v = linear.view;
        v.forward = take(v.in*v.ldOut);
        v.backward = take(v.out*v.ldIn);
        v.bias = linear.bias >= 0 ? take(v.ldOut) : nullptr;
        for (int row = 0; row < v.in; row += pieceRows)
        {
            pieces_.push_back({&linear, row, std::min(row + pieceRows, v.in),
                v.weightGradient + row*v.ldOut, linear.weight});
        }
        if (linear.bias >= 0)
        {
            pieces_.push_back({nullptr, 0, v.out, v.biasGradient, linear.bias});
        }
    }
    if (gain_ >= 0)
    {
        const int out = linears_[view_.nLayers - 1].view.out;
        view_.gain = take(ldLast);
        view_.shift = take(ldLast);
        pieces_.push_back({nullptr, 0, out, view_.gainGradient, gain_});
        pieces_.push_back({nullptr, 0, out, view_.shiftGradient, shift_});
    }

    for (int l = 0; l < view_.nLayers; ++l)
    {
        layers_.push_back(linears_[l].view);
    }
    view_.layers = layers_.data();
    view_.second = second_ >= 0 ? &linears_[second_].view : nullptr;
}


template<class T>
void PackedMlp<T>::pack(const T* parameters)
{
    for (const Linear& linear : linears_)
    {
        const LinearView<T>& v = linear.view;
        const T* weight = parameters + linear.weight + linear.firstColumn;
        T* forward = const_cast<T*>(v.forward);
        T* backward = const_cast<T*>(v.backward);
        for (int first = 0; first < v.in; first += pieceRows)
        {
            const int last = std::min(first + pieceRows, v.in);
            for (int o = 0; o < v.out; ++o)
            {
                for (int i = first; i < last; ++i)
                {
                    const T w = weight[o*linear.nColumns + i];
                    forward[i*v.ldOut + o] = w;
                    backward[o*v.ldIn + i] = w;
                }
            }
        }
        if (v.bias)
        {
            std::copy_n(parameters + linear.bias, v.out, const_cast<T*>(v.bias));
        }
    }
    if (view_.gain)
    {
        const int out = linears_[view_.nLayers - 1].view.out;
        std::copy_n(parameters + gain_, out, const_cast<T*>(view_.gain));
        std::copy_n(parameters + shift_, out, const_cast<T*>(view_.shift));
    }
}


template<class T>
void PackedMlp<T>::setDropout(double probability, std::uint64_t key)
{
    view_.dropout = probability;
    view_.dropoutKey = key;
}


template<class T>
long PackedMlp<T>::pieceSize() const
{
    long widest = 0;
    for (const Linear& linear : linears_)
    {
        widest = std::max(widest, linear.view.ldOut);
    }
    return pieceRows*widest;
}


template<class T>
void PackedMlp<T>::collect(int index, const Kernels<T>& kernels, const T* gradients,
    long stride, int nChunks, T* flat, T* scratch) const
{
    const Piece& piece = pieces_[index];
    const int nRows = piece.linear ? piece.end - piece.begin : 1;
    const long ld = piece.linear ? piece.linear->view.ldOut : padded<T>(piece.end);
    const int out = piece.linear ? piece.linear->view.out : piece.end;

    std::copy_n(gradients + piece.gradient, nRows*ld, scratch);
    for (int chunk = 1; chunk < nChunks; ++chunk)
    {
        kernels.add(scratch, gradients + chunk*stride + piece.gradient, nRows*ld);
    }

    if (!piece.linear)
    {
        std::copy_n(scratch, out, flat + piece.target);
        return;
    }
    const std::int64_t nColumns = piece.linear->nColumns;
    T* target = flat + piece.target + piece.linear->firstColumn + piece.begin;
    for (int o = 0; o < out; ++o)
    {
        for (int i = 0; i < nRows; ++i)
        {
            target[o*nColumns + i] = scratch[i*ld + o];
        }
    }
}

template class PackedMlp<float>;
template class PackedMlp<double>;

}
