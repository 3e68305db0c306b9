// SPDX-License-Identifier: GPL-3.0-or-later
#include "DeviceSupport.hpp"
#include "Products.hpp"

// Each kernel by itself against LibTorch's operators in double.

namespace inSitu
{
namespace
{

using namespace test;
using namespace device;

template<class T>
class Kernels : public testing::Test
{
public:

    using A = Accumulator<T>;
    static constexpr bool isDouble = std::is_same_v<T, double>;

    //- Of results that are rounded once to T, and of sums
    static constexpr double rounding = isDouble ? 1e-14 : std::is_same_v<T, float> ? 1e-6 : 4e-3;
    static constexpr double sums = isDouble ? 1e-13 : 3e-6;

    void SetUp() override
    {
        INSITU_NEEDS_DEVICE();
        stream = currentStream(testDevice());
    }

    //- Random rows on the device whose columns beyond the width are zero, and the same in double
    at::Tensor rows(long n, int width, int ld, std::uint64_t seed)
    {
        const at::Tensor values = at::zeros({n, ld}, at::kDouble);
        values.narrow(1, 0, width).copy_(draw({n, width}, seed));
        return values.to(testDevice(), typeOf<T>());
    }

    at::Tensor parameters(int width, int ld, std::uint64_t seed)
    {
        const at::Tensor values = at::zeros({ld}, at::kDouble);
        values.narrow(0, 0, width).copy_(draw({width}, seed));
        return values.to(testDevice(), typeOf<A>());
    }

    at::Tensor sumsOf(at::IntArrayRef sizes)
    {
        return at::full(sizes, 777, at::dtype(typeOf<A>()).device(testDevice()));
    }

    at::Tensor like(const at::Tensor& t) { return at::full_like(t, 777); }

    static at::Tensor exact(const at::Tensor& t) { return t.to(at::kCPU, at::kDouble); }

    static T* data(const at::Tensor& t) { return static_cast<T*>(t.mutable_data_ptr()); }
    static A* numbers(const at::Tensor& t) { return static_cast<A*>(t.mutable_data_ptr()); }

    static at::Tensor index(Span<const std::int32_t> values)
    {
        return at::tensor(std::vector<std::int64_t>(values.begin(), values.end()), at::kLong);
    }

    GraphView view(const MeshGraph& graph, int samples)
    {
        const auto there = [&](Span<const std::int32_t> values)
        {
            held.push_back(uploaded(values.data(), values.size(), testDevice()));
            return static_cast<const std::int32_t*>(held.back().const_data_ptr());
        };
        return {graph.nNodes(), graph.nEdges(), samples, there(graph.receiverStart()),
            there(graph.senders()), there(graph.receivers()), there(graph.senderStart()),
            there(graph.senderEdge())};
    }

    Stream stream = nullptr;
    std::vector<at::Tensor> held;
};

#ifdef INSITU_CUDA_EMULATED
using StorageTypes = testing::Types<double, float, BFloat16>;
#else
using StorageTypes = testing::Types<double, float, BFloat16, Float16>;
#endif
TYPED_TEST_SUITE(Kernels, StorageTypes);

// Groups of 8, 16 and 32 lanes, and several vectors to a lane; not all fill their columns
const std::vector<int> widths{5, 24, 40, 128, 200, 264};


TYPED_TEST(Kernels, padAndCutRows)
{
    using Self = Kernels<TypeParam>;
    const at::Tensor in = draw({53, 5}, 1).to(testDevice(), typeOf<Accumulator<TypeParam>>());
    const at::Tensor padded = at::full({53, 8}, 777, at::dtype(typeOf<TypeParam>())
        .device(testDevice()));
    padRows<TypeParam>(this->stream, Self::numbers(in), 53, 5, Self::data(padded), 8);
    expectClose("padRows", padded.narrow(1, 0, 5), in, Self::rounding);
    EXPECT_EQ(padded.narrow(1, 5, 3).abs().sum().template item<double>(), 0);

    const at::Tensor bias = this->parameters(5, 8, 2);
    const at::Tensor out = this->sumsOf({53, 5});
    cutRows<TypeParam>(this->stream, Self::data(padded), 8, 53, 5, Self::numbers(bias),
        Self::numbers(out));
    expectClose("cutRows", out,
        Self::exact(padded).narrow(1, 0, 5) + Self::exact(bias).narrow(0, 0, 5), Self::sums);
}


TYPED_TEST(Kernels, repeatAndSumRows)
{
    using Self = Kernels<TypeParam>;
    const at::Tensor in = this->rows(37, 40, 40, 3);
    const at::Tensor out = at::full({3, 37, 40}, 777, in.options());
    repeatRows<TypeParam>(this->stream, Self::data(in), 37*40, 3, Self::data(out));
    EXPECT_TRUE(at::equal(out, in.unsqueeze(0).expand({3, 37, 40})));

    const at::Tensor three = this->rows(3*37, 40, 40, 4);
    const at::Tensor sum = this->like(in);
    sumRows<TypeParam>(this->stream, Self::data(three), 37*40, 3, Self::data(sum));
    expectClose("sumRows", sum, Self::exact(three).view({3, 37, 40}).sum(0), Self::rounding);
}


TYPED_TEST(Kernels, activate)
{
    using Self = Kernels<TypeParam>;
    const auto function = [](Activation activation, const at::Tensor& z)
    {
        switch (activation)
        {
            case Activation::relu: return at::relu(z);
            case Activation::silu: return at::silu(z);
            case Activation::gelu: return at::gelu(z);
            case Activation::tanh: return at::tanh(z);
            case Activation::elu: return at::elu(z);
            case Activation::leakyRelu: return at::leaky_relu(z);
            case Activation::sigmoid: return at::sigmoid(z);
            case Activation::identity: break;
        }
        return z.clone();
    };
    for (int number = 0; number < 8; ++number)
    {
        const auto activation = static_cast<Activation>(number);
        const int width = widths[number % widths.size()];
        const int ld = paddedColumns(width);
        const long n = 1000 + number;
        const std::string name = "activation " + std::to_string(number);

        const at::Tensor values = this->rows(n, width, ld, 5);
        const at::Tensor bias = this->parameters(width, ld, 6);
        at::Tensor z = Self::exact(values) + Self::exact(bias);
        const at::Tensor before = this->like(values);
        activate<TypeParam>(this->stream, {n, ld, Self::data(values), Self::numbers(bias),
            Self::data(before), activation});
        expectClose(name + " before", before, z, Self::rounding);
        expectClose(name, values, function(activation, z), Self::rounding);

        // Backward from the values that were stored
        const at::Tensor incoming = this->rows(n, width, ld, 7);
        const at::Tensor gradient = incoming.clone();
        const int count = partialCount<TypeParam>(n, ld);
        const at::Tensor partial = this->sumsOf({count, ld});
        activateBackward<TypeParam>(this->stream, {n, ld, Self::data(gradient),
            Self::data(values), Self::data(before), activation, Self::numbers(partial)});
        z = Self::exact(before).requires_grad_(true);
        function(activation, z).backward(Self::exact(incoming));
        // The slope of some follows from the rounded value behind the activation
        const double tolerance = Self::isDouble ? 1e-13 : std::max(Self::rounding, 3e-6)*3;
        expectClose(name + " backward", gradient, z.grad(), tolerance);
        expectClose(name + " sums", Self::exact(partial).sum(0), z.grad().sum(0),
            Self::isDouble ? 1e-12 : tolerance*3);
    }
}


TYPED_TEST(Kernels, gatherActivate)
{
    using Self = Kernels<TypeParam>;
    const auto graph = oddGraph();
    for (const int width : widths)
    {
        const int ld = paddedColumns(width);
        const int samples = 2;
        const long nEdges = graph->nEdges();
        const long nNodes = graph->nNodes();
        const at::Tensor values = this->rows(samples*nEdges, width, ld, 8);
        const at::Tensor terms = this->rows(samples*nNodes, 2*ld, 2*ld, 9);
        const at::Tensor bias = this->parameters(width, ld, 10);
        const at::Tensor before = this->like(values);

        const at::Tensor t = Self::exact(terms).view({samples, nNodes, 2*ld});
        const at::Tensor z = Self::exact(values).view({samples, nEdges, ld})
            + t.narrow(2, 0, ld).index_select(1, Self::index(graph->senders()))
            + t.narrow(2, ld, ld).index_select(1, Self::index(graph->receivers()))
            + Self::exact(bias);
        gatherActivate<TypeParam>(this->stream, {this->view(*graph, samples), ld,
            Self::data(values), Self::data(terms), nullptr, Self::numbers(bias),
            Self::data(before), Activation::relu});
        const std::string name = "gatherActivate " + std::to_string(width);
        expectClose(name + " before", before, z, Self::rounding);
        expectClose(name, values, at::relu(z), Self::rounding);
    }
}


TYPED_TEST(Kernels, segmentSums)
{
    using Self = Kernels<TypeParam>;
    const auto graph = oddGraph();
    for (const int width : widths)
    {
        const int ld = paddedColumns(width);
        const int samples = 2;
        const at::Tensor rows = this->rows(samples*graph->nEdges(), width, ld, 11);
        const at::Tensor terms = at::full({samples*graph->nNodes(), 2*ld}, 777, rows.options());
        segmentSums<TypeParam>(this->stream, {this->view(*graph, samples), ld, Self::data(rows),
            nullptr, Self::data(terms)});

        const at::Tensor exact = Self::exact(rows).view({samples, graph->nEdges(), ld});
        const at::Tensor none = at::zeros({samples, graph->nNodes(), ld}, at::kDouble);
        const at::Tensor expected = at::cat({
            none.index_add(1, Self::index(graph->senders()), exact),
            none.index_add(1, Self::index(graph->receivers()), exact)}, 2);
        expectClose("segmentSums " + std::to_string(width), terms, expected, Self::rounding);
    }
}


TYPED_TEST(Kernels, normalise)
{
    using Self = Kernels<TypeParam>;
    const auto graph = oddGraph();
    const long nEdges = graph->nEdges();
    const long nNodes = graph->nNodes();
    const at::Tensor receivers = Self::index(graph->receivers());
    const at::Tensor counts = at::zeros({nNodes, 1}, at::kDouble).index_add(0, receivers,
        at::ones({nEdges, 1}, at::kDouble)).clamp_min(1);
    for (const int width : widths)
    {
        for (const bool mean : {false, true})
        {
            const int ld = paddedColumns(width);
            const int samples = 2;
            const std::string name = "normalise " + std::to_string(width) + (mean ? " mean" : "");
            const GraphView view = this->view(*graph, samples);
            const at::Tensor z = this->rows(samples*nEdges, width, ld, 12);
            const at::Tensor residual = this->rows(samples*nEdges, width, ld, 13);
            const at::Tensor bias = this->parameters(width, ld, 14);
            const at::Tensor gain = this->parameters(width, ld, 15);
            const at::Tensor shift = this->parameters(width, ld, 16);
            const at::Tensor after = this->like(z);
            const at::Tensor sums = at::full({samples*nNodes, 2*ld}, 777, z.options());
            const at::Tensor statistics = this->sumsOf({samples*nEdges, 2});

            NormaliseForward<TypeParam> f = {};
            f.rows = nEdges;
            f.nTargets = nNodes;
            f.nSamples = samples;
            f.width = width;
            f.ld = ld;
            f.start = view.start;
            f.z = Self::data(z);
            f.residual = Self::data(residual);
            f.ldResidual = ld;
            f.after = Self::data(after);
            f.ldAfter = ld;
            f.sums = Self::data(sums);
            f.ldSums = 2*ld;
            f.mean = mean;
            f.bias = Self::numbers(bias);
            f.gain = Self::numbers(gain);
            f.shift = Self::numbers(shift);
            f.statistics = Self::numbers(statistics);
            normaliseForward<TypeParam>(this->stream, f);

            const auto cut = [&](const at::Tensor& t)
                { return Self::exact(t).narrow(-1, 0, width).clone(); };
            const at::Tensor zExact = (cut(z) + cut(bias)).requires_grad_(true);
            const at::Tensor rExact = cut(residual).requires_grad_(true);
            const at::Tensor g = cut(gain).requires_grad_(true);
            const at::Tensor b = cut(shift).requires_grad_(true);
            const at::Tensor a = at::layer_norm(zExact, {width}, g, b, 1e-5) + rExact;
            const auto sumsOf = [&](const at::Tensor& t)
            {
                const at::Tensor s = at::zeros({samples, nNodes, width}, at::kDouble)
                    .index_add(1, receivers, t.view({samples, nEdges, width}));
                return (mean ? s/counts : s).view({samples*nNodes, width});
            };
            const at::Tensor s = sumsOf(a);
            expectClose(name + " after", cut(after), a, Self::rounding);
            expectClose(name + " sums", cut(sums), s, Self::rounding);
            EXPECT_EQ(sums.narrow(1, width, ld - width).abs().sum().template item<double>(), 0);
            EXPECT_EQ(after.narrow(1, width, ld - width).abs().sum().template item<double>(), 0);

            const at::Tensor gradient = this->rows(samples*nEdges, width, ld, 17);
            const at::Tensor sumGradient = this->rows(samples*nNodes, 2*ld, 2*ld, 18);
            const at::Tensor total = gradient.clone();
            const at::Tensor dz = this->like(z);
            const at::Tensor cleared = at::full({samples*nEdges, 2*ld}, 777, z.options());
            const int count = partialCount<TypeParam>(samples*nEdges, ld);
            const at::Tensor partial = this->sumsOf({count, 3, ld});
            NormaliseBackward<TypeParam> n = {};
            n.rows = nEdges;
            n.nTargets = nNodes;
            n.nSamples = samples;
            n.width = width;
            n.ld = ld;
            n.z = Self::data(z);
            n.bias = Self::numbers(bias);
            n.statistics = Self::numbers(statistics);
            n.gain = Self::numbers(gain);
            n.gradient = Self::data(total);
            n.ldGradient = ld;
            n.sumGradient = Self::data(sumGradient);
            n.ldSumGradient = 2*ld;
            n.receivers = view.receivers;
            n.start = view.start;
            n.mean = mean;
            n.total = Self::data(total);
            n.ldTotal = ld;
            n.dz = Self::data(dz);
            n.cleared = Self::data(cleared);
            n.ldCleared = 2*ld;
            n.partial = Self::numbers(partial);
            normaliseBackward<TypeParam>(this->stream, n);

            torch::autograd::backward({a, s}, {cut(gradient), cut(sumGradient)});
            expectClose(name + " total", cut(total), rExact.grad(), Self::rounding);
            expectClose(name + " dz", cut(dz), zExact.grad(), Self::rounding);
            EXPECT_EQ(dz.narrow(1, width, ld - width).abs().sum().template item<double>(), 0);
            EXPECT_EQ(cleared.narrow(1, 0, ld).abs().sum().template item<double>(), 0);
            EXPECT_TRUE(at::equal(cleared.narrow(1, ld, ld),
                this->like(cleared).narrow(1, ld, ld)));
            const at::Tensor p = cut(partial).sum(0);
            const double tolerance = Self::isDouble ? 1e-12 : 2e-5;
            expectClose(name + " d gain", p[0], g.grad(), tolerance);
            expectClose(name + " d shift", p[1], b.grad(), tolerance);
            expectClose(name + " d bias", p[2].to(at::kDouble), zExact.grad().sum(0),
                Self::isDouble ? 1e-11 : 1e-3);
        }
    }
}


//- Without receivers, without a residual, in place
TYPED_TEST(Kernels, normaliseRowsByThemselves)
{
    using Self = Kernels<TypeParam>;
    const long n = 777;
    const int width = 40;
    const at::Tensor z = this->rows(n, width, width, 19);
    const at::Tensor bias = this->parameters(width, width, 20);
    const at::Tensor gain = this->parameters(width, width, 21);
    const at::Tensor shift = this->parameters(width, width, 22);
    const at::Tensor statistics = this->sumsOf({n, 2});
    const at::Tensor after = at::full({n, 2*width}, 777, z.options());

    NormaliseForward<TypeParam> f = {};
    f.rows = n;
    f.nTargets = n;
    f.nSamples = 1;
    f.width = width;
    f.ld = width;
    f.z = Self::data(z);
    f.after = Self::data(after) + width;
    f.ldAfter = 2*width;
    f.bias = Self::numbers(bias);
    f.gain = Self::numbers(gain);
    f.shift = Self::numbers(shift);
    f.statistics = Self::numbers(statistics);
    normaliseForward<TypeParam>(this->stream, f);

    const at::Tensor zExact = (Self::exact(z) + Self::exact(bias)).requires_grad_(true);
    const at::Tensor a = at::layer_norm(zExact, {width}, Self::exact(gain), Self::exact(shift),
        1e-5);
    expectClose("rows after", after.narrow(1, width, width), a, Self::rounding);

    const at::Tensor gradient = this->rows(n, 2*width, 2*width, 23);
    const at::Tensor partial = this->sumsOf({partialCount<TypeParam>(n, width), 3, width});
    NormaliseBackward<TypeParam> b = {};
    b.rows = n;
    b.nTargets = n;
    b.nSamples = 1;
    b.width = width;
    b.ld = width;
    b.z = Self::data(z);
    b.bias = Self::numbers(bias);
    b.statistics = Self::numbers(statistics);
    b.gain = Self::numbers(gain);
    b.gradient = Self::data(gradient) + width;
    b.ldGradient = 2*width;
    b.dz = Self::data(z);
    b.partial = Self::numbers(partial);
    normaliseBackward<TypeParam>(this->stream, b);
    a.backward(Self::exact(gradient).narrow(1, width, width));
    expectClose("rows dz", z, zExact.grad(), Self::rounding);
}


TYPED_TEST(Kernels, packAndUnpack)
{
    using Self = Kernels<TypeParam>;
    using A = Accumulator<TypeParam>;
    const at::Tensor flat = draw({300}, 24).to(testDevice(), typeOf<A>());
    // Columns 2..8 of a 10 x 9 matrix at 7, and a vector of 11 at 150
    const std::vector<Segment> segments{{7 + 2, 10, 7, 9, 16, 8, -1}, {150, 1, 11, 11, 128, 11, 4}};
    const at::Tensor there = uploaded(segments.data(), segments.size(), testDevice());
    const auto* s = static_cast<const Segment*>(there.const_data_ptr());
    const at::Tensor packed = at::zeros({200}, at::dtype(typeOf<TypeParam>()).device(testDevice()));
    const at::Tensor vectors = at::zeros({20}, flat.options());
    packParameters<TypeParam>(this->stream, s, 2, Self::numbers(flat), Self::data(packed),
        Self::numbers(vectors));
    const at::Tensor exact = Self::exact(flat);
    const at::Tensor matrix = exact.narrow(0, 7, 90).view({10, 9}).narrow(1, 2, 7);
    expectClose("packed matrix", packed.narrow(0, 16, 80).view({10, 8}).narrow(1, 0, 7), matrix,
        Self::rounding);
    expectClose("packed vector", packed.narrow(0, 128, 11), exact.narrow(0, 150, 11),
        Self::rounding);
    expectClose("vector", vectors.narrow(0, 4, 11), exact.narrow(0, 150, 11), 0);
    EXPECT_EQ(packed.narrow(0, 0, 16).abs().sum().template item<double>(), 0);

    const at::Tensor gradients = draw({200}, 25).to(testDevice(), typeOf<A>());
    const at::Tensor back = at::full_like(flat, 777);
    unpackGradients<A>(this->stream, s, 2, Self::numbers(gradients), Self::numbers(back));
    const at::Tensor expected = at::full({300}, 777, at::kDouble);
    expected.narrow(0, 7, 90).view({10, 9}).narrow(1, 2, 7).copy_(
        Self::exact(gradients).narrow(0, 16, 80).view({10, 8}).narrow(1, 0, 7));
    expectClose("unpacked", back, expected, 0);

    const at::Tensor partial = draw({1100, 40}, 26).to(testDevice(), typeOf<A>());
    const std::vector<ColumnSum> sums{{20, 33, 4, 40, 1099}, {100, 5, 0, 40, 0}};
    const at::Tensor sumsThere = uploaded(sums.data(), sums.size(), testDevice());
    finishSums<A>(this->stream, static_cast<const ColumnSum*>(sumsThere.const_data_ptr()), 2, 33,
        Self::numbers(partial), Self::numbers(back));
    expectClose("finished", back.narrow(0, 20, 33),
        Self::exact(partial).narrow(0, 0, 1099).narrow(1, 4, 33).sum(0), Self::sums*10);
    EXPECT_EQ(back.narrow(0, 100, 5).abs().sum().template item<double>(), 0);
}


TYPED_TEST(Kernels, products)
{
    using Self = Kernels<TypeParam>;
    using A = Accumulator<TypeParam>;
    Products<TypeParam> products(testDevice(), false, false);
    struct Shape { long rows; int in, out; };
    const std::vector<Shape> shapes = isEmulated ? std::vector<Shape>{{1, 8, 8}, {37, 24, 40}}
        : std::vector<Shape>{{1, 8, 8}, {37, 24, 40}, {5, 128, 128}, {7920, 128, 128},
            {50000, 128, 128}, {9000, 128, 256}, {9000, 256, 128}, {9000, 128, 8}, {9001, 8, 128}};
    for (const Shape& shape : shapes)
    {
        const std::string name = "product " + std::to_string(shape.rows) + ' '
            + std::to_string(shape.in) + ' ' + std::to_string(shape.out);
        const int ld = 2*shape.in;              // x is the right half of wider rows
        const at::Tensor wide = this->rows(shape.rows, ld, ld, 27);
        const at::Tensor x = wide.narrow(1, shape.in, shape.in);
        const at::Tensor w = this->rows(shape.out, shape.in, shape.in, 28);
        const at::Tensor bias = this->rows(1, shape.out, shape.out, 29);
        const at::Tensor y = at::full({shape.rows, shape.out}, 777, w.options());
        const Rows<const TypeParam> xRows{Self::data(wide) + shape.in, ld};
        const Rows<const TypeParam> wRows{Self::data(w), shape.in};

        const at::Tensor z = Self::exact(x).mm(Self::exact(w).t());
        EXPECT_FALSE(products.forward(this->stream, xRows, wRows, nullptr,
            {Self::data(y), shape.out}, shape.rows, shape.in, shape.out));
        expectClose(name + " forward", y, z, Self::rounding);
        const bool fused = products.forward(this->stream, xRows, wRows, Self::data(bias),
            {Self::data(y), shape.out}, shape.rows, shape.in, shape.out);
        std::cout << "  (bias and relu " << (fused ? "along" : "apart") << ")\n";
        expectClose(name + " bias relu", y, fused ? at::relu(z + Self::exact(bias)) : z,
            Self::rounding);

        const at::Tensor dy = this->rows(shape.rows, shape.out, shape.out, 30);
        const at::Tensor dxExact = Self::exact(dy).mm(Self::exact(w));
        const at::Tensor dx = wide.clone();
        const Rows<TypeParam> dxRows{Self::data(dx) + shape.in, ld};
        for (const bool add : {true, false})
        {
            products.inputGradient(this->stream, {Self::data(dy), shape.out}, wRows, dxRows,
                shape.rows, shape.in, shape.out, add);
            expectClose(name + (add ? " dx added" : " dx"), dx.narrow(1, shape.in, shape.in),
                add ? dxExact + Self::exact(x) : dxExact, Self::rounding);
        }
        EXPECT_TRUE(at::equal(dx.narrow(1, 0, shape.in), wide.narrow(1, 0, shape.in)));

        const at::Tensor dw = this->sumsOf({shape.out, shape.in});
        const auto weightGradient = [&](const at::Tensor& into)
        {
            products.weightGradient(this->stream, {Self::data(dy), shape.out}, xRows,
                Rows<A>{Self::numbers(into), shape.in}, shape.rows, shape.in, shape.out);
        };
        weightGradient(dw);
        expectClose(name + " dw", dw, Self::exact(dy).t().mm(Self::exact(x)),
            Self::isDouble ? 1e-13 : 1e-5);
        const at::Tensor again = this->sumsOf({shape.out, shape.in});
        weightGradient(again);
        EXPECT_TRUE(at::equal(dw, again)) << name << ": other bits the second time";
    }
}

}
}
