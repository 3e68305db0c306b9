// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "DeviceHalo.hpp"
#include "PackedParameters.hpp"
#include "Products.hpp"

#include <string>
#include <vector>

namespace inSitu
{
namespace device
{

//- What every computation needs
template<class T>
struct Work
{
    at::Device device;
    Stream stream;
    Products<T>& products;
    PackedParameters<T>& parameters;

    //- Gradients of the rows being worked on, and of the rows before. Long enough for any.
    T* gradient = nullptr;
    T* other = nullptr;

    //- What nodes contribute to edges, and its gradients: [samples, nodes, 2 ld]
    T* terms = nullptr;

    //- Between the GPUs of several ranks
    DeviceHalo<T>* halo = nullptr;
};


//- What a forward pass of an MLP leaves for its backward pass
template<class T>
struct Activations
{
    std::vector<Buffer<T>> after;       //!< hidden layers
    std::vector<Buffer<T>> before;      //!< where needsInput(activation)
    Buffer<T> last;                     //!< of the last linear layer, without its bias
};


//- An MLP on rows: linear layers with an activation between them, perhaps a layer normalisation.
//  T: storage type.
template<class T>
class DeviceMlp
{
public:

    using Part = typename PackedParameters<T>::Part;

    //- Parameters prefix + "0.weight", … as in PackedMlp. Parts of the input as in
    //  PackedParameters::addLinear. kind: what its rows are.
    DeviceMlp(PackedParameters<T>& parameters, const std::string& prefix, int hiddenLayers,
        const std::vector<Part>& input, int outputs, bool normalised, Activation activation,
        RowKind kind);

    int in() const { return layers_.front().in; }
    int out() const { return layers_.back().out; }
    int widest() const;

    const LinearPlace& first() const { return layers_.front(); }

    //- The last layer's bias among the vectors
    std::int64_t lastBias() const { return layers_.back().biasVector; }

    //- Up to the last linear layer without its bias: kept.last
    void forward(Work<T>& work, Rows<const T> x, long rows, Activations<T>& kept) const;

    //- The same where the caller has made the first hidden layer: [rows, first().out] at
    //  afterOf(0), and the values before the activation at beforeOf(0) if that is not null
    T* afterOf(Work<T>& work, int layer, long rows, Activations<T>& kept) const;
    T* beforeOf(Work<T>& work, int layer, long rows, Activations<T>& kept) const;
    void forwardFromFirst(Work<T>& work, long rows, Activations<T>& kept) const;

    //- Normalisation and residual of kept.last; rows are the receivers' (see NormaliseForward)
    //  with start, else by themselves
    void normalise(Work<T>& work, NormaliseForward<T> how, const Activations<T>& kept) const;

    //- Backward of that into work.gradient
    void normaliseBackward(Work<T>& work, NormaliseBackward<T> how, const Activations<T>& kept)
        const;

    //- Without a normalisation: work.gradient is that of the output; its column sums
    void sumOutput(Work<T>& work, long rows) const;

    //- From the gradient of kept.last in work.gradient to that of the first layer's output there.
    //  Gradients of all layers but the first weight.
    void backward(Work<T>& work, long rows, const Activations<T>& kept) const;

    //- And of the first layer; dx.data null: not wanted
    void backwardFirst(Work<T>& work, Rows<const T> x, long rows, Rows<T> dx, bool add) const;

    Activation activation() const { return activation_; }

private:

    T* rowsOf(std::vector<Buffer<T>>& buffers, Work<T>& work, int layer, long rows) const;
    void forwardLayer(Work<T>& work, int number, Rows<const T> x, long rows, Activations<T>& kept)
        const;

    std::vector<LinearPlace> layers_;
    std::vector<int> sums_;             //!< of the biases; the last with gain and shift
    std::int64_t gain_ = -1;
    std::int64_t shift_ = -1;
    int outputs_;
    Activation activation_;
};

}
}
