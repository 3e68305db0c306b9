// SPDX-License-Identifier: GPL-3.0-or-later

#include "model/MeshGraphNetPass.hpp"

#include "base/Error.hpp"

#include <algorithm>
#include <cstring>

namespace inSitu
{

namespace
{

// Enough work per chunk to make adding up its gradients cheap, enough chunks for many cores
constexpr long chunkWeight = 1536;
constexpr long maxChunks = 64;

}


template<class T>
MeshGraphNetPass<T>::MeshGraphNetPass(const MeshGraphNetSizes& sizes,
    const ParameterSet& parameters, ThreadPool& pool)
:
    sizes_(sizes),
    pool_(pool),
    kernels_(kernels<T>()),
    ld_(padded<T>(sizes.width)),
    gradientSize_(0)
{
    const auto make = [&](const std::string& prefix, int layers, bool normalised,
        const typename PackedMlp<T>::Columns& columns, long gradientStart)
    {
        auto mlp = std::make_unique<PackedMlp<T>>(parameters,
            typename PackedMlp<T>::Names{prefix, layers + 1, normalised}, columns,
            sizes.activation, gradientStart);
        gradientSize_ = std::max(gradientSize_, mlp->gradientEnd());
        all_.push_back(mlp.get());
        return mlp;
    };

    const int h = sizes.width;
    edgeEncoder_ = make(sizes.edgeEncoderPrefix, sizes.edgeEncoderLayers, true,
        {sizes.edgeFeatures}, 0);
    nodeEncoder_ = make(sizes.nodeEncoderPrefix, sizes.nodeEncoderLayers, true,
        {sizes.nodeFeatures}, edgeEncoder_->gradientEnd());
    decoder_ = make(sizes.decoderPrefix, sizes.decoderLayers, false, {h}, 0);
    for (int block = 0; block < sizes.blocks; ++block)
    {
        edgeBlocks_.push_back(make(sizes.edgePrefix(block), sizes.edgeProcessorLayers, true,
            {h, 0, h, h}, 0));
        nodeBlocks_.push_back(make(sizes.nodePrefix(block), sizes.nodeProcessorLayers, true,
            {h, h}, edgeBlocks_[block]->gradientEnd()));
    }

    long scratchSize = 0;
    for (const PackedMlp<T>* mlp : all_)
    {
        scratchSize = std::max({scratchSize, kernels_.scratchSize(mlp->view()),
            mlp->pieceSize()});
    }
    scratch_.resize(pool.nThreads());
    for (AlignedBuffer<T>& buffer : scratch_)
    {
        buffer.resize(scratchSize);
    }
}


template<class T>
void MeshGraphNetPass<T>::joinRanks(std::shared_ptr<Comm> comm)
{
    comm_ = std::move(comm);
    exchange_.emplace(comm_);
}


template<class T>
void MeshGraphNetPass<T>::pack(const T* parameters)
{
    pool_.run(static_cast<int>(all_.size()), [&](int mlp, int) { all_[mlp]->pack(parameters); });
}


template<class T>
void MeshGraphNetPass<T>::cut(const MeshGraph& graph)
{
    const auto start = graph.receiverStart();
    const long nNodes = graph.nNodes();
    const auto weightBefore = [&](long node) { return start[node] + 2*node; };
    const long total = weightBefore(nNodes);
    const long nChunks = std::clamp(total/chunkWeight, 1L, maxChunks);

    chunks_.assign(1, 0);
    long node = 0;
    for (long chunk = 1; chunk <= nChunks; ++chunk)
    {
        while (node < nNodes && weightBefore(node) < chunk*total/nChunks)
        {
            ++node;
        }
        chunks_.push_back(static_cast<std::int32_t>(node));
    }

    // Halo rows come last among the senders
    const auto isOuter = [&](long row)
    {
        return start[row + 1] > start[row] && graph.senders()[start[row + 1] - 1] >= nNodes;
    };
    inner_.ranges.clear();
    outer_.ranges.clear();
    inner_.start.assign(1, 0);
    outer_.start.assign(1, 0);
    for (std::size_t chunk = 0; chunk + 1 < chunks_.size(); ++chunk)
    {
        for (std::int32_t row = chunks_[chunk]; row < chunks_[chunk + 1]; )
        {
            const std::int32_t begin = row;
            const bool outer = isOuter(begin);
            while (row < chunks_[chunk + 1] && isOuter(row) == outer)
            {
                ++row;
            }
            (outer ? outer_ : inner_).ranges.push_back({begin, row});
        }
        inner_.start.push_back(static_cast<std::int32_t>(inner_.ranges.size()));
        outer_.start.push_back(static_cast<std::int32_t>(outer_.ranges.size()));
    }
}


template<class T>
template<class Work>
void MeshGraphNetPass<T>::forRanges(const ReceiverLists& lists, int chunk, const Work& work)
{
    for (std::int32_t i = lists.start[chunk]; i < lists.start[chunk + 1]; ++i)
    {
        work(lists.ranges[i].begin, lists.ranges[i].end);
    }
}


template<class T>
void MeshGraphNetPass<T>::prepare(const Input& input)
{
    const MeshGraph& graph = *input.graph;
    cut(graph);
    samples_ = input.samples;
    termStride_ = (graph.nNodes() + graph.nHalo())*ld_;
    edgeStride_ = (graph.nEdges() + (graph.halo() ? graph.halo()->nSent() : 0))*ld_;
    terms_.resize(4*samples_*termStride_);
    hasHalo_ = graph.halo() && !graph.halo()->neighbours.empty();
    if (hasHalo_)
    {
        if (!exchange_)
        {
            throw Error("meshGraphNet got a graph with cells of other ranks, which it has not"
                " joined");
        }
        exchange_->use(graph.halo(), samples_, edgeBlocks_.front()->sender().out);
    }
    if (sizes_.mean)
    {
        const auto start = input.graph->receiverStart();
        T* inverse = inverseCount_.resize(input.graph->nNodes());
        for (long n = 0; n < input.graph->nNodes(); ++n)
        {
            inverse[n] = T(1)/std::max(start[n + 1] - start[n], 1);
        }
    }
}


template<class T>
TermRows<T> MeshGraphNetPass<T>::termRows(int block, const T* nodes) const
{
    return {&edgeBlocks_[block]->sender(), &edgeBlocks_[block]->receiver(), nodes, ld_};
}


template<class T>
InputRows<T> MeshGraphNetPass<T>::edgeRows(const Input& input, const T* edges, const T* terms,
    long sample) const
{
    return {edges, ld_, nullptr, 0, terms + sample*termStride_,
        terms + (samples_ + sample)*termStride_, ld_, input.graph->senders().data(),
        input.graph->receivers().data()};
}


template<class T>
void MeshGraphNetPass<T>::forward(const T* parameters, const Input& input, Tape* anyTape,
    T* output, Encoding encoding)
{
    auto* tape = static_cast<MeshGraphNetTape<T>*>(anyTape);
    if (encoding != Encoding::kept)
    {
        pack(parameters);
    }
    prepare(input);

    const auto start = input.graph->receiverStart();
    const long nSamples = input.samples;
    const long nodeRows = input.graph->nNodes()*ld_;
    const long edgeRowsSize = input.graph->nEdges()*ld_;
    const int nBlocks = sizes_.blocks;
    const int nChunks = static_cast<int>(chunks_.size()) - 1;

    // States before and behind each block; a prediction overwrites what it no longer needs
    std::vector<T*>& nodes = nodesOf_;
    std::vector<T*>& edges = edgesOf_;
    std::vector<T*>& aggregates = aggregatesOf_;
    nodes.resize(nBlocks + 1);
    edges.resize(nBlocks);
    aggregates.resize(nBlocks);
    if (tape)
    {
        tape->nodes.resize(nBlocks + 1);
        tape->edges.resize(nBlocks);
        tape->aggregates.resize(nBlocks);
        tape->haloTerms.resize(nBlocks);
    }
    for (int block = 0; block <= nBlocks; ++block)
    {
        nodes[block] = tape ? tape->nodes[block].resize(nSamples*nodeRows)
            : nodes_.resize(2*nSamples*nodeRows) + (block % 2)*nSamples*nodeRows;
    }
    for (int block = 0; block < nBlocks; ++block)
    {
        aggregates[block] = (tape ? tape->aggregates[block] : aggregates_)
            .resize(nSamples*nodeRows);
        edges[block] = block == 0 && (nSamples > 1 || encoding != Encoding::fresh)
            ? (tape ? tape->edges[0] : firstEdges_).resize(edgeRowsSize)
            : (tape ? tape->edges[block] : edges_).resize(nSamples*edgeRowsSize);
    }
    const auto project = [&](int block, long sample, long begin, long end)
    {
        T* terms = termsOf(block) + sample*termStride_;
        kernels_.terms(termRows(block, nodes[block] + sample*nodeRows), terms,
            terms + nSamples*termStride_, begin, end);
    };

    pool_.run(nChunks, [&](int chunk, int thread)
    {
        const long begin = chunks_[chunk];
        const long end = chunks_[chunk + 1];
        if (encoding != Encoding::kept)
        {
            ForwardRows<T> edgeEncoding = {};
            edgeEncoding.in = {input.edges, sizes_.edgeFeatures, nullptr, 0, nullptr, nullptr, 0,
                nullptr, nullptr};
            edgeEncoding.output = edges[0];
            edgeEncoding.ldOutput = ld_;
            kernels_.forward(edgeEncoder_->view(), edgeEncoding, start[begin], start[end],
                scratch(thread));
        }

        for (long sample = 0; sample < nSamples; ++sample)
        {
            ForwardRows<T> nodeEncoding = {};
            nodeEncoding.in = {input.nodes
                + sample*input.graph->nNodes()*sizes_.nodeFeatures, sizes_.nodeFeatures, nullptr,
                0, nullptr, nullptr, 0, nullptr, nullptr};
            nodeEncoding.output = nodes[0] + sample*nodeRows;
            nodeEncoding.ldOutput = ld_;
            kernels_.forward(nodeEncoder_->view(), nodeEncoding, begin, end, scratch(thread));
            project(0, sample, begin, end);
        }
    });

    const auto update = [&](int block, long begin, long end, int thread)
    {
        const bool last = block == nBlocks - 1;
        for (long sample = 0; sample < nSamples; ++sample)
        {
            T* aggregate = aggregates[block] + sample*nodeRows;
            const T* before = edges[block] + (block > 0 ? sample*edgeRowsSize : 0);
            std::memset(aggregate + begin*ld_, 0, (end - begin)*ld_*sizeof(T));

            ForwardRows<T> rows = {};
            rows.in = edgeRows(input, before, termsOf(block), sample);
            rows.residual = before;
            rows.output = last ? nullptr : edges[block + 1] + sample*edgeRowsSize;
            rows.ldOutput = ld_;
            rows.aggregate = aggregate;
            kernels_.forward(edgeBlocks_[block]->view(), rows, start[begin], start[end],
                scratch(thread));
            for (long n = begin; sizes_.mean && n < end; ++n)
            {
                for (long c = 0; c < ld_; ++c)
                {
                    aggregate[n*ld_ + c] *= inverseCount_.data()[n];
                }
            }

            const T* x = nodes[block] + sample*nodeRows;
            rows = {};
            rows.in = {aggregate, ld_, x, ld_, nullptr, nullptr, 0, nullptr, nullptr};
            rows.residual = x;
            rows.output = nodes[block + 1] + sample*nodeRows;
            rows.ldOutput = ld_;
            kernels_.forward(nodeBlocks_[block]->view(), rows, begin, end, scratch(thread));

            if (!last)
            {
                project(block + 1, sample, begin, end);
                continue;
            }
            rows = {};
            rows.in = {nodes[nBlocks] + sample*nodeRows, ld_, nullptr, 0, nullptr, nullptr,
                0, nullptr, nullptr};
            rows.output = output + sample*input.graph->nNodes()*sizes_.outputs;
            rows.ldOutput = sizes_.outputs;
            kernels_.forward(decoder_->view(), rows, begin, end, scratch(thread));
        }
    };
    const auto updateAll = [&](int block, const ReceiverLists& receivers)
    {
        pool_.run(nChunks, [&](int chunk, int thread)
        {
            forRanges(receivers, chunk,
                [&](long begin, long end) { update(block, begin, end, thread); });
            helpMessages(thread);
        });
    };

    for (int block = 0; block < nBlocks; ++block)
    {
        startHalo(block);
        updateAll(block, inner_);
        if (hasHalo_)
        {
            finishHalo(input, block, tape);
            updateAll(block, outer_);
        }
    }
}


template<class T>
void MeshGraphNetPass<T>::startHalo(int block)
{
    if (hasHalo_)
    {
        exchange_->startForward({termsOf(block), termStride_, ld_});
    }
}


template<class T>
void MeshGraphNetPass<T>::finishHalo(const Input& input, int block, MeshGraphNetTape<T>* tape)
{
    const long nNodes = input.graph->nNodes();
    const long haloSize = input.graph->nHalo()*ld_;
    T* halo = termsOf(block) + nNodes*ld_;
    exchange_->finishForward({halo, termStride_, ld_});
    if (tape)
    {
        T* kept = tape->haloTerms[block].resize(samples_*haloSize);
        for (long sample = 0; sample < samples_; ++sample)
        {
            std::copy_n(halo + sample*termStride_, haloSize, kept + sample*haloSize);
        }
    }
}


template<class T>
void MeshGraphNetPass<T>::recallHalo(const Input& input, int block,
    const MeshGraphNetTape<T>& tape)
{
    const long haloSize = input.graph->nHalo()*ld_;
    for (long sample = 0; sample < samples_; ++sample)
    {
        std::copy_n(tape.haloTerms[block].data() + sample*haloSize, haloSize,
            terms_.data() + sample*termStride_ + input.graph->nNodes()*ld_);
    }
}


template<class T>
void MeshGraphNetPass<T>::nodeBlockBackward(const Input& input, const MeshGraphNetTape<T>& tape,
    int block, long sample, long begin, long end, T* gradients, T* scratch)
{
    const long offset = sample*input.graph->nNodes()*ld_;
    T* gradient = nodeGradients_.data() + offset;
    BackwardRows<T> rows = {};
    rows.in = {tape.aggregates[block].data() + offset, ld_, tape.nodes[block].data() + offset,
        ld_, nullptr, nullptr, 0, nullptr, nullptr};
    rows.outputGradient = gradient;
    rows.ldOutputGradient = ld_;
    rows.gradient0 = {aggregates_.data() + offset, ld_, true, false,
        sizes_.mean ? inverseCount_.data() : nullptr};
    rows.gradient1 = {gradient, ld_, true, true, nullptr};
    kernels_.backward(nodeBlocks_[block]->view(), rows, begin, end, gradients, scratch);
}


template<class T>
void MeshGraphNetPass<T>::edgeBlockBackward(const Input& input, const MeshGraphNetTape<T>& tape,
    int block, long sample, long begin, long end, T* gradients, T* scratch)
{
    const long offset = sample*input.graph->nEdges()*ld_;
    T* gradient = edgeGradients_.data() + offset;
    BackwardRows<T> rows = {};
    rows.in = edgeRows(input, tape.edges[block].data() + (block > 0 ? offset : 0),
        terms_.data(), sample);
    rows.outputGradient = block < sizes_.blocks - 1 ? gradient : nullptr;
    rows.ldOutputGradient = ld_;
    rows.aggregateGradient = aggregates_.data() + sample*input.graph->nNodes()*ld_;
    rows.totalGradient = gradient;
    rows.gradient0 = {gradient, ld_, true, true, nullptr};
    rows.termGradient = termGradients_.data() + sample*edgeStride_;
    rows.ldTermGradient = ld_;
    kernels_.backward(edgeBlocks_[block]->view(), rows, begin, end, gradients, scratch);
}


template<class T>
void MeshGraphNetPass<T>::backward(const T* parameters, const Input& input, const Tape& anyTape,
    const T* outputGradient, T* parameterGradient, T* nodeGradient, T* edgeGradient)
{
    const auto& tape = static_cast<const MeshGraphNetTape<T>&>(anyTape);
    pack(parameters);
    prepare(input);

    const MeshGraph& graph = *input.graph;
    const auto start = graph.receiverStart();
    const long nSamples = input.samples;
    const long nodeRows = graph.nNodes()*ld_;
    const long edgeRowsSize = graph.nEdges()*ld_;
    const int nChunks = static_cast<int>(chunks_.size()) - 1;

    aggregates_.resize(nSamples*nodeRows);
    nodeGradients_.resize(nSamples*nodeRows);
    edgeGradients_.resize(nSamples*edgeRowsSize);
    termGradients_.resize(nSamples*edgeStride_);
    chunkGradients_.resize(nChunks*gradientSize_);

    const auto cleared = [&](int chunk)
    {
        T* gradients = chunkGradients_.data() + chunk*gradientSize_;
        std::memset(gradients, 0, gradientSize_*sizeof(T));
        return gradients;
    };
    const auto project = [&](int block, long sample, long begin, long end)
    {
        T* terms = terms_.data() + sample*termStride_;
        kernels_.terms(termRows(block, tape.nodes[block].data() + sample*nodeRows), terms,
            terms + nSamples*termStride_, begin, end);
    };
    const auto updateAll = [&](int block, const ReceiverLists& receivers)
    {
        pool_.run(nChunks, [&](int chunk, int thread)
        {
            T* gradients = chunkGradients_.data() + chunk*gradientSize_;
            forRanges(receivers, chunk, [&](long begin, long end)
            {
                for (long sample = 0; sample < nSamples; ++sample)
                {
                    nodeBlockBackward(input, tape, block, sample, begin, end, gradients,
                        scratch(thread));
                    edgeBlockBackward(input, tape, block, sample, start[begin], start[end],
                        gradients, scratch(thread));
                }
            });
            helpMessages(thread);
        });
    };

    pool_.run(nChunks, [&](int chunk, int thread)
    {
        T* gradients = cleared(chunk);
        const long begin = chunks_[chunk];
        const long end = chunks_[chunk + 1];
        for (long sample = 0; sample < nSamples; ++sample)
        {
            BackwardRows<T> rows = {};
            rows.in = {tape.nodes[sizes_.blocks].data() + sample*nodeRows, ld_, nullptr, 0,
                nullptr, nullptr, 0, nullptr, nullptr};
            rows.outputGradient = outputGradient + sample*graph.nNodes()*sizes_.outputs;
            rows.ldOutputGradient = sizes_.outputs;
            rows.gradient0 = {nodeGradients_.data() + sample*nodeRows, ld_, true, false, nullptr};
            kernels_.backward(decoder_->view(), rows, begin, end, gradients, scratch(thread));
            project(sizes_.blocks - 1, sample, begin, end);
        }
    });
    collect({decoder_.get()}, parameterGradient);

    for (int block = sizes_.blocks - 1; block >= 0; --block)
    {
        pool_.run(nChunks, [&](int chunk, int) { cleared(chunk); });
        if (hasHalo_)
        {
            recallHalo(input, block, tape);
            updateAll(block, outer_);
            exchange_->startBackward({termGradients_.data(), edgeStride_, ld_}, graph.haloEdge());
        }
        updateAll(block, inner_);
        if (hasHalo_)
        {
            exchange_->finishBackward(
                {termGradients_.data() + graph.nEdges()*ld_, edgeStride_, ld_});
        }

        // What edges of other chunks send here is complete now
        pool_.run(nChunks, [&](int chunk, int thread)
        {
            T* gradients = chunkGradients_.data() + chunk*gradientSize_;
            const long begin = chunks_[chunk];
            const long end = chunks_[chunk + 1];
            for (long sample = 0; sample < nSamples; ++sample)
            {
                const T* x = tape.nodes[block].data() + sample*nodeRows;
                kernels_.termsBackward(termRows(block, x),
                    {start.data(), graph.senderStart().data(), graph.senderEdge().data()},
                    termGradients_.data() + sample*edgeStride_,
                    nodeGradients_.data() + sample*nodeRows, begin, end, gradients,
                    scratch(thread));
                if (block > 0)
                {
                    project(block - 1, sample, begin, end);
                }
            }
            helpMessages(thread);
        });
        collect({edgeBlocks_[block].get(), nodeBlocks_[block].get()}, parameterGradient);
    }

    pool_.run(nChunks, [&](int chunk, int thread)
    {
        T* gradients = cleared(chunk);
        const long begin = chunks_[chunk];
        const long end = chunks_[chunk + 1];
        for (long sample = 0; sample < nSamples; ++sample)
        {
            const long rowsBefore = sample*graph.nNodes();
            BackwardRows<T> rows = {};
            rows.in = {input.nodes + rowsBefore*sizes_.nodeFeatures, sizes_.nodeFeatures, nullptr,
                0, nullptr, nullptr, 0, nullptr, nullptr};
            rows.outputGradient = nodeGradients_.data() + sample*nodeRows;
            rows.ldOutputGradient = ld_;
            rows.gradient0 = {nodeGradient ? nodeGradient + rowsBefore*sizes_.nodeFeatures
                : nullptr, sizes_.nodeFeatures, false, false, nullptr};
            kernels_.backward(nodeEncoder_->view(), rows, begin, end, gradients, scratch(thread));
        }

        // All samples share the first edge states
        T* gradient = edgeGradients_.data();
        for (long sample = 1; sample < nSamples; ++sample)
        {
            kernels_.add(gradient + start[begin]*ld_,
                gradient + sample*edgeRowsSize + start[begin]*ld_,
                (start[end] - start[begin])*ld_);
        }
        BackwardRows<T> rows = {};
        rows.in = {input.edges, sizes_.edgeFeatures, nullptr, 0, nullptr, nullptr, 0, nullptr,
            nullptr};
        rows.outputGradient = gradient;
        rows.ldOutputGradient = ld_;
        rows.gradient0 = {edgeGradient, sizes_.edgeFeatures, false, false, nullptr};
        kernels_.backward(edgeEncoder_->view(), rows, start[begin], start[end], gradients,
            scratch(thread));
    });
    collect({edgeEncoder_.get(), nodeEncoder_.get()}, parameterGradient);
    if (comm_)
    {
        comm_->finishSums();
    }
}


template<class T>
void MeshGraphNetPass<T>::collect(const std::vector<const PackedMlp<T>*>& mlps,
    T* parameterGradient)
{
    int nPieces = 0;
    for (const PackedMlp<T>* mlp : mlps)
    {
        nPieces += mlp->nPieces();
    }
    const int nChunks = static_cast<int>(chunks_.size()) - 1;
    pool_.run(nPieces, [&](int piece, int thread)
    {
        std::size_t mlp = 0;
        while (piece >= mlps[mlp]->nPieces())
        {
            piece -= mlps[mlp]->nPieces();
            ++mlp;
        }
        mlps[mlp]->collect(piece, kernels_, chunkGradients_.data(), gradientSize_, nChunks,
            parameterGradient, scratch(thread));
    });
    for (std::size_t i = 0; comm_ && i < mlps.size(); ++i)
    {
        comm_->startSum(Span<T>(parameterGradient + mlps[i]->flatBegin(),
            mlps[i]->flatEnd() - mlps[i]->flatBegin()));
    }
}

template class MeshGraphNetPass<float>;
template class MeshGraphNetPass<double>;

}
