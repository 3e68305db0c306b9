// SPDX-License-Identifier: GPL-3.0-or-later
//
// One prediction step of MeshGraphNet on the CPU as meshPredictor takes it: gather U and p, predict
// them, write the prediction into other fields. How it is used stands in StepProgram.hpp.

#include "StepProgram.hpp"
#include "infer/Surrogate.hpp"
#include "model/Initialise.hpp"
#include "model/MeshGraphNet.hpp"
#include "sample/SampleStream.hpp"

namespace inSitu
{

class PredictionStep
{
public:

    explicit PredictionStep(const StepArguments& a)
    :
        pool_(a.threads)
    {
        mesh_.graph = blockGraph(a.size);
        const std::int64_t nCells = mesh_.graph->nCells();
        std::vector<double> centres;
        for (std::int64_t cell = 0; cell < nCells; ++cell)
        {
            const std::int64_t row = cell/a.size[0];
            centres.insert(centres.end(), {1.0*static_cast<double>(cell % a.size[0]),
                1.5*static_cast<double>(row % a.size[1]),
                0.75*static_cast<double>(row/a.size[1])});
        }
        mesh_.geometry = std::make_shared<MeshGeometry>(makeGeometry(*mesh_.graph, centres,
            std::vector<double>(static_cast<std::size_t>(nCells), 1.125), {0, 1, 2}));

        MeshGraphNetOptions options;
        options.processorSize = a.blocks;
        options.hiddenSize = a.width;
        auto network = options.build(stepShape, Precision::float32, 0, pool_);

        at::Generator generator = makeGenerator(1);
        const at::Tensor nodes = at::randn({nCells, stepShape.nNodeFeatures}, generator);
        if (!a.data.empty())
        {
            readTensors(a.data, {network->parameters()[0].detach(), nodes});
        }
        setFields(nodes);
        setSurrogate(std::move(network));
        take();
    }

    StepCost take()
    {
        return StepCost::of([&]
        {
            std::optional<PendingInputs::Completed> completed;
            gather_.push_back(secondsOf([&]
            {
                ++timeIndex_;
                stream_->take({0.1*static_cast<double>(timeIndex_), timeIndex_, 0.1}, views_,
                    SerialComm());
                completed = stream_->next();
            }));
            secondsOf([&] { surrogate_->predict(completed->sample, Span<double>(predicted_)); });
            scatter_.push_back(secondsOf([&] { scatter(); }));
        });
    }

    //- What was predicted
    std::vector<at::Tensor> check()
    {
        take();
        const auto n = static_cast<std::int64_t>(predicted_.size());
        return {at::from_blob(predicted_.data(), {n}, at::kDouble).to(at::kFloat)};
    }

    std::string more() const
    {
        return ",\"gather_median_s\":" + std::to_string(medianOf(gather_))
            + ",\"scatter_median_s\":" + std::to_string(medianOf(scatter_));
    }

    const MeshGraph& graph() const { return *mesh_.graph; }

private:

    template<class Work>
    static double secondsOf(const Work& work)
    {
        const auto begin = std::chrono::steady_clock::now();
        work();
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }

    //- The first four features are what is gathered, the others do not change
    void setFields(const at::Tensor& nodes)
    {
        auto statics = std::make_shared<std::vector<float>>();
        for (std::int64_t cell = 0; cell < nodes.size(0); ++cell)
        {
            const float* row = nodes.const_data_ptr<float>() + 8*cell;
            U_.insert(U_.end(), row, row + 3);
            p_.push_back(row[3]);
            statics->insert(statics->end(), row + 4, row + 8);
        }
        mesh_.staticFeatures = statics;
        views_ = {{U_, {}}, {p_, {}}};
        predicted_.resize(4*p_.size());
        predictedU_.resize(U_.size());
        predictedP_.resize(p_.size());
    }

    void setSurrogate(std::unique_ptr<Model> network)
    {
        ModelCard card;
        card.inputs =
        {
            {"U", "volVectorField", 3, {0, 1, 2}, {"Ux", "Uy", "Uz"}, {}},
            {"p", "volScalarField", 1, {0}, {"p"}, {}}
        };
        card.targets = card.inputs;
        card.staticColumns = {"a", "b", "c", "d"};
        card.edgeColumns = mesh_.geometry->edgeFeatureNames();
        card.increment = false;
        card.horizon = 0;

        SampleStream::Layout layout;
        layout.input = RowLayout::of(card.inputs, {0, 1}, true);
        layout.target = RowLayout::of(card.inputs, {}, false);
        layout.horizon = {0, 0};
        layout.increment = false;
        stream_.emplace(layout, mesh_);

        SurrogateScales scales;
        scales.input.nodes = scales.target = {{0, 0, 0, 0}, {1, 1, 1, 1}};
        scales.inputReference = scales.targetReference = {0, 0, 0, 0};
        scales.input.mesh.edgeLength = 1.25;
        surrogate_ = makeSurrogate(card, std::move(network), scales, pool_, {});
        stream_->setReferences(surrogate_->inputReference(), {});
    }

    void scatter()
    {
        for (std::size_t cell = 0; cell < predictedP_.size(); ++cell)
        {
            const double* row = predicted_.data() + 4*cell;
            std::copy_n(row, 3, predictedU_.data() + 3*cell);
            predictedP_[cell] = row[3];
        }
    }

    ThreadPool pool_;
    MeshState mesh_;
    std::unique_ptr<Surrogate> surrogate_;
    std::optional<SampleStream> stream_;
    std::int64_t timeIndex_ = 0;

    std::vector<double> U_;
    std::vector<double> p_;
    std::vector<FieldView<double>> views_;
    std::vector<double> predicted_;
    std::vector<double> predictedU_;
    std::vector<double> predictedP_;

    std::vector<double> gather_;
    std::vector<double> scatter_;
};

}


int main(int argc, char** argv)
{
    return inSitu::runSteps<inSitu::PredictionStep>(argc, argv);
}
