// SPDX-License-Identifier: GPL-3.0-or-later

#include "model/Mlp.hpp"

#include "base/Error.hpp"
#include "model/ActivationWords.hpp"
#include "model/FlatModel.hpp"
#include "model/GraphBatch.hpp"
#include "model/Initialise.hpp"
#include "model/NetworkScript.hpp"
#include "model/PackedMlp.hpp"

#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cstring>

namespace inSitu
{

namespace
{

constexpr const char* prefix = "layers.";

// Chunks depend on the number of rows alone
constexpr long rowsPerChunk = 512;
constexpr long maxChunks = 64;


//- The perceptron on rows, forward and backward. Memory is kept between calls.
template<class T>
class MlpPass
{
public:

    MlpPass(const ParameterSet& parameters, int nLayers, Activation activation, ThreadPool& pool)
    :
        pool_(pool),
        kernels_(kernels<T>()),
        mlp_(parameters, {prefix, nLayers, false},
            {static_cast<int>(parameters.entries()[0].shape[1])}, activation, 0),
        scratch_(pool.nThreads())
    {
        for (AlignedBuffer<T>& buffer : scratch_)
        {
            buffer.resize(std::max(kernels_.scratchSize(mlp_.view()), mlp_.pieceSize()));
        }
    }

    void forward(const T* parameters, const T* input, long nRows, double dropout,
        std::uint64_t key, T* output)
    {
        mlp_.pack(parameters);
        mlp_.setDropout(dropout, key);
        ForwardRows<T> rows = {};
        rows.in = inputRows(input);
        rows.output = output;
        rows.ldOutput = mlp_.view().layers[mlp_.view().nLayers - 1].out;
        forChunks(nRows, [&](int, long begin, long end, int thread)
        {
            kernels_.forward(mlp_.view(), rows, begin, end, scratch_[thread].data());
        });
    }

    //- parameters, input, nRows, dropout and key as in the forward pass
    void backward(const T* parameters, const T* input, long nRows, double dropout,
        std::uint64_t key, const T* outputGradient, T* parameterGradient, T* inputGradient)
    {
        mlp_.pack(parameters);
        mlp_.setDropout(dropout, key);
        const long in = mlp_.view().layers[0].in;
        BackwardRows<T> rows = {};
        rows.in = inputRows(input);
        rows.outputGradient = outputGradient;
        rows.ldOutputGradient = mlp_.view().layers[mlp_.view().nLayers - 1].out;
        rows.gradient0 = {inputGradient, in, false, false, nullptr};

        const long size = mlp_.gradientEnd();
        T* gradients = gradients_.resize(nChunks(nRows)*size);
        forChunks(nRows, [&](int chunk, long begin, long end, int thread)
        {
            T* own = gradients + chunk*size;
            std::memset(own, 0, size*sizeof(T));
            kernels_.backward(mlp_.view(), rows, begin, end, own, scratch_[thread].data());
        });
        pool_.run(mlp_.nPieces(), [&](int piece, int thread)
        {
            mlp_.collect(piece, kernels_, gradients, size, nChunks(nRows), parameterGradient,
                scratch_[thread].data());
        });
    }

private:

    InputRows<T> inputRows(const T* input) const
    {
        return {input, mlp_.view().layers[0].in, nullptr, 0, nullptr, nullptr, 0, nullptr,
            nullptr};
    }

    static int nChunks(long nRows)
    {
        return static_cast<int>(std::clamp(nRows/rowsPerChunk, 1L, maxChunks));
    }

    template<class Body>
    void forChunks(long nRows, const Body& body)
    {
        const int n = nChunks(nRows);
        pool_.run(n, [&](int chunk, int thread)
        {
            body(chunk, chunk*nRows/n, (chunk + 1)*nRows/n, thread);
        });
    }

    ThreadPool& pool_;
    const Kernels<T>& kernels_;
    PackedMlp<T> mlp_;
    std::vector<AlignedBuffer<T>> scratch_;     //!< per thread
    AlignedBuffer<T> gradients_;                //!< per chunk
};


template<class T>
class Mlp final : public FlatModel
{
public:

    Mlp(const ModelShape& shape, ParameterSet parameters, int nLayers, Activation activation,
        double dropout, std::uint64_t seed, ThreadPool& pool)
    :
        FlatModel(shape, std::move(parameters), prefix + std::to_string(2*(nLayers - 1))),
        pass_(std::make_shared<MlpPass<T>>(parameters_, nLayers, activation, pool)),
        nLayers_(nLayers),
        activation_(activation),
        dropout_(dropout),
        draw_{seed, 0}
    {}

    at::Tensor forward(const GraphBatch& batch) override
    {
        check(batch);
        const bool drop = training_ && dropout_ > 0;
        std::uint64_t key = 0;
        if (drop)
        {
            ++draw_.count;
            key = draw_.seed + 0x2545f4914f6cdd1du*draw_.count + 0x9e3779b97f4a7c15u*rank_;
        }
        if (!at::GradMode::is_enabled())
        {
            at::Tensor output = predictionFor(batch);
            pass_->forward(parameters_.flat().const_data_ptr<T>(),
                batch.nodes.const_data_ptr<T>(), batch.nodes.size(0)*batch.nodes.size(1),
                drop ? dropout_ : 0, key, output.mutable_data_ptr<T>());
            return output;
        }
        auto call = c10::make_intrusive<Call>();
        call->pass = pass_;
        call->dropout = drop ? dropout_ : 0;
        call->key = key;
        return Operator::apply(parameters_.flat(), batch.nodes, call,
            std::int64_t(shape_.nOutputs));
    }

    void train(bool on) override { training_ = on; }
    void joinRanks(std::shared_ptr<Comm> comm) override { rank_ = comm->rank(); }
    bool handlesHalo() const override { return true; }

    std::string torchScript() const override
    {
        return "def network(self, nodes: Tensor, edge_index: Tensor, edges: Tensor) -> Tensor:\n"
            + mlpScript("y", "nodes", prefix, nLayers_, false, activation_) + "    return y\n";
    }

    std::vector<std::uint8_t> generatorState() const override
    {
        std::vector<std::uint8_t> bytes(sizeof(draw_));
        std::memcpy(bytes.data(), &draw_, sizeof(draw_));
        return bytes;
    }

    void setGeneratorState(const std::vector<std::uint8_t>& bytes) override
    {
        if (bytes.size() != sizeof(draw_))
        {
            throw Error("the dropout generator's state has " + std::to_string(bytes.size())
                + " bytes instead of " + std::to_string(sizeof(draw_)));
        }
        std::memcpy(&draw_, bytes.data(), sizeof(draw_));
    }

private:

    //- Shared between the two passes of one call
    struct Call : torch::CustomClassHolder
    {
        std::shared_ptr<MlpPass<T>> pass;
        double dropout;
        std::uint64_t key;
    };

    struct Operator : torch::autograd::Function<Operator>
    {
        static at::Tensor forward(torch::autograd::AutogradContext* context,
            const at::Tensor& parameters, const at::Tensor& nodes,
            const c10::intrusive_ptr<Call>& call, std::int64_t nOutputs)
        {
            at::Tensor output = at::empty({nodes.size(0), nodes.size(1), nOutputs},
                nodes.options());
            call->pass->forward(parameters.const_data_ptr<T>(), nodes.const_data_ptr<T>(),
                nodes.size(0)*nodes.size(1), call->dropout, call->key,
                output.mutable_data_ptr<T>());
            context->save_for_backward({parameters, nodes});
            context->saved_data["call"] = c10::IValue::make_capsule(call);
            return output;
        }

        static torch::autograd::variable_list backward(
            torch::autograd::AutogradContext* context,
            const torch::autograd::variable_list& outputGradients)
        {
            if (at::GradMode::is_enabled())
            {
                throw Error("mlp has no second derivatives; a loss must not ask for them");
            }
            const auto saved = context->get_saved_variables();
            const auto call = c10::static_intrusive_pointer_cast<Call>(
                context->saved_data["call"].toCapsule());
            const at::Tensor outputGradient = outputGradients[0].contiguous();
            const at::Tensor parameterGradient = at::empty_like(saved[0]);
            const at::Tensor nodeGradient = context->needs_input_grad(1)
                ? at::empty_like(saved[1]) : at::Tensor();
            call->pass->backward(saved[0].template const_data_ptr<T>(),
                saved[1].template const_data_ptr<T>(), saved[1].size(0)*saved[1].size(1),
                call->dropout, call->key, outputGradient.const_data_ptr<T>(),
                parameterGradient.mutable_data_ptr<T>(),
                nodeGradient.defined() ? nodeGradient.mutable_data_ptr<T>() : nullptr);
            return {parameterGradient, nodeGradient, at::Tensor(), at::Tensor()};
        }
    };

    //- The dropout generator: which draw of which sequence
    struct Draw
    {
        std::uint64_t seed;
        std::uint64_t count;
    };

    std::shared_ptr<MlpPass<T>> pass_;
    int nLayers_;
    Activation activation_;
    double dropout_;
    Draw draw_;
    std::uint64_t rank_ = 0;        // masks of the ranks differ
    bool training_ = true;
};

}


void MlpOptions::describe(Schema& schema)
{
    schema.key("layerSizes", layerSizes, "widths of all layers, input and output included;"
        " if absent, hiddenSize and hiddenLayers say it", Range::atLeast(1));
    schema.key("hiddenSize", hiddenSize, "width of the hidden layers", Range::atLeast(1));
    schema.key("hiddenLayers", hiddenLayers, "number of hidden layers", Range::atLeast(0));
    schema.key("dropout", dropout, "probability to drop a hidden value in training",
        {0, 1, false, true});
    schema.choice("activation", activation, activationWords(), "function between the layers");
    schema.key("flattenNonBatchDims", flattenNonBatchDims,
        "accepted for TorchFort's sake: rows are always separate samples");
}


ModelOptions::Size MlpOptions::size(const ModelShape& shape) const
{
    const auto linear = [](double from, double to) { return from*to + to; };
    Size size;
    if (layerSizes.empty())
    {
        const auto width = static_cast<double>(hiddenSize);
        const auto nHidden = static_cast<double>(hiddenLayers);
        size.tensors = 2*(nHidden + 1);
        size.numbers = hiddenLayers == 0 ? linear(shape.nNodeFeatures, shape.nOutputs)
            : linear(shape.nNodeFeatures, width) + (nHidden - 1)*linear(width, width)
                + linear(width, shape.nOutputs);
        return size;
    }
    for (std::size_t layer = 1; layer < layerSizes.size(); ++layer)
    {
        size.tensors += 2;
        size.numbers += linear(static_cast<double>(layerSizes[layer - 1]),
            static_cast<double>(layerSizes[layer]));
    }
    return size;
}


std::unique_ptr<Model> MlpOptions::build(const ModelShape& shape, Precision precision,
    std::uint64_t seed, ThreadPool& pool) const
{
    std::vector<std::int64_t> widths = layerSizes;
    if (widths.empty())
    {
        widths.assign(hiddenLayers + 2, hiddenSize);
        widths.front() = shape.nNodeFeatures;
        widths.back() = shape.nOutputs;
    }
    if (widths.size() < 2 || widths.front() != shape.nNodeFeatures
     || widths.back() != shape.nOutputs)
    {
        std::string written;
        for (const std::int64_t width : widths)
        {
            written += " " + std::to_string(width);
        }
        throw Error("model.layerSizes (" + written.substr(1) + ") does not fit the case, which has "
            + std::to_string(shape.nNodeFeatures) + " input columns and "
            + std::to_string(shape.nOutputs) + " output columns: start and end with these, or"
            " leave layerSizes out and give hiddenSize and hiddenLayers");
    }

    const int nLayers = static_cast<int>(widths.size()) - 1;
    ParameterSet parameters;
    for (int l = 0; l < nLayers; ++l)
    {
        parameters.declare(prefix + std::to_string(2*l) + ".weight", {widths[l + 1], widths[l]});
        parameters.declare(prefix + std::to_string(2*l) + ".bias", {widths[l + 1]});
    }
    parameters.allocate(scalarType(precision));
    at::Generator generator = makeGenerator(seed);
    for (int l = 0; l < nLayers; ++l)
    {
        initialiseLinear(parameters, prefix + std::to_string(2*l), generator);
    }

    const auto make = [&](auto zero) -> std::unique_ptr<Model>
    {
        return std::make_unique<Mlp<decltype(zero)>>(shape, std::move(parameters), nLayers,
            activationOf(activation), dropout, seed, pool);
    };
    return precision == Precision::float64 ? make(double()) : make(float());
}

}
