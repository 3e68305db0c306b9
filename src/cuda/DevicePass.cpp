// SPDX-License-Identifier: GPL-3.0-or-later
#include "DevicePass.hpp"

#include "base/Error.hpp"

#include <algorithm>

namespace inSitu
{
namespace device
{

template<class T>
DevicePass<T>::DevicePass(const MeshGraphNetSizes& sizes, const ParameterSet& parameters,
    const at::Device& device, const DeviceChoice& choice)
:
    sizes_(sizes),
    device_(device),
    ranks_(choice.ranks),
    nParameters_(static_cast<std::size_t>(parameters.count())),
    recompute_(choice.recompute),
    ld_(paddedColumns(sizes.width)),
    parameters_(parameters),
    edgeEncoder_(parameters_, sizes.edgeEncoderPrefix, sizes.edgeEncoderLayers, {}, sizes.width,
        true, sizes.activation, RowKind::sharedEdges),
    nodeEncoder_(parameters_, sizes.nodeEncoderPrefix, sizes.nodeEncoderLayers, {}, sizes.width,
        true, sizes.activation, RowKind::nodes),
    decoder_(parameters_, sizes.decoderPrefix, sizes.decoderLayers, {}, sizes.outputs, false,
        sizes.activation, RowKind::nodes),
    products_(device, choice.tf32, choice.tuned),
    graphs_(device),
    halo_(device, choice.ranks),
    widest_(std::max({ld_, edgeEncoder_.widest(), nodeEncoder_.widest(), decoder_.widest(),
        edgeEncoder_.in(), nodeEncoder_.in()}))
{
    for (int block = 0; block < sizes.blocks; ++block)
    {
        edgeBlocks_.emplace_back(parameters_, sizes, block);
        nodeBlocks_.emplace_back(parameters_, sizes.nodePrefix(block), sizes.nodeProcessorLayers,
            std::vector<typename DeviceMlp<T>::Part>{{0, sizes.width}, {sizes.width, sizes.width}},
            sizes.width, true, sizes.activation, RowKind::nodes);
    }
    parameters_.allocate(device);
}


template<class T>
void DevicePass<T>::joinRanks(std::shared_ptr<Comm> comm)
{
    const int size = ranks_ ? ranks_->size() : 1;
    if (comm->size() != size)
    {
        throw Error("the model is on the GPUs of " + std::to_string(size) + " ranks and cannot be"
            " computed by " + std::to_string(comm->size()));
    }
}


template<class T>
typename DevicePass<T>::Call DevicePass<T>::begin(const Input& input)
{
    const HaloPlan* plan = input.graph->halo().get();
    if (plan && !plan->neighbours.empty() && !ranks_)
    {
        throw Error("the graph has cells of other ranks, and the model is on one GPU");
    }
    Call call{graphs_.of(input.graph, input.samples),
        plan && !plan->neighbours.empty() ? plan : nullptr,
        input.samples*input.graph->nNodes(), input.samples*input.graph->nEdges(),
        {device_, currentStream(device_), products_, parameters_}};
    call.work.halo = &halo_;
    parameters_.prepare({call.nEdges, call.nNodes, call.graph.nEdges});
    call.work.terms = terms_.resize(call.nNodes*2*ld_, device_);
    return call;
}


template<class T>
void DevicePass<T>::encode(Call& call, const DeviceMlp<T>& encoder, const A* input, int nFeatures,
    long rows, Buffer<T>& features, Buffer<A>& statistics, Activations<T>& kept, Rows<T> states)
{
    T* padded = features.resize(rows*encoder.in(), device_);
    padRows<T>(call.work.stream, input, rows, nFeatures, padded, encoder.in());
    encoder.forward(call.work, {padded, encoder.in()}, rows, kept);

    NormaliseForward<T> how = {};
    how.rows = rows;
    how.nTargets = rows;
    how.nSamples = 1;
    how.after = states.data;
    how.ldAfter = static_cast<int>(states.ld);
    how.statistics = statistics.resize(2*rows, device_);
    encoder.normalise(call.work, how, kept);
}


template<class T>
typename EdgeBlock<T>::States DevicePass<T>::edgeStates(const Call& call, const T* pair,
    const T* edges, A* statistics, T* halo) const
{
    return {call.graph, 2*ld_, pair + ld_, edges, sizes_.mean, statistics, call.plan, halo};
}


template<class T>
void DevicePass<T>::nodeBlock(Call& call, int block, const T* pair, T* next, A* statistics,
    Activations<T>& activations)
{
    nodeBlocks_[block].forward(call.work, {pair, 2*ld_}, call.nNodes, activations);

    NormaliseForward<T> how = {};
    how.rows = call.nNodes;
    how.nTargets = call.nNodes;
    how.nSamples = 1;
    how.residual = pair + ld_;
    how.ldResidual = 2*ld_;
    how.after = next + ld_;
    how.ldAfter = 2*ld_;
    how.statistics = statistics;
    nodeBlocks_[block].normalise(call.work, how, activations);
}


template<class T>
void DevicePass<T>::forward(const A* parameters, const Input& input, Tape* anyTape, A* output,
    Encoding encoding)
{
    const at::DeviceGuard guard(device_);
    Call call = begin(input);
    const int nBlocks = sizes_.blocks;
    const bool isTraining = anyTape;
    const bool keeps = isTraining && !recompute_;
    DeviceTape<T>& tape = isTraining ? static_cast<DeviceTape<T>&>(*anyTape) : work_;

    tape.nodeStatistics.resize(nBlocks + 1);
    tape.edgeStatistics.resize(nBlocks + 1);
    tape.nodeActivations.resize(keeps ? nBlocks + 2 : 0);
    tape.edgeActivations.resize(keeps ? nBlocks + 1 : 0);
    tape.pairs.resize(isTraining ? nBlocks + 1 : 2);
    tape.edges.resize(isTraining ? nBlocks : 1);
    tape.halo.resize(isTraining ? nBlocks : 1);
    const auto pairOf = [&](int block)
    {
        return tape.pairs[isTraining ? block : block % 2].resize(call.nNodes*2*ld_, device_);
    };
    const auto edgesOf = [&](int block)
    {
        return tape.edges[isTraining ? block : 0].resize(call.nEdges*ld_, device_);
    };

    if (encoding != Encoding::kept)
    {
        parameters_.pack(call.work.stream, parameters);
    }
    encode(call, nodeEncoder_, input.nodes, sizes_.nodeFeatures, call.nNodes, tape.nodeFeatures,
        tape.nodeStatistics.front(), keeps ? tape.nodeActivations.front() : nodeWork_,
        {pairOf(0) + ld_, 2*ld_});

    const bool shared = input.samples > 1;
    const bool isolated = shared || encoding != Encoding::fresh;
    T* encoded = isolated ? firstEdges_.resize(call.graph.nEdges*ld_, device_) : edgesOf(0);
    if (encoding != Encoding::kept)
    {
        encode(call, edgeEncoder_, input.edges, sizes_.edgeFeatures, call.graph.nEdges,
            tape.edgeFeatures, tape.edgeStatistics.front(),
            keeps ? tape.edgeActivations.front() : edgeWork_, {encoded, ld_});
    }
    if (shared)
    {
        repeatRows<T>(call.work.stream, encoded, call.graph.nEdges*ld_, call.graph.nSamples,
            edgesOf(0));
    }

    for (int block = 0; block < nBlocks; ++block)
    {
        const auto statistics = [&](std::vector<Buffer<A>>& of, long rows)
            { return isTraining ? of[block + 1].resize(2*rows, device_) : nullptr; };
        const bool isLast = block == nBlocks - 1;
        T* pair = pairOf(block);
        const T* before = block == 0 && isolated && !shared ? encoded : edgesOf(block);
        edgeBlocks_[block].forward(call.work,
            edgeStates(call, pair, before, statistics(tape.edgeStatistics, call.nEdges),
                tape.halo[isTraining ? block : 0].resize(
                    call.graph.nSamples*call.graph.nHalo*ld_, device_)),
            isLast ? nullptr : edgesOf(block + 1), pair,
            keeps ? tape.edgeActivations[block + 1] : edgeWork_);
        nodeBlock(call, block, pair, pairOf(block + 1),
            statistics(tape.nodeStatistics, call.nNodes),
            keeps ? tape.nodeActivations[block + 1] : nodeWork_);
    }

    Activations<T>& kept = keeps ? tape.nodeActivations.back() : nodeWork_;
    decoder_.forward(call.work, {pairOf(nBlocks) + ld_, 2*ld_}, call.nNodes, kept);
    cutRows<T>(call.work.stream, kept.last.data(), decoder_.out(), call.nNodes, sizes_.outputs,
        parameters_.vectors() + decoder_.lastBias(), output);
}


template<class T>
const Activations<T>& DevicePass<T>::activationsOf(Call& call, const DeviceMlp<T>& mlp,
    Rows<const T> x, long rows, const std::vector<Activations<T>>& ofTape, int number,
    Activations<T>& ofWork)
{
    if (!recompute_)
    {
        return ofTape[number];
    }
    mlp.forward(call.work, x, rows, ofWork);
    return ofWork;
}


template<class T>
void DevicePass<T>::decoderBackward(Call& call, const DeviceTape<T>& tape,
    const A* outputGradient)
{
    const Rows<const T> x{tape.pairs.back().data() + ld_, 2*ld_};
    const Activations<T>& kept = activationsOf(call, decoder_, x, call.nNodes,
        tape.nodeActivations, sizes_.blocks + 1, nodeWork_);
    padRows<T>(call.work.stream, outputGradient, call.nNodes, sizes_.outputs, call.work.gradient,
        decoder_.out());
    decoder_.sumOutput(call.work, call.nNodes);
    decoder_.backward(call.work, call.nNodes, kept);
    decoder_.backwardFirst(call.work, x, call.nNodes, {pairGradient_.data() + ld_, 2*ld_}, false);
}


template<class T>
void DevicePass<T>::blockBackward(Call& call, const DeviceTape<T>& tape, int block)
{
    const DeviceMlp<T>& nodes = nodeBlocks_[block];
    const T* pair = tape.pairs[block].data();
    T* pairGradient = pairGradient_.data();
    const Activations<T>& kept = activationsOf(call, nodes, {pair, 2*ld_}, call.nNodes,
        tape.nodeActivations, block + 1, nodeWork_);

    NormaliseBackward<T> how = {};
    how.rows = call.nNodes;
    how.nTargets = call.nNodes;
    how.nSamples = 1;
    how.gradient = pairGradient + ld_;
    how.ldGradient = 2*ld_;
    how.cleared = pairGradient;
    how.ldCleared = 2*ld_;
    how.statistics = tape.nodeStatistics[block + 1].data();
    nodes.normaliseBackward(call.work, how, kept);
    nodes.backward(call.work, call.nNodes, kept);
    nodes.backwardFirst(call.work, {pair, 2*ld_}, call.nNodes, {pairGradient, 2*ld_}, true);

    const auto states = edgeStates(call, pair, tape.edges[block].data(),
        tape.edgeStatistics[block + 1].data(), tape.halo[block].data());
    if (recompute_)
    {
        edgeBlocks_[block].recompute(call.work, states, edgeWork_);
    }
    edgeBlocks_[block].backward(call.work, states,
        block < sizes_.blocks - 1 ? edgeGradient_.data() : nullptr, edgeGradient_.data(),
        pairGradient, pairGradient + ld_,
        recompute_ ? edgeWork_ : tape.edgeActivations[block + 1]);
}


template<class T>
void DevicePass<T>::encoderBackward(Call& call, const DeviceMlp<T>& encoder,
    const Buffer<T>& features, int nFeatures, long rows, const A* statistics,
    const Activations<T>& kept, Rows<const T> gradient, A* featureGradient)
{
    NormaliseBackward<T> how = {};
    how.rows = rows;
    how.nTargets = rows;
    how.nSamples = 1;
    how.gradient = gradient.data;
    how.ldGradient = static_cast<int>(gradient.ld);
    how.statistics = statistics;
    encoder.normaliseBackward(call.work, how, kept);
    encoder.backward(call.work, rows, kept);
    encoder.backwardFirst(call.work, {features.data(), encoder.in()}, rows,
        {featureGradient ? call.work.other : nullptr, encoder.in()}, false);
    if (featureGradient)
    {
        cutRows<T>(call.work.stream, call.work.other, encoder.in(), rows, nFeatures, nullptr,
            featureGradient);
    }
}


template<class T>
void DevicePass<T>::backward(const A* parameters, const Input& input, const Tape& anyTape,
    const A* outputGradient, A* parameterGradient, A* nodeGradient, A* edgeGradient)
{
    const at::DeviceGuard guard(device_);
    const auto& tape = static_cast<const DeviceTape<T>&>(anyTape);
    Call call = begin(input);
    const long longest = std::max(call.nNodes, call.nEdges)*widest_;
    call.work.gradient = gradient_.resize(longest, device_);
    call.work.other = other_.resize(longest, device_);
    pairGradient_.resize(call.nNodes*2*ld_, device_);
    edgeGradient_.resize(call.nEdges*ld_, device_);
    parameters_.pack(call.work.stream, parameters);

    decoderBackward(call, tape, outputGradient);
    for (int block = sizes_.blocks - 1; block >= 0; --block)
    {
        blockBackward(call, tape, block);
    }

    encoderBackward(call, nodeEncoder_, tape.nodeFeatures, sizes_.nodeFeatures, call.nNodes,
        tape.nodeStatistics.front().data(),
        activationsOf(call, nodeEncoder_, {tape.nodeFeatures.data(), nodeEncoder_.in()},
            call.nNodes, tape.nodeActivations, 0, nodeWork_),
        {pairGradient_.data() + ld_, 2*ld_}, nodeGradient);

    // All samples share the first edge states
    const T* ofEdges = edgeGradient_.data();
    if (input.samples > 1)
    {
        T* sum = firstEdges_.resize(call.graph.nEdges*ld_, device_);
        sumRows<T>(call.work.stream, ofEdges, call.graph.nEdges*ld_, call.graph.nSamples, sum);
        ofEdges = sum;
    }
    encoderBackward(call, edgeEncoder_, tape.edgeFeatures, sizes_.edgeFeatures,
        call.graph.nEdges, tape.edgeStatistics.front().data(),
        activationsOf(call, edgeEncoder_, {tape.edgeFeatures.data(), edgeEncoder_.in()},
            call.graph.nEdges, tape.edgeActivations, 0, edgeWork_),
        {ofEdges, ld_}, edgeGradient);

    parameters_.finish(call.work.stream, parameterGradient);
    if (ranks_)
    {
        ranks_->sum(Span<A>(parameterGradient, nParameters_));
    }
}

#ifndef INSITU_CUDA_EMULATED
template class DevicePass<Float16>;
#endif
template class DevicePass<double>;
template class DevicePass<float>;
template class DevicePass<BFloat16>;

}
}
