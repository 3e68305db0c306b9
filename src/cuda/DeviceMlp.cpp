// SPDX-License-Identifier: GPL-3.0-or-later
#include "DeviceMlp.hpp"

#include <algorithm>
#include <utility>

namespace inSitu
{
namespace device
{

template<class T>
DeviceMlp<T>::DeviceMlp(PackedParameters<T>& parameters, const std::string& prefix,
    int hiddenLayers, const std::vector<Part>& input, int outputs, bool normalised,
    Activation activation, RowKind kind)
:
    outputs_(outputs),
    activation_(activation)
{
    const auto nameOf = [&](int layer) { return prefix + std::to_string(2*layer); };
    for (int layer = 0; layer <= hiddenLayers; ++layer)
    {
        layers_.push_back(parameters.addLinear(nameOf(layer),
            layer == 0 ? input : std::vector<Part>()));
        if (layer < hiddenLayers)
        {
            sums_.push_back(parameters.addSums(kind, layers_.back().out,
                {nameOf(layer) + ".bias"}));
        }
    }
    const std::string bias = nameOf(hiddenLayers) + ".bias";
    if (normalised)
    {
        const std::string norm = prefix + std::to_string(2*hiddenLayers + 1);
        gain_ = parameters.addVector(norm + ".weight");
        shift_ = parameters.addVector(norm + ".bias");
        sums_.push_back(parameters.addSums(kind, out(), {norm + ".weight", norm + ".bias", bias}));
    }
    else
    {
        sums_.push_back(parameters.addSums(kind, out(), {bias}));
    }
}


template<class T>
int DeviceMlp<T>::widest() const
{
    int widest = 0;
    for (const LinearPlace& layer : layers_)
    {
        widest = std::max(widest, layer.out);
    }
    return widest;
}


template<class T>
T* DeviceMlp<T>::rowsOf(std::vector<Buffer<T>>& buffers, Work<T>& work, int layer, long rows) const
{
    if (buffers.size() < layers_.size() - 1)
    {
        buffers.resize(layers_.size() - 1);
    }
    return buffers[layer].resize(rows*layers_[layer].out, work.device);
}


template<class T>
T* DeviceMlp<T>::afterOf(Work<T>& work, int layer, long rows, Activations<T>& kept) const
{
    return rowsOf(kept.after, work, layer, rows);
}


template<class T>
T* DeviceMlp<T>::beforeOf(Work<T>& work, int layer, long rows, Activations<T>& kept) const
{
    return needsInput(activation_) ? rowsOf(kept.before, work, layer, rows) : nullptr;
}


template<class T>
void DeviceMlp<T>::forward(Work<T>& work, Rows<const T> x, long rows, Activations<T>& kept) const
{
    forwardLayer(work, 0, x, rows, kept);
    forwardFromFirst(work, rows, kept);
}


template<class T>
void DeviceMlp<T>::forwardFromFirst(Work<T>& work, long rows, Activations<T>& kept) const
{
    for (int layer = 1; layer < static_cast<int>(layers_.size()); ++layer)
    {
        forwardLayer(work, layer, {kept.after[layer - 1].data(), layers_[layer].in}, rows, kept);
    }
}


template<class T>
void DeviceMlp<T>::forwardLayer(Work<T>& work, int number, Rows<const T> x, long rows,
    Activations<T>& kept) const
{
    const LinearPlace& layer = layers_[number];
    const T* packed = work.parameters.packed();
    const bool isHidden = number < static_cast<int>(layers_.size()) - 1;
    T* y = isHidden ? afterOf(work, number, rows, kept)
        : kept.last.resize(rows*layer.out, work.device);
    const bool canFuse = isHidden && activation_ == Activation::relu;
    const bool fused = work.products.forward(work.stream, x, {packed + layer.weight, layer.in},
        canFuse ? packed + layer.bias : nullptr, {y, layer.out}, rows, layer.in, layer.out);
    if (isHidden && !fused)
    {
        activate<T>(work.stream, {rows, layer.out, y,
            work.parameters.vectors() + layer.biasVector, beforeOf(work, number, rows, kept),
            activation_});
    }
}


template<class T>
void DeviceMlp<T>::normalise(Work<T>& work, NormaliseForward<T> how,
    const Activations<T>& kept) const
{
    const auto* vectors = work.parameters.vectors();
    how.width = outputs_;
    how.ld = out();
    how.z = kept.last.data();
    how.bias = vectors + layers_.back().biasVector;
    how.gain = vectors + gain_;
    how.shift = vectors + shift_;
    normaliseForward<T>(work.stream, how);
}


template<class T>
void DeviceMlp<T>::normaliseBackward(Work<T>& work, NormaliseBackward<T> how,
    const Activations<T>& kept) const
{
    const auto* vectors = work.parameters.vectors();
    how.width = outputs_;
    how.ld = out();
    how.z = kept.last.data();
    how.bias = vectors + layers_.back().biasVector;
    how.gain = vectors + gain_;
    how.dz = work.gradient;
    how.partial = work.parameters.partial(sums_.back());
    device::normaliseBackward<T>(work.stream, how);
}


template<class T>
void DeviceMlp<T>::sumOutput(Work<T>& work, long rows) const
{
    activateBackward<T>(work.stream, {rows, out(), work.gradient, nullptr, nullptr,
        Activation::identity, work.parameters.partial(sums_.back())});
}


template<class T>
void DeviceMlp<T>::backward(Work<T>& work, long rows, const Activations<T>& kept) const
{
    const T* packed = work.parameters.packed();
    for (int l = static_cast<int>(layers_.size()) - 1; l > 0; --l)
    {
        const LinearPlace& layer = layers_[l];
        const Rows<const T> dy{work.gradient, layer.out};
        const T* x = kept.after[l - 1].data();
        work.products.weightGradient(work.stream, dy, {x, layer.in},
            {work.parameters.gradients() + layer.weight, layer.in}, rows, layer.in, layer.out);
        work.products.inputGradient(work.stream, dy, {packed + layer.weight, layer.in},
            {work.other, layer.in}, rows, layer.in, layer.out, false);
        activateBackward<T>(work.stream, {rows, layer.in, work.other, x,
            needsInput(activation_) ? kept.before[l - 1].data() : nullptr, activation_,
            work.parameters.partial(sums_[l - 1])});
        std::swap(work.gradient, work.other);
    }
}


template<class T>
void DeviceMlp<T>::backwardFirst(Work<T>& work, Rows<const T> x, long rows, Rows<T> dx,
    bool add) const
{
    const LinearPlace& layer = layers_.front();
    const Rows<const T> dy{work.gradient, layer.out};
    work.products.weightGradient(work.stream, dy, x,
        {work.parameters.gradients() + layer.weight, layer.in}, rows, layer.in, layer.out);
    if (dx.data)
    {
        work.products.inputGradient(work.stream, dy,
            {work.parameters.packed() + layer.weight, layer.in}, dx, rows, layer.in, layer.out,
            add);
    }
}

#ifndef INSITU_CUDA_EMULATED
template class DeviceMlp<Float16>;
#endif
template class DeviceMlp<double>;
template class DeviceMlp<float>;
template class DeviceMlp<BFloat16>;

}
}
