// SPDX-License-Identifier: GPL-3.0-or-later
//
// One training step of MeshGraphNet on the CPU: forward, mean square error, backward, Adam. How it
// is used stands in StepProgram.hpp.

#include "StepProgram.hpp"
#include "model/GraphBatch.hpp"
#include "model/Initialise.hpp"
#include "model/MeshGraphNet.hpp"

namespace inSitu
{

class TrainingStep
{
public:

    explicit TrainingStep(const StepArguments& a)
    :
        pool_(a.threads)
    {
        MeshGraphNetOptions options;
        options.processorSize = a.blocks;
        options.hiddenSize = a.width;
        model_ = options.build(stepShape, Precision::float32, 0, pool_);
        graph_ = blockGraph(a.size);

        at::Generator generator = makeGenerator(1);
        const auto draw = [&](at::IntArrayRef sizes) { return at::randn(sizes, generator); };
        batch_ = {graph_, draw({1, graph_->nNodes(), 8}), draw({graph_->nEdges(), 4})};
        target_ = draw({1, graph_->nNodes(), 4});
        if (!a.data.empty())
        {
            readTensors(a.data,
                {model_->parameters()[0].detach(), batch_.nodes, batch_.edges, target_});
        }
        optimizer_ = std::make_unique<torch::optim::Adam>(model_->parameters(),
            torch::optim::AdamOptions(1e-4));
    }

    StepCost take()
    {
        return StepCost::of([&]
        {
            const at::Tensor loss = at::mse_loss(model_->forward(batch_), target_);
            loss.backward();
            optimizer_->step();
            optimizer_->zero_grad();
        });
    }

    //- Output, then the gradient in the order of the parameters
    std::vector<at::Tensor> check()
    {
        const at::Tensor output = model_->forward(batch_);
        at::mse_loss(output, target_).backward();
        const at::Tensor gradient = model_->parameters()[0].grad().clone();
        optimizer_->zero_grad();
        return {output.detach(), gradient};
    }

    std::string more() const { return {}; }

    const MeshGraph& graph() const { return *graph_; }

private:

    ThreadPool pool_;
    std::shared_ptr<const MeshGraph> graph_;
    std::unique_ptr<Model> model_;
    GraphBatch batch_;
    at::Tensor target_;
    std::unique_ptr<torch::optim::Adam> optimizer_;
};

}


int main(int argc, char** argv)
{
    return inSitu::runSteps<inSitu::TrainingStep>(argc, argv);
}
