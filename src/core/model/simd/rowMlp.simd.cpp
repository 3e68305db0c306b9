// SPDX-License-Identifier: GPL-3.0-or-later

#include "model/simd/Activations.hpp"
#include "model/simd/Gemm.hpp"
#include "model/simd/Kernels.hpp"
#include "model/simd/Normalisation.hpp"

#define INSITU_STRING_(x) #x
#define INSITU_STRING(x) INSITU_STRING_(x)

namespace inSitu
{
namespace
{

constexpr long tileRows = 96;

template<class T>
long widest(const MlpView<T>& mlp)
{
    long width = mlp.layers[0].ldIn;
    if (mlp.second && mlp.second->ldIn > width)
    {
        width = mlp.second->ldIn;
    }
    for (int l = 0; l < mlp.nLayers; ++l)
    {
        width = mlp.layers[l].ldOut > width ? mlp.layers[l].ldOut : width;
    }
    return width;
}


//- The part of scratch memory that each value of a tile has
template<class T>
struct Tile
{
    Tile(const MlpView<T>& mlp, T* scratch)
    :
        width(widest(mlp)),
        direct(mlp.activation == Activation::relu && mlp.dropout == 0),
        memory(scratch)
    {}

    //- Output of the activation behind layer l, and what went into it
    T* active(int l) const { return memory + tileRows*width*(direct ? l : 2*l); }
    T* linear(int l) const { return active(l) + (direct ? 0 : tileRows*width); }

    T* free(const MlpView<T>& mlp, int i) const
    {
        return memory + tileRows*width*((mlp.nLayers - 1)*(direct ? 1 : 2) + i);
    }

    static long size(const MlpView<T>& mlp)
    {
        return tileRows*widest(mlp)*((mlp.nLayers - 1)*2 + 3);
    }

    long width;         //!< leading dimension of every buffer
    bool direct;        //!< relu without dropout: its output tells its slope
    T* memory;
};


//- Ways to finish an element vector of a product

template<class T, bool relu>
struct StoreLayer
{
    T* to;
    long ld;
    const T* bias;

    INSITU_INLINE void operator()(long row, long column, Vector<T> v) const
    {
        v += load(bias + column);
        store(to + row*ld + column, relu ? (v > 0 ? v : Vector<T>{}) : v);
    }
};

template<class T, bool relu>
struct StoreLayerWithTerms
{
    T* to;
    long ld;
    const T* bias;
    const T* senderTerm;
    const T* receiverTerm;
    long ldTerm;
    const std::int32_t* senders;
    const std::int32_t* receivers;

    INSITU_INLINE void operator()(long row, long column, Vector<T> v) const
    {
        v += load(bias + column) + load(senderTerm + senders[row]*ldTerm + column)
            + load(receiverTerm + receivers[row]*ldTerm + column);
        store(to + row*ld + column, relu ? (v > 0 ? v : Vector<T>{}) : v);
    }
};

//- Where the activation was positive
template<class T>
struct StoreMasked
{
    T* to;
    long ld;
    const T* active;
    long ldActive;

    INSITU_INLINE void operator()(long row, long column, Vector<T> v) const
    {
        store(to + row*ld + column, load(active + row*ldActive + column) > 0 ? v : Vector<T>{});
    }
};

template<class T>
struct Store
{
    T* to;
    long ld;

    INSITU_INLINE void operator()(long row, long column, Vector<T> v) const
    {
        store(to + row*ld + column, v);
    }
};

template<class T>
struct StoreScaled
{
    T* to;
    long ld;
    const T* scale;

    INSITU_INLINE void operator()(long row, long column, Vector<T> v) const
    {
        store(to + row*ld + column, v*scale[row]);
    }
};

template<class T>
struct Accumulate
{
    T* to;
    long ld;

    INSITU_INLINE void operator()(long row, long column, Vector<T> v) const
    {
        store(to + row*ld + column, load(to + row*ld + column) + v);
    }
};


//- Layer l of a tile that starts at row; the first layer reads the input
template<class T, bool relu>
void layer(const MlpView<T>& mlp, const InputRows<T>& in, const Tile<T>& tile, int l,
    long row, long nRows, T* to)
{
    const LinearView<T>& linear = mlp.layers[l];
    if (l > 0)
    {
        const Product<T> product{tile.active(l - 1), tile.width, linear.forward, linear.ldOut,
            linear.in};
        gemm<T, false>(&product, 1, nRows, linear.ldOut,
            StoreLayer<T, relu>{to, tile.width, linear.bias});
        return;
    }

    Product<T> products[2] = {{in.input0 + row*in.ld0, in.ld0, linear.forward, linear.ldOut,
        linear.in}, {}};
    if (mlp.second)
    {
        products[1] = {in.input1 + row*in.ld1, in.ld1, mlp.second->forward, mlp.second->ldOut,
            mlp.second->in};
    }
    const int nProducts = mlp.second ? 2 : 1;
    if (in.senderTerm)
    {
        gemm<T, false>(products, nProducts, nRows, linear.ldOut,
            StoreLayerWithTerms<T, relu>{to, tile.width, linear.bias, in.senderTerm,
                in.receiverTerm, in.ldTerm, in.senders + row, in.receivers + row});
    }
    else
    {
        gemm<T, false>(products, nProducts, nRows, linear.ldOut,
            StoreLayer<T, relu>{to, tile.width, linear.bias});
    }
}


//- All layers of a tile; returns the output of the last one
template<class T>
T* evaluate(const MlpView<T>& mlp, const InputRows<T>& in, const Tile<T>& tile, long row,
    long nRows)
{
    const int last = mlp.nLayers - 1;
    for (int l = 0; l < last; ++l)
    {
        if (tile.direct)
        {
            layer<T, true>(mlp, in, tile, l, row, nRows, tile.active(l));
            continue;
        }

        layer<T, false>(mlp, in, tile, l, row, nRows, tile.linear(l));
        for (long i = 0; i < nRows; ++i)
        {
            const T* z = tile.linear(l) + i*tile.width;
            T* a = tile.active(l) + i*tile.width;
            for (int c = 0; c < mlp.layers[l].out; ++c)
            {
                a[c] = activate(mlp.activation, z[c]);
                if (mlp.dropout > 0)
                {
                    a[c] *= T(dropoutFactor(mlp.dropout, mlp.dropoutKey, l, row + i, c));
                }
            }
        }
    }
    layer<T, false>(mlp, in, tile, last, row, nRows, tile.free(mlp, 0));
    return tile.free(mlp, 0);
}


template<class T>
void forward(const MlpView<T>& mlp, const ForwardRows<T>& rows, long begin, long end, T* scratch)
{
    const Tile<T> tile(mlp, scratch);
    const LinearView<T>& last = mlp.layers[mlp.nLayers - 1];
    const RowShape<T> shape(last.out);

    for (long row = begin; row < end; row += tileRows)
    {
        const long nRows = end - row < tileRows ? end - row : tileRows;
        T* z = evaluate(mlp, rows.in, tile, row, nRows);

        if (!mlp.gain)
        {
            for (long i = 0; i < nRows; ++i)
            {
                for (long c = 0; c < last.out; ++c)
                {
                    rows.output[(row + i)*rows.ldOutput + c] = z[i*tile.width + c];
                }
            }
            continue;
        }

        for (long i = 0; i < nRows; ++i)
        {
            T* zi = z + i*tile.width;
            normalise(shape, zi);
            const T* residual = rows.residual ? rows.residual + (row + i)*last.ldOut : nullptr;
            T* output = rows.output ? rows.output + (row + i)*rows.ldOutput : nullptr;
            T* aggregate = rows.aggregate
                ? rows.aggregate + rows.in.receivers[row + i]*last.ldOut : nullptr;
            for (long c = 0; c < last.ldOut; c += lanes<T>)
            {
                Vector<T> y = load(zi + c)*load(mlp.gain + c) + load(mlp.shift + c);
                if (residual)
                {
                    y += load(residual + c);
                }
                if (output)
                {
                    store(output + c, y);
                }
                if (aggregate)
                {
                    store(aggregate + c, load(aggregate + c) + y);
                }
            }
        }
    }
}


//- Turn the last layer's output z into d loss/d z
template<class T>
void lastBackward(const MlpView<T>& mlp, const BackwardRows<T>& rows, const Tile<T>& tile,
    const RowShape<T>& shape, long row, long nRows, T* z, T* gradients)
{
    const LinearView<T>& last = mlp.layers[mlp.nLayers - 1];
    for (long i = 0; i < nRows; ++i)
    {
        T* zi = z + i*tile.width;
        const T* given = rows.outputGradient
            ? rows.outputGradient + (row + i)*rows.ldOutputGradient : nullptr;
        if (!mlp.gain)
        {
            for (long c = 0; c < last.ldOut; ++c)
            {
                zi[c] = c < last.out ? given[c] : T(0);
            }
            continue;
        }

        const T factor = normalise(shape, zi);
        const T* g = given;
        if (rows.totalGradient)
        {
            const T* aggregate = rows.aggregateGradient
                ? rows.aggregateGradient + rows.in.receivers[row + i]*last.ldOut : nullptr;
            T* total = rows.totalGradient + (row + i)*last.ldOut;
            for (long c = 0; c < last.ldOut; c += lanes<T>)
            {
                Vector<T> v = given ? load(given + c) : Vector<T>{};
                if (aggregate)
                {
                    v += load(aggregate + c);
                }
                store(total + c, v);
            }
            g = total;
        }
        normaliseBackward(shape, factor, mlp.gain, g, zi, gradients + mlp.gainGradient,
            gradients + mlp.shiftGradient);
    }
}


//- sums[c] += column c of rows
template<class T>
void addColumns(const T* rows, long ld, long nRows, long n, T* sums)
{
    for (long c = 0; c < n; c += lanes<T>)
    {
        Vector<T> total = {};
        for (long i = 0; i < nRows; ++i)
        {
            total += load(rows + i*ld + c);
        }
        store(sums + c, load(sums + c) + total);
    }
}


//- gradient [in][ldOut] += x^T d
template<class T>
void weightGradient(const LinearView<T>& linear, const T* x, long ldX, const T* d, long ldD,
    long nRows, T* gradients)
{
    const Product<T> product{x, ldX, d, ldD, nRows};
    gemm<T, true>(&product, 1, linear.in, linear.ldOut,
        Accumulate<T>{gradients + linear.weightGradient, linear.ldOut});
}


//- The gradient d of a first layer's output goes to one of its inputs
template<class T>
void inputGradient(const LinearView<T>& linear, const InputGradient<T>& to, const T* d, long ldD,
    long row, long nRows, T* buffer)
{
    const Product<T> product{d, ldD, linear.backward, linear.ldIn, linear.out};
    T* target = to.data + row*to.ld;
    if (!to.padded)
    {
        gemm<T, false>(&product, 1, nRows, linear.ldIn, Store<T>{buffer, linear.ldIn});
        for (long i = 0; i < nRows; ++i)
        {
            for (long c = 0; c < linear.in; ++c)
            {
                target[i*to.ld + c] = buffer[i*linear.ldIn + c];
            }
        }
    }
    else if (to.accumulate)
    {
        gemm<T, false>(&product, 1, nRows, linear.ldIn, Accumulate<T>{target, to.ld});
    }
    else if (to.rowScale)
    {
        gemm<T, false>(&product, 1, nRows, linear.ldIn,
            StoreScaled<T>{target, to.ld, to.rowScale + row});
    }
    else
    {
        gemm<T, false>(&product, 1, nRows, linear.ldIn, Store<T>{target, to.ld});
    }
}


//- From the gradient d behind layer l to that before its input's activation
template<class T>
void hiddenBackward(const MlpView<T>& mlp, const Tile<T>& tile, int l, const T* d, long ldD,
    long row, long nRows, T* to, long ldTo)
{
    const LinearView<T>& linear = mlp.layers[l];
    const Product<T> product{d, ldD, linear.backward, linear.ldIn, linear.out};
    if (tile.direct)
    {
        gemm<T, false>(&product, 1, nRows, linear.ldIn,
            StoreMasked<T>{to, ldTo, tile.active(l - 1), tile.width});
        return;
    }

    gemm<T, false>(&product, 1, nRows, linear.ldIn, Store<T>{to, ldTo});
    for (long i = 0; i < nRows; ++i)
    {
        const T* z = tile.linear(l - 1) + i*tile.width;
        T* t = to + i*ldTo;
        for (int c = 0; c < linear.in; ++c)
        {
            t[c] *= slope(mlp.activation, z[c]);
            if (mlp.dropout > 0)
            {
                t[c] *= T(dropoutFactor(mlp.dropout, mlp.dropoutKey, l - 1, row + i, c));
            }
        }
    }
}


template<class T>
void backward(const MlpView<T>& mlp, const BackwardRows<T>& rows, long begin, long end,
    T* gradients, T* scratch)
{
    const Tile<T> tile(mlp, scratch);
    const RowShape<T> shape(mlp.layers[mlp.nLayers - 1].out);

    for (long row = begin; row < end; row += tileRows)
    {
        const long nRows = end - row < tileRows ? end - row : tileRows;
        T* d = evaluate(mlp, rows.in, tile, row, nRows);
        long ld = tile.width;
        lastBackward(mlp, rows, tile, shape, row, nRows, d, gradients);

        for (int l = mlp.nLayers - 1; l > 0; --l)
        {
            const LinearView<T>& linear = mlp.layers[l];
            addColumns(d, ld, nRows, linear.ldOut, gradients + linear.biasGradient);
            weightGradient(linear, tile.active(l - 1), tile.width, d, ld, nRows, gradients);

            const bool keep = l == 1 && rows.termGradient;
            T* next = keep ? rows.termGradient + row*rows.ldTermGradient
                : tile.free(mlp, (mlp.nLayers - l) % 2);
            const long ldNext = keep ? rows.ldTermGradient : tile.width;
            hiddenBackward(mlp, tile, l, d, ld, row, nRows, next, ldNext);
            d = next;
            ld = ldNext;
        }

        const LinearView<T>& first = mlp.layers[0];
        addColumns(d, ld, nRows, first.ldOut, gradients + first.biasGradient);
        weightGradient(first, rows.in.input0 + row*rows.in.ld0, rows.in.ld0, d, ld, nRows,
            gradients);
        if (rows.gradient0.data)
        {
            inputGradient(first, rows.gradient0, d, ld, row, nRows, tile.free(mlp, 2));
        }
        if (mlp.second)
        {
            weightGradient(*mlp.second, rows.in.input1 + row*rows.in.ld1, rows.in.ld1, d, ld,
                nRows, gradients);
            if (rows.gradient1.data)
            {
                inputGradient(*mlp.second, rows.gradient1, d, ld, row, nRows, tile.free(mlp, 2));
            }
        }
    }
}


template<class T>
void terms(const TermRows<T>& rows, T* senderTerm, T* receiverTerm, long begin, long end)
{
    for (long row = begin; row < end; row += tileRows)
    {
        const long nRows = end - row < tileRows ? end - row : tileRows;
        const T* x = rows.x + row*rows.ldX;
        const LinearView<T>* const linears[2] = {rows.sender, rows.receiver};
        T* const targets[2] = {senderTerm, receiverTerm};
        for (int side = 0; side < 2; ++side)
        {
            const LinearView<T>& linear = *linears[side];
            const Product<T> product{x, rows.ldX, linear.forward, linear.ldOut, linear.in};
            gemm<T, false>(&product, 1, nRows, linear.ldOut,
                Store<T>{targets[side] + row*linear.ldOut, linear.ldOut});
        }
    }
}


//- to = sum of rows of values: rows edges[0..count-1], or the first count ones
template<class T>
INSITU_INLINE void sumRows(const T* values, long ld, const std::int32_t* edges, long count, T* to)
{
    for (long c = 0; c < ld; c += lanes<T>)
    {
        Vector<T> total = {};
        for (long k = 0; k < count; ++k)
        {
            total += load(values + (edges ? edges[k] : k)*ld + c);
        }
        store(to + c, total);
    }
}


template<class T>
void termsBackward(const TermRows<T>& rows, const NodeEdges& edges, const T* termGradient,
    T* xGradient, long begin, long end, T* gradients, T* scratch)
{
    const LinearView<T>& sender = *rows.sender;
    const LinearView<T>& receiver = *rows.receiver;
    const long ld = sender.ldOut;
    T* sent = scratch;
    T* received = scratch + tileRows*ld;

    for (long row = begin; row < end; row += tileRows)
    {
        const long nRows = end - row < tileRows ? end - row : tileRows;
        for (long i = 0; i < nRows; ++i)
        {
            const long n = row + i;
            const long firstSent = edges.senderStart[n];
            const long firstReceived = edges.receiverStart[n];
            sumRows(termGradient, ld, edges.senderEdge + firstSent,
                edges.senderStart[n + 1] - firstSent, sent + i*ld);
            sumRows(termGradient + firstReceived*ld, ld, nullptr,
                edges.receiverStart[n + 1] - firstReceived, received + i*ld);
        }

        const T* x = rows.x + row*rows.ldX;
        weightGradient(sender, x, rows.ldX, sent, ld, nRows, gradients);
        weightGradient(receiver, x, rows.ldX, received, ld, nRows, gradients);
        const Product<T> products[2] =
        {
            {sent, ld, sender.backward, sender.ldIn, sender.out},
            {received, ld, receiver.backward, receiver.ldIn, receiver.out}
        };
        gemm<T, false>(products, 2, nRows, sender.ldIn,
            Accumulate<T>{xGradient + row*rows.ldX, rows.ldX});
    }
}


template<class T>
void add(T* target, const T* source, long count)
{
    for (long i = 0; i < count; ++i)
    {
        target[i] += source[i];
    }
}

}


namespace INSITU_SIMD
{

extern const Kernels<float> kernelsFloat;
extern const Kernels<double> kernelsDouble;

const Kernels<float> kernelsFloat =
{
    INSITU_STRING(INSITU_SIMD), &Tile<float>::size, &forward<float>, &backward<float>,
    &terms<float>, &termsBackward<float>, &add<float>
};

const Kernels<double> kernelsDouble =
{
    INSITU_STRING(INSITU_SIMD), &Tile<double>::size, &forward<double>, &backward<double>,
    &terms<double>, &termsBackward<double>, &add<double>
};

}
}
