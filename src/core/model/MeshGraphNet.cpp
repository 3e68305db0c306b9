// SPDX-License-Identifier: GPL-3.0-or-later

#include "model/MeshGraphNet.hpp"

#include "base/Error.hpp"
#include "model/ActivationWords.hpp"
#include "model/DeviceLibrary.hpp"
#include "model/FlatModel.hpp"
#include "model/GraphBatch.hpp"
#include "model/Initialise.hpp"
#include "model/MeshGraphNetPass.hpp"
#include "model/NetworkScript.hpp"

#include <torch/csrc/autograd/custom_function.h>

namespace inSitu
{

namespace
{

//- A tape as autograd can hold it
template<class T>
struct HeldTape : torch::CustomClassHolder
{
    std::unique_ptr<typename GraphPass<T>::Tape> tape;
};


template<class T>
class MeshGraphNet final : public FlatModel
{
public:

    MeshGraphNet(const ModelShape& shape, const MeshGraphNetSizes& sizes, ParameterSet parameters,
        ThreadPool& pool)
    :
        FlatModel(shape, std::move(parameters),
            sizes.decoderPrefix + std::to_string(2*sizes.decoderLayers)),
        sizes_(sizes),
        pass_(std::make_shared<MeshGraphNetPass<T>>(sizes, parameters_, pool))
    {}

    at::Tensor forward(const GraphBatch& batch) override;
    void train(bool) override {}
    void freeze() override;
    void joinRanks(std::shared_ptr<Comm> comm) override;
    bool runsOnGpus() const override { return true; }
    void moveTo(DeviceLibrary& library, const DeviceChoice& choice) override;
    bool handlesHalo() const override { return true; }
    bool sumsGradients() const override { return true; }
    std::string torchScript() const override;

    const MeshGraphNetSizes& sizes() const { return sizes_; }

private:

    struct Operator;

    //- One that no autograd graph holds any more
    c10::intrusive_ptr<HeldTape<T>> freeTape();

    //- Keep or use the encoding of the edges, if the model is frozen and this is a prediction
    typename GraphPass<T>::Encoding encodingOf(const GraphBatch& batch);

    MeshGraphNetSizes sizes_;
    std::shared_ptr<GraphPass<T>> pass_;
    bool frozen_ = false;
    GraphBatch encoded_;        // whose edges are kept, held so that addresses are not met again
    std::vector<c10::intrusive_ptr<HeldTape<T>>> tapes_;
};


template<class T>
struct MeshGraphNet<T>::Operator : torch::autograd::Function<Operator>
{
    //- Shared between the two passes of one call
    struct Call : torch::CustomClassHolder
    {
        std::shared_ptr<GraphPass<T>> pass;
        std::shared_ptr<const MeshGraph> graph;
        c10::intrusive_ptr<HeldTape<T>> tape;

        typename GraphPass<T>::Input input(const at::Tensor& nodes,
            const at::Tensor& edges) const
        {
            return {graph, nodes.size(0), nodes.const_data_ptr<T>(),
                edges.const_data_ptr<T>()};
        }
    };

    static at::Tensor forward(torch::autograd::AutogradContext* context,
        const at::Tensor& parameters, const at::Tensor& nodes, const at::Tensor& edges,
        const c10::intrusive_ptr<Call>& call, std::int64_t nOutputs)
    {
        at::Tensor output = at::empty({nodes.size(0), nodes.size(1), nOutputs}, nodes.options());
        call->pass->forward(parameters.const_data_ptr<T>(), call->input(nodes, edges),
            call->tape->tape.get(), output.mutable_data_ptr<T>(),
            GraphPass<T>::Encoding::fresh);
        context->save_for_backward({parameters, nodes, edges});
        context->saved_data["call"] = c10::IValue::make_capsule(call);
        return output;
    }

    static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
        const torch::autograd::variable_list& outputGradients)
    {
        if (at::GradMode::is_enabled())
        {
            throw Error("meshGraphNet has no second derivatives; a loss must not ask for them");
        }
        const auto saved = context->get_saved_variables();
        const at::Tensor& parameters = saved[0];
        const at::Tensor& nodes = saved[1];
        const at::Tensor& edges = saved[2];
        const auto call = c10::static_intrusive_pointer_cast<Call>(
            context->saved_data["call"].toCapsule());

        const at::Tensor outputGradient = outputGradients[0].contiguous();
        const auto wanted = [](const at::Tensor& tensor, bool needed)
        {
            return needed ? at::empty_like(tensor) : at::Tensor();
        };
        const at::Tensor parameterGradient = at::empty_like(parameters);
        const at::Tensor nodeGradient = wanted(nodes, context->needs_input_grad(1));
        const at::Tensor edgeGradient = wanted(edges, context->needs_input_grad(2));
        const auto data = [](const at::Tensor& tensor)
        {
            return tensor.defined() ? tensor.mutable_data_ptr<T>() : nullptr;
        };
        call->pass->backward(parameters.const_data_ptr<T>(), call->input(nodes, edges),
            *call->tape->tape, outputGradient.const_data_ptr<T>(), data(parameterGradient),
            data(nodeGradient), data(edgeGradient));
        return {parameterGradient, nodeGradient, edgeGradient, at::Tensor(), at::Tensor()};
    }
};


template<class T>
at::Tensor MeshGraphNet<T>::forward(const GraphBatch& batch)
{
    check(batch);
    const typename GraphPass<T>::Encoding encoding = encodingOf(batch);
    if (!at::GradMode::is_enabled())
    {
        at::Tensor output = predictionFor(batch);
        pass_->forward(parameters_.flat().const_data_ptr<T>(),
            {batch.graph, batch.nodes.size(0), batch.nodes.const_data_ptr<T>(),
                batch.edges.const_data_ptr<T>()},
            nullptr, output.mutable_data_ptr<T>(), encoding);
        return output;
    }
    auto call = c10::make_intrusive<typename Operator::Call>();
    call->pass = pass_;
    call->graph = batch.graph;
    call->tape = freeTape();
    return Operator::apply(parameters_.flat(), batch.nodes, batch.edges, call,
        std::int64_t(shape_.nOutputs));
}


template<class T>
void MeshGraphNet<T>::freeze()
{
    frozen_ = true;
    encoded_ = {};
}


template<class T>
void MeshGraphNet<T>::moveTo(DeviceLibrary& library, const DeviceChoice& choice)
{
    pass_ = library.meshGraphNet<T>(sizes_, parameters_, choice);
    parameters_.moveTo(library.device(choice.index));
    tapes_.clear();
}


template<class T>
void MeshGraphNet<T>::joinRanks(std::shared_ptr<Comm> comm)
{
    if (comm->size() > 1)
    {
        pass_->joinRanks(std::move(comm));
    }
}


template<class T>
typename GraphPass<T>::Encoding MeshGraphNet<T>::encodingOf(const GraphBatch& batch)
{
    using Encoding = typename GraphPass<T>::Encoding;

    if (!frozen_ || batch.edgesVary || at::GradMode::is_enabled() || batch.nodes.size(0) != 1)
    {
        encoded_ = {};      // the work memory is used otherwise
        return Encoding::fresh;
    }
    if (encoded_.graph == batch.graph && encoded_.edges.is_same(batch.edges))
    {
        return Encoding::kept;
    }
    encoded_.graph = batch.graph;
    encoded_.edges = batch.edges;
    return Encoding::keep;
}


template<class T>
c10::intrusive_ptr<HeldTape<T>> MeshGraphNet<T>::freeTape()
{
    for (const auto& tape : tapes_)
    {
        if (tape.use_count() == 1)
        {
            return tape;
        }
    }
    tapes_.push_back(c10::make_intrusive<HeldTape<T>>());
    tapes_.back()->tape = pass_->makeTape();
    return tapes_.back();
}


template<class T>
std::string MeshGraphNet<T>::torchScript() const
{
    const MeshGraphNetSizes& s = sizes_;
    const auto mlp = [&](const std::string& target, const std::string& input,
        const std::string& prefix, int layers, bool normalised)
    {
        return mlpScript(target, input, prefix, layers + 1, normalised, s.activation);
    };

    std::string text =
        "def network(self, nodes: Tensor, edge_index: Tensor, edges: Tensor) -> Tensor:\n"
        "    sender = edge_index[0]\n"
        "    receiver = edge_index[1]\n";
    if (s.mean)
    {
        text +=
            "    ones = torch.ones([receiver.size(0), 1], dtype=nodes.dtype, device=nodes.device)\n"
            "    degree = torch.zeros([nodes.size(0), 1], dtype=nodes.dtype, device=nodes.device)\n"
            "    degree = torch.clamp(torch.index_add(degree, 0, receiver, ones), min=1.0)\n";
    }
    text += mlp("e", "edges", s.edgeEncoderPrefix, s.edgeEncoderLayers, true);
    text += mlp("x", "nodes", s.nodeEncoderPrefix, s.nodeEncoderLayers, true);
    for (int block = 0; block < s.blocks; ++block)
    {
        text += mlp("d", "torch.cat([e, torch.index_select(x, 0, sender), "
            "torch.index_select(x, 0, receiver)], 1)", s.edgePrefix(block),
            s.edgeProcessorLayers, true);
        text += "    e = d + e\n"
            "    a = torch.index_add(torch.zeros_like(x), 0, receiver, e)\n";
        text += s.mean ? "    a = a/degree\n" : "";
        text += mlp("d", "torch.cat([a, x], 1)", s.nodePrefix(block), s.nodeProcessorLayers,
            true);
        text += "    x = d + x\n";
    }
    text += mlp("y", "x", s.decoderPrefix, s.decoderLayers, false);
    return text + "    return y\n";
}


template<class T>
std::unique_ptr<Model> make(const ModelShape& shape, const MeshGraphNetSizes& sizes,
    Precision precision, std::uint64_t seed, ThreadPool& pool)
{
    ParameterSet parameters = sizes.declare();
    parameters.allocate(scalarType(precision));
    at::Generator generator = makeGenerator(seed);
    sizes.initialise(parameters, generator);
    return std::make_unique<MeshGraphNet<T>>(shape, sizes, std::move(parameters), pool);
}

}


void MeshGraphNetOptions::describe(Schema& schema)
{
    const Range positive = Range::atLeast(1);
    schema.key("processorSize", processorSize, "message passing blocks", positive);
    schema.key("hiddenSize", hiddenSize, "width of every hidden layer and state", positive);
    schema.key("hiddenDimProcessor", hiddenDimProcessor,
        "width of node and edge states; hiddenSize if absent", positive);
    schema.key("hiddenDimNodeEncoder", hiddenDimNodeEncoder,
        "width inside the node encoder; hiddenSize if absent", positive);
    schema.key("hiddenDimEdgeEncoder", hiddenDimEdgeEncoder,
        "width inside the edge encoder; hiddenSize if absent", positive);
    schema.key("hiddenDimNodeDecoder", hiddenDimNodeDecoder,
        "width inside the decoder; hiddenSize if absent", positive);
    schema.key("hiddenLayersProcessor", hiddenLayersProcessor,
        "hidden layers of each MLP of the blocks", positive);
    schema.key("hiddenLayersEncoder", hiddenLayersEncoder,
        "hidden layers of both encoders", positive);
    schema.key("hiddenLayersDecoder", hiddenLayersDecoder, "hidden layers of the decoder",
        positive);
    schema.key("numLayersNodeProcessor", numLayersNodeProcessor,
        "hidden layers of the blocks' node MLP; hiddenLayersProcessor if absent", positive);
    schema.key("numLayersEdgeProcessor", numLayersEdgeProcessor,
        "hidden layers of the blocks' edge MLP; hiddenLayersProcessor if absent", positive);
    schema.key("numLayersNodeEncoder", numLayersNodeEncoder,
        "hidden layers of the node encoder; hiddenLayersEncoder if absent", positive);
    schema.key("numLayersEdgeEncoder", numLayersEdgeEncoder,
        "hidden layers of the edge encoder; hiddenLayersEncoder if absent", positive);
    schema.key("numLayersNodeDecoder", numLayersNodeDecoder,
        "hidden layers of the decoder; hiddenLayersDecoder if absent", positive);
    schema.choice("aggregation", aggregation, {"sum", "mean"},
        "how messages to a node are combined");
    schema.choice("activation", activation, activationWords(),
        "function between the layers of every MLP");
}


MeshGraphNetSizes MeshGraphNetOptions::sizes(const ModelShape& shape) const
{
    const auto of = [](const std::optional<std::int64_t>& special, std::int64_t common)
    {
        return static_cast<int>(special.value_or(common));
    };
    MeshGraphNetSizes s;
    s.nodeFeatures = shape.nNodeFeatures;
    s.edgeFeatures = shape.nEdgeFeatures;
    s.outputs = shape.nOutputs;
    s.blocks = static_cast<int>(processorSize);
    s.width = of(hiddenDimProcessor, hiddenSize);
    s.nodeEncoderWidth = of(hiddenDimNodeEncoder, hiddenSize);
    s.edgeEncoderWidth = of(hiddenDimEdgeEncoder, hiddenSize);
    s.decoderWidth = of(hiddenDimNodeDecoder, hiddenSize);
    s.nodeProcessorLayers = of(numLayersNodeProcessor, hiddenLayersProcessor);
    s.edgeProcessorLayers = of(numLayersEdgeProcessor, hiddenLayersProcessor);
    s.nodeEncoderLayers = of(numLayersNodeEncoder, hiddenLayersEncoder);
    s.edgeEncoderLayers = of(numLayersEdgeEncoder, hiddenLayersEncoder);
    s.decoderLayers = of(numLayersNodeDecoder, hiddenLayersDecoder);
    s.activation = activationOf(activation);
    s.mean = aggregation == "mean";
    return s;
}


ModelOptions::Size MeshGraphNetOptions::size(const ModelShape& shape) const
{
    const auto of = [](const std::optional<std::int64_t>& special, std::int64_t common)
        { return static_cast<double>(special.value_or(common)); };

    // Hidden layers of one width, an output layer, perhaps a LayerNorm behind
    Size size;
    const auto add = [&](double times, double from, double width, double to, double layers,
        bool norm)
    {
        size.tensors += times*(2*(layers + 1) + (norm ? 2 : 0));
        size.numbers += times*(from*width + width + (layers - 1)*(width*width + width)
            + width*to + to + (norm ? 2*to : 0));
    };
    const double width = of(hiddenDimProcessor, hiddenSize);
    const auto blocks = static_cast<double>(processorSize);
    add(1, shape.nEdgeFeatures, of(hiddenDimEdgeEncoder, hiddenSize), width,
        of(numLayersEdgeEncoder, hiddenLayersEncoder), true);
    add(1, shape.nNodeFeatures, of(hiddenDimNodeEncoder, hiddenSize), width,
        of(numLayersNodeEncoder, hiddenLayersEncoder), true);
    add(1, width, of(hiddenDimNodeDecoder, hiddenSize), shape.nOutputs,
        of(numLayersNodeDecoder, hiddenLayersDecoder), false);
    add(blocks, 3*width, width, width, of(numLayersEdgeProcessor, hiddenLayersProcessor), true);
    add(blocks, 2*width, width, width, of(numLayersNodeProcessor, hiddenLayersProcessor), true);
    return size;
}


std::unique_ptr<Model> MeshGraphNetOptions::build(const ModelShape& shape, Precision precision,
    std::uint64_t seed, ThreadPool& pool) const
{
    return precision == Precision::float64
        ? make<double>(shape, sizes(shape), precision, seed, pool)
        : make<float>(shape, sizes(shape), precision, seed, pool);
}


std::optional<MeshGraphNetSizes> sizesOf(const Model& model)
{
    if (const auto* const single = dynamic_cast<const MeshGraphNet<float>*>(&model))
    {
        return single->sizes();
    }
    if (const auto* const wide = dynamic_cast<const MeshGraphNet<double>*>(&model))
    {
        return wide->sizes();
    }
    return std::nullopt;
}

}
