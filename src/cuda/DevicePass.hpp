// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "DeviceGraphs.hpp"
#include "DeviceMlp.hpp"
#include "EdgeBlock.hpp"
#include "model/DeviceLibrary.hpp"

#include <memory>
#include <vector>

namespace inSitu
{
namespace device
{

//- What a forward pass on the GPU keeps: states before each block, and the activations in them
//  unless they are computed again
template<class T>
struct DeviceTape : GraphPass<Accumulator<T>>::Tape
{
    Buffer<T> nodeFeatures;
    Buffer<T> edgeFeatures;
    std::vector<Buffer<T>> pairs;       //!< blocks + 1, [samples*nodes, 2 ld]: sums, then states
    std::vector<Buffer<T>> edges;       //!< blocks, [samples*edges, ld]
    std::vector<Buffer<T>> halo;        //!< blocks, what other ranks have sent
    std::vector<Buffer<Accumulator<T>>> nodeStatistics;     //!< of the encoder, then of the blocks
    std::vector<Buffer<Accumulator<T>>> edgeStatistics;
    std::vector<Activations<T>> nodeActivations;            //!< encoder, blocks, decoder
    std::vector<Activations<T>> edgeActivations;            //!< encoder, blocks
};


//- MeshGraphNet on a GPU. All work goes into the stream of the calling thread; a call waits for
//  nothing and, once a graph and a number of samples have been met, allocates nothing, so that it
//  can be captured. T: storage type.
template<class T>
class DevicePass final : public GraphPass<Accumulator<T>>
{
public:

    using A = Accumulator<T>;
    using typename GraphPass<A>::Tape;
    using typename GraphPass<A>::Input;
    using typename GraphPass<A>::Encoding;

    DevicePass(const MeshGraphNetSizes& sizes, const ParameterSet& parameters,
        const at::Device& device, const DeviceChoice& choice);

    std::unique_ptr<Tape> makeTape() const override { return std::make_unique<DeviceTape<T>>(); }

    void joinRanks(std::shared_ptr<Comm> comm) override;

    void forward(const A* parameters, const Input& input, Tape* tape, A* output,
        Encoding encoding) override;

    void backward(const A* parameters, const Input& input, const Tape& tape,
        const A* outputGradient, A* parameterGradient, A* nodeGradient, A* edgeGradient) override;

private:

    //- Sizes of the call in hand
    struct Call
    {
        GraphView graph;
        const HaloPlan* plan;           //!< null: nothing travels
        long nNodes;                    //!< of all samples
        long nEdges;
        Work<T> work;
    };

    Call begin(const Input& input);

    //- Features, padded in between, to states
    void encode(Call& call, const DeviceMlp<T>& encoder, const A* input, int nFeatures, long rows,
        Buffer<T>& features, Buffer<A>& statistics, Activations<T>& kept, Rows<T> states);
    void nodeBlock(Call& call, int block, const T* pair, T* next, A* statistics,
        Activations<T>& activations);
    typename EdgeBlock<T>::States edgeStates(const Call& call, const T* pair, const T* edges,
        A* statistics, T* halo) const;

    void decoderBackward(Call& call, const DeviceTape<T>& tape, const A* outputGradient);
    void blockBackward(Call& call, const DeviceTape<T>& tape, int block);
    void encoderBackward(Call& call, const DeviceMlp<T>& encoder, const Buffer<T>& features,
        int nFeatures, long rows, const A* statistics, const Activations<T>& kept,
        Rows<const T> gradient, A* featureGradient);

    //- Those of the tape, or made again from the MLP's input
    const Activations<T>& activationsOf(Call& call, const DeviceMlp<T>& mlp, Rows<const T> x,
        long rows, const std::vector<Activations<T>>& ofTape, int number, Activations<T>& ofWork);

    MeshGraphNetSizes sizes_;
    at::Device device_;
    std::shared_ptr<DeviceRanks> ranks_;
    std::size_t nParameters_;
    bool recompute_;
    int ld_;                            //!< of node and edge states

    PackedParameters<T> parameters_;
    DeviceMlp<T> edgeEncoder_;
    DeviceMlp<T> nodeEncoder_;
    DeviceMlp<T> decoder_;
    std::vector<EdgeBlock<T>> edgeBlocks_;
    std::vector<DeviceMlp<T>> nodeBlocks_;
    Products<T> products_;
    DeviceGraphs graphs_;
    DeviceHalo<T> halo_;
    int widest_;                        //!< of all rows that backward() works on

    // Work memory
    DeviceTape<T> work_;                //!< prediction
    Activations<T> nodeWork_;           //!< prediction, and what is computed again
    Activations<T> edgeWork_;
    Buffer<T> firstEdges_;              //!< of one sample, or the encoding that a prediction keeps
    Buffer<T> gradient_;
    Buffer<T> other_;
    Buffer<T> terms_;
    Buffer<T> edgeGradient_;
    Buffer<T> pairGradient_;
};

}
}
