// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/losses/Losses.hpp"

#include "train/FixedChunks.hpp"

#include <torch/csrc/autograd/custom_function.h>

#include <cmath>

namespace inSitu
{
namespace
{

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Square
{
    static at::Tensor of(const at::Tensor& d) { return d.square(); }
    static double value(double d) { return d*d; }
    static double slope(double d) { return 2*d; }
};

struct Magnitude
{
    static at::Tensor of(const at::Tensor& d) { return d.abs(); }
    static double value(double d) { return std::abs(d); }

    static double slope(double d)
    {
        return static_cast<double>(d > 0) - static_cast<double>(d < 0);
    }
};


constexpr std::int64_t rowsPerChunk = 2048;

//- Where the rows of a batch lie
struct Rows
{
    Rows(const at::Tensor& prediction, const at::Tensor& target)
    :
        nCells(target.size(1)),
        nNodes(prediction.size(1)),
        nColumns(target.size(2)),
        count(target.size(0)*nCells)
    {}

    //- Offset in the prediction of row r of the target
    std::int64_t inPrediction(std::int64_t r) const
    {
        return ((r/nCells)*nNodes + r%nCells)*nColumns;
    }

    std::int64_t nCells;
    std::int64_t nNodes;
    std::int64_t nColumns;
    std::int64_t count;
};


template<class Term, class Value>
double sumOfTerms(ThreadPool& pool, const Rows& rows, const Value* prediction,
    const Value* target, const double* weight)
{
    return sumChunks(pool, rows.count,
        [&](std::int64_t first, std::int64_t last)
        {
            double sum = 0;
            for (std::int64_t r = first; r < last; ++r)
            {
                const Value* p = prediction + rows.inPrediction(r);
                const Value* t = target + r*rows.nColumns;
                double row = 0;
                for (std::int64_t c = 0; c < rows.nColumns; ++c)
                {
                    row += Term::value(static_cast<double>(p[c]) - static_cast<double>(t[c]));
                }
                sum += weight[r % rows.nCells]*row;
            }
            return sum;
        },
        rowsPerChunk);
}


template<class Term, class Value>
void slopes(ThreadPool& pool, const Rows& rows, const Value* prediction, const Value* target,
    const double* weight, double factor, Value* gradient)
{
    forChunks(pool, rows.count,
        [&](std::int64_t first, std::int64_t last, int)
        {
            for (std::int64_t r = first; r < last; ++r)
            {
                const std::int64_t offset = rows.inPrediction(r);
                const Value* t = target + r*rows.nColumns;
                const double rowFactor = factor*weight[r % rows.nCells];
                for (std::int64_t c = 0; c < rows.nColumns; ++c)
                {
                    const double d =
                        static_cast<double>(prediction[offset + c]) - static_cast<double>(t[c]);
                    gradient[offset + c] = static_cast<Value>(rowFactor*Term::slope(d));
                }
            }
        },
        rowsPerChunk);
}


//- factor times the weighted sum of a term of (prediction − target) over the cells
template<class Term>
class WeightedSum final : public torch::autograd::Function<WeightedSum<Term>>
{
public:

    static at::Tensor forward(AutogradContext* context, const at::Tensor& anyPrediction,
        const at::Tensor& target, const at::Tensor& weight, double factor,
        std::int64_t poolAddress)
    {
        const at::Tensor prediction = anyPrediction.contiguous();
        context->save_for_backward({prediction, target, weight});
        context->saved_data["factor"] = factor;
        context->saved_data["pool"] = poolAddress;

        double sum = 0;
        AT_DISPATCH_FLOATING_TYPES(prediction.scalar_type(), "weightedSum", [&]
        {
            sum = sumOfTerms<Term>(pool(poolAddress), Rows(prediction, target),
                prediction.const_data_ptr<scalar_t>(), target.const_data_ptr<scalar_t>(),
                weight.const_data_ptr<double>());
        });
        return at::scalar_tensor(factor*sum, at::kDouble);
    }

    static variable_list backward(AutogradContext* context, const variable_list& gradients)
    {
        const variable_list saved = context->get_saved_variables();
        const at::Tensor& prediction = saved[0];
        const double factor =
            context->saved_data["factor"].toDouble()*gradients[0].template item<double>();

        at::Tensor gradient = at::zeros_like(prediction);
        AT_DISPATCH_FLOATING_TYPES(prediction.scalar_type(), "weightedSumSlopes", [&]
        {
            slopes<Term>(pool(context->saved_data["pool"].toInt()), Rows(prediction, saved[1]),
                prediction.const_data_ptr<scalar_t>(), saved[1].const_data_ptr<scalar_t>(),
                saved[2].const_data_ptr<double>(), factor,
                gradient.mutable_data_ptr<scalar_t>());
        });
        return {gradient, at::Tensor(), at::Tensor(), at::Tensor(), at::Tensor()};
    }

private:

    // The context carries numbers and tensors only
    static ThreadPool& pool(std::int64_t address)
    {
        return *reinterpret_cast<ThreadPool*>(address);
    }
};


template<class Term>
class PointwiseLoss final : public Loss
{
public:

    PointwiseLoss(ThreadPool& pool, bool mean)
    :
        pool_(pool),
        mean_(mean)
    {}

    at::Tensor operator()(const at::Tensor& prediction, const at::Tensor& target,
        const at::Tensor& weight, double weightSum) override
    {
        const double count =
            static_cast<double>(target.size(0))*static_cast<double>(target.size(2))*weightSum;
        const double factor = mean_ ? 1/count : 1.0;
        return prediction.is_cpu()
          ? WeightedSum<Term>::apply(prediction, target.contiguous(), weight, factor,
                reinterpret_cast<std::int64_t>(&pool_))
          : pointwiseSum(Term::of, prediction, target, weight, factor);
    }

private:

    ThreadPool& pool_;
    bool mean_;
};


template<class Term>
class PointwiseOptions final : public LossOptions
{
public:

    void describe(Schema& schema) override
    {
        schema.choice("reduction", reduction_, {"mean", "sum", "none"},
            "weighted mean or sum over cells, columns and samples; none is refused");
        schema.check({"reduction"}, [this]
        {
            return reduction_ == "none"
                ? std::string("reduction none leaves one number per entry, but training needs "
                      "one in all: use mean or sum")
                : std::string();
        });
        describeCommon(schema);
    }

    std::unique_ptr<Loss> build(ThreadPool& pool) const override
    {
        return std::make_unique<PointwiseLoss<Term>>(pool, reduction_ == "mean");
    }

private:

    std::string reduction_ = "mean";
};

}


at::Tensor pointwiseSum(at::Tensor (*term)(const at::Tensor&), const at::Tensor& prediction,
    const at::Tensor& target, const at::Tensor& weight, double factor)
{
    const at::Tensor difference =
        prediction.narrow(1, 0, target.size(1)).to(at::kDouble) - target.to(at::kDouble);
    return (term(difference).sum(2)*weight).sum()*factor;
}


std::unique_ptr<LossOptions> makeMseOptions()
{
    return std::make_unique<PointwiseOptions<Square>>();
}


std::unique_ptr<LossOptions> makeL1Options()
{
    return std::make_unique<PointwiseOptions<Magnitude>>();
}

}
