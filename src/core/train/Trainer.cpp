// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/Trainer.hpp"

#include "base/Error.hpp"
#include "base/agree.hpp"
#include "config/Flatten.hpp"
#include "io/Crc32.hpp"
#include "io/requireSameFile.hpp"
#include "model/TensorState.hpp"
#include "model/TorchScriptModel.hpp"
#include "train/BatchAssembler.hpp"
#include "train/BestWeights.hpp"
#include "train/CellWeights.hpp"
#include "train/FixedChunks.hpp"
#include "train/GradientBuffer.hpp"
#include "train/InputNoise.hpp"
#include "train/predictPhysical.hpp"
#include "train/sumGradients.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/generated/variable_factories.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace inSitu
{
namespace
{

// Streams of one seed must differ: the weights take the seed itself
constexpr std::uint64_t noiseStream = 0x9e3779b97f4a7c15ULL;

using Values = std::map<std::string, std::string>;

//- The samples of each mesh together, meshes in the order of their first sample; those with
//  values on edges one by one, since a batch shares its edges
std::vector<std::vector<Sample>> byMesh(const std::vector<Sample>& batch)
{
    std::vector<std::vector<Sample>> groups;
    for (const Sample& sample : batch)
    {
        auto group = std::find_if(groups.begin(), groups.end(),
            [&](const std::vector<Sample>& g)
                { return !sample.edges && g.front().mesh == sample.mesh; });
        if (group == groups.end())
        {
            group = groups.emplace(group);
        }
        group->push_back(sample);
    }
    return groups;
}


bool isUnder(const std::string& path, const std::string& block)
{
    return path.compare(0, block.size() + 1, block + '.') == 0;
}

}


struct Trainer::Impl
{
    struct Pass
    {
        double loss = 0;                        // over all ranks
        std::vector<at::Tensor> gradients;      // none if the loss is not finite
    };

    Impl(const TrainingConfig& config, TrainerLayout theLayout, std::shared_ptr<Comm> theComm,
        ThreadPool& thePool, Profiler& theProfiler);

    void applyOptimizer(const TrainingConfig& config);
    void applyLoss(const TrainingConfig& config);
    void applySchedule(const TrainingConfig& config);

    double learningRate() const { return baseRate*schedule->factor(nUpdates); }

    void addNoise(const std::vector<Sample>& samples, const GraphBatch& batch,
        const at::Tensor& targets, const Normaliser& normaliser);
    Pass pass(const std::vector<Sample>& batch, const Normaliser& normaliser);
    Pass passOnOneMesh(const std::vector<Sample>& samples, double share,
        const Normaliser& normaliser);
    double update();

    TrainerLayout layout;
    std::shared_ptr<Comm> comm;
    ThreadPool& pool;
    Profiler& profiler;
    Values values;                      // configuration in force

    std::unique_ptr<Model> model;
    std::vector<at::Tensor> parameters;
    std::unique_ptr<Loss> loss;
    bool weightedByVolume = false;
    std::string optimizerType;
    std::unique_ptr<Optimizer> optimizer;
    double baseRate = 0;
    std::int64_t accumulationSteps = 1;
    double maxGradNorm = 0;
    std::string scheduleType;
    std::unique_ptr<Schedule> schedule;

    BatchAssembler assembler;
    CellWeights weights;
    InputNoise noise;
    GradientBuffer accumulated;
    double lossSum = 0;                 // over the accumulated passes
    std::int64_t nSteps = 0;
    std::int64_t nUpdates = 0;
    BestWeights best;
    KeptValues previous;                // weights before the present update
};


Trainer::Impl::Impl(const TrainingConfig& config, TrainerLayout theLayout,
    std::shared_ptr<Comm> theComm, ThreadPool& thePool, Profiler& theProfiler)
:
    layout(std::move(theLayout)),
    comm(std::move(theComm)),
    pool(thePool),
    profiler(theProfiler),
    values(flatten(config.written())),
    model(config.model->build(layout.shape, config.arithmetic(),
        static_cast<std::uint64_t>(config.seed), pool)),
    parameters(model->parameters()),
    assembler
    (
        {
            layout.nInputColumns,
            layout.nFeatures,
            layout.staticColumns,
            layout.shape.nOutputs,
            config.arithmetic(),
            layout.nEdgeInputs
        },
        pool,
        layout.countBuild
    ),
    weights(comm, layout.countBuild),
    noise(static_cast<std::uint64_t>(config.seed) ^ noiseStream)
{
    for (const auto& [key, file] : {std::make_pair("model", config.model->file()),
        std::make_pair("loss", config.loss->file())})
    {
        if (!file.empty())
        {
            requireSameFile(file, std::string("training.") + key + ".filename", *comm);
        }
    }
    model->joinRanks(comm);
    const bool isScripted = dynamic_cast<const TorchScriptModel*>(model.get());
    at::set_num_threads(isScripted ? pool.nThreads() : 1);

    applyOptimizer(config);
    applyLoss(config);
    applySchedule(config);
}


void Trainer::Impl::applyOptimizer(const TrainingConfig& config)
{
    std::unique_ptr<Optimizer> next = config.optimizer->build(parameters);
    if (optimizer)
    {
        next->load(optimizer->save());
    }
    optimizer = std::move(next);
    optimizerType = config.optimizerType;
    baseRate = config.optimizer->learningRate;
    accumulationSteps = config.optimizer->gradAccumulationSteps;
    maxGradNorm = config.optimizer->maxGradNorm;
}


void Trainer::Impl::applyLoss(const TrainingConfig& config)
{
    loss = config.loss->build(pool);
    weightedByVolume = config.loss->weights == "volume";
}


void Trainer::Impl::applySchedule(const TrainingConfig& config)
{
    std::unique_ptr<Schedule> next = config.schedule->build(baseRate);
    if (schedule && config.scheduleType == scheduleType)
    {
        next->load(schedule->save());
    }
    schedule = std::move(next);
    scheduleType = config.scheduleType;
}


void Trainer::Impl::addNoise(const std::vector<Sample>& samples, const GraphBatch& batch,
    const at::Tensor& targets, const Normaliser& normaliser)
{
    const std::int64_t nCells = batch.graph->nCells();
    at::Tensor inputs = batch.nodes.narrow(1, 0, nCells).narrow(2, 0, layout.nInputColumns);
    at::Tensor drawn = at::empty(inputs.sizes(), at::kDouble);
    const std::size_t perSample = static_cast<std::size_t>(nCells)*layout.nInputColumns;
    double* values = drawn.mutable_data_ptr<double>();
    for (const Sample& sample : samples)
    {
        noise.draw(sample.mesh.ids ? Span<const std::int64_t>(sample.mesh.ids->cells)
            : Span<const std::int64_t>(), layout.nInputColumns, {values, perSample}, pool);
        values += perSample;
    }
    drawn = drawn.mul_(layout.noise).to(inputs.scalar_type());
    inputs.add_(drawn);

    const Scaling input = normaliser.input();
    const Scaling target = normaliser.target();
    for (std::size_t c = 0; layout.increment && c < layout.inputOfTarget.size(); ++c)
    {
        const int from = layout.inputOfTarget[c];
        if (from >= 0)
        {
            targets.select(2, c).sub_(drawn.select(2, from), input.scale[from]/target.scale[c]);
        }
    }
}


Trainer::Impl::Pass Trainer::Impl::pass(const std::vector<Sample>& batch,
    const Normaliser& normaliser)
{
    const std::vector<std::vector<Sample>> groups = byMesh(batch);
    if (groups.size() == 1)
    {
        return passOnOneMesh(batch, 1, normaliser);
    }

    Pass total;
    GradientBuffer gradients;
    for (const std::vector<Sample>& group : groups)
    {
        const double share = static_cast<double>(group.size())/static_cast<double>(batch.size());
        const Pass part = passOnOneMesh(group, share, normaliser);
        total.loss += part.loss;
        if (!std::isfinite(total.loss))
        {
            return {total.loss, {}};
        }
        gradients.add(part.gradients);
    }
    total.gradients = gradients.takeSum();
    return total;
}


Trainer::Impl::Pass Trainer::Impl::passOnOneMesh(const std::vector<Sample>& samples, double share,
    const Normaliser& normaliser)
{
    GraphBatch inputs;
    at::Tensor targets;
    {
        const ScopedTimer timer(profiler, "assemble");
        inputs = assembler.inputs(samples, normaliser.inputScales());
        targets = assembler.targets(samples, normaliser.target());
        if (layout.noise > 0)
        {
            addNoise(samples, inputs, targets, normaliser);
        }
    }

    at::Tensor value;
    {
        const ScopedTimer timer(profiler, "forward");
        const CellWeights::Values& cells = weights.on(samples.front().mesh, weightedByVolume);
        model->train(true);
        value = (*loss)(model->forward(inputs), targets, cells.cells, cells.sum);
        if (share != 1)
        {
            value = value*share;
        }
    }
    Pass result;
    result.loss = value.item<double>();
    comm->sum(Span<double>(&result.loss, 1));

    if (std::isfinite(result.loss))
    {
        const ScopedTimer timer(profiler, "backward");
        result.gradients = torch::autograd::grad({value}, parameters, {}, false, false, true);
        if (!model->sumsGradients())
        {
            sumGradients(result.gradients, parameters, *comm);
        }
    }
    return result;
}


//- An optimiser step with the accumulated gradients; returns their norm before clipping
double Trainer::Impl::update()
{
    const double metric = lossSum/static_cast<double>(accumulated.count());
    const std::vector<at::Tensor> gradients = accumulated.takeMean();
    lossSum = 0;

    const double norm = euclideanNorm(gradients, pool);
    const double shortening = maxGradNorm/(norm + 1e-6);    // as torch's clip_grad_norm_
    for (std::size_t i = 0; i < parameters.size(); ++i)
    {
        if (maxGradNorm > 0 && shortening < 1 && gradients[i].defined())
        {
            gradients[i].mul_(shortening);
        }
        parameters[i].mutable_grad() = gradients[i];
    }

    previous.keep(parameters);
    optimizer->setLearningRate(learningRate());
    optimizer->step();
    for (at::Tensor& parameter : parameters)
    {
        parameter.mutable_grad().reset();
    }
    if (!std::isfinite(euclideanNorm(parameters, pool)))
    {
        // Better the weights before than none at all, for ever
        previous.restore(parameters);
        return std::numeric_limits<double>::quiet_NaN();
    }

    ++nUpdates;
    schedule->observe(metric);
    return norm;
}


Trainer::Trainer(const TrainingConfig& config, TrainerLayout layout, std::shared_ptr<Comm> comm,
    ThreadPool& pool, Profiler& profiler)
:
    impl_(std::make_unique<Impl>(config, std::move(layout), std::move(comm), pool, profiler))
{}


Trainer::~Trainer() = default;


void Trainer::predict(const Sample& sample, const Normaliser& normaliser, Span<double> prediction)
{
    const ScopedTimer timer(impl_->profiler, "predict");
    const GraphBatch batch = impl_->assembler.inputs(sample, normaliser.inputScales());
    predictPhysical(*impl_->model, batch, normaliser.target(), impl_->pool, prediction);
}


void Trainer::followScales(const Scaling& before, const Scaling& after)
{
    if (before.shift == after.shift && before.scale == after.scale)
    {
        return;
    }
    std::vector<double> factor(before.scale.size());
    std::vector<double> shift(before.scale.size());
    for (std::size_t c = 0; c < factor.size(); ++c)
    {
        // Preserving predictions beyond a scale that shrinks would multiply the last layer, in
        // a flow that settles without end, out of reach of an optimiser's steps
        factor[c] = std::min(before.scale[c]/after.scale[c], 1.0);
        shift[c] = (before.shift[c] - after.shift[c])/after.scale[c];
    }
    if (impl_->model->rescaleOutput(factor, shift))
    {
        impl_->best.rescale(factor, shift);
    }
}


Trainer::Step Trainer::step(const std::vector<Sample>& batch, const Normaliser& normaliser)
{
    Impl& self = *impl_;
    ++self.nSteps;

    Step step;
    step.learningRate = self.learningRate();
    const Impl::Pass pass = self.pass(batch, normaliser);
    step.loss = pass.loss;

    const ScopedTimer timer(self.profiler, "update");
    step.gradientNorm = euclideanNorm(pass.gradients, self.pool);
    step.finite = std::isfinite(step.loss) && std::isfinite(step.gradientNorm);
    if (!step.finite)
    {
        return step;
    }

    self.accumulated.add(pass.gradients);
    self.lossSum += step.loss;
    if (self.accumulated.count() >= self.accumulationSteps)
    {
        step.gradientNorm = self.update();
        step.finite = std::isfinite(step.gradientNorm);
        step.updated = step.finite;
    }
    return step;
}


std::vector<std::string> Trainer::reconfigure(const TrainingConfig& config)
{
    Impl& self = *impl_;
    const Values next = flatten(config.written());
    const bool sameOptimizer = config.optimizerType == self.optimizerType;

    std::vector<std::string> refused;
    std::vector<ConfigDifference> applied;
    for (ConfigDifference& difference : differences(self.values, next))
    {
        const std::string& path = difference.path;
        const bool fixed = path == "device" || path == "precision" || path == "seed"
            || isUnder(path, "model") || (isUnder(path, "optimizer") && !sameOptimizer);
        if (fixed)
        {
            refused.push_back(path);
        }
        else
        {
            applied.push_back(std::move(difference));
        }
    }

    self.applyLoss(config);
    if (sameOptimizer)
    {
        self.applyOptimizer(config);
    }
    self.applySchedule(config);

    for (const ConfigDifference& difference : applied)
    {
        if (difference.after == "-")
        {
            self.values.erase(difference.path);
        }
        else
        {
            self.values[difference.path] = difference.after;
        }
    }
    return refused;
}


std::string Trainer::firstStaleEntry() const
{
    const std::string text = impl_->weights.firstStaleEntry();
    return text.empty() ? impl_->assembler.firstStaleEntry() : text;
}


bool Trainer::sameOnAllRanks() const
{
    std::uint32_t sum = 0;
    for (const at::Tensor& parameter : impl_->parameters)
    {
        const at::Tensor values = parameter.detach().contiguous();
        sum = crc32(values.const_data_ptr(), values.nbytes(), sum);
    }
    return largestOf(*impl_->comm, sum) == leastOf(*impl_->comm, sum);
}


std::int64_t Trainer::nSteps() const
{
    return impl_->nSteps;
}


std::int64_t Trainer::nUpdates() const
{
    return impl_->nUpdates;
}


Model& Trainer::model()
{
    return *impl_->model;
}


void Trainer::keepBest(double skill)
{
    impl_->best.keep(*impl_->model, impl_->layout.shape.nOutputs, skill);
}


double Trainer::bestSkill() const
{
    return impl_->best.skill();
}


void Trainer::visitBest(const std::function<void(const Model&)>& visit)
{
    impl_->best.visit(*impl_->model, visit);
}


StateTree Trainer::save() const
{
    const Impl& self = *impl_;
    StateTree state;
    state.putInt("nSteps", self.nSteps);
    state.putInt("nUpdates", self.nUpdates);
    state.putTree("model", saveTensors(self.model->namedTensors()));
    state.putText("optimizerType", self.optimizerType);
    state.putTree("optimizer", self.optimizer->save());
    state.putText("scheduleType", self.scheduleType);
    state.putTree("schedule", self.schedule->save());
    state.putTree("accumulated", self.accumulated.save());
    state.putDouble("lossSum", self.lossSum);
    state.putInt("noise/seed", static_cast<std::int64_t>(self.noise.state().seed));
    state.putInt("noise/draws", self.noise.state().nDraws);
    state.putTree("best", self.best.save(*self.model));

    const std::vector<std::uint8_t> modelGenerator = self.model->generatorState();
    if (!modelGenerator.empty())
    {
        state.put("modelGenerator", modelGenerator);
    }
    return state;
}


std::vector<std::string> Trainer::load(const StateTree& state)
{
    Impl& self = *impl_;
    std::vector<std::string> notes;

    const std::vector<at::Tensor> tensors =
        readTensors(state.subTree("model"), self.model->namedTensors());
    BestWeights best = BestWeights::from(state.subTree("best"), *self.model);
    GradientBuffer accumulated =
        GradientBuffer::from(state.subTree("accumulated"), self.parameters);
    const double lossSum = state.getDouble("lossSum");
    const std::int64_t nSteps = state.getInt("nSteps");
    const std::int64_t nUpdates = state.getInt("nUpdates");

    if (state.getText("optimizerType") == self.optimizerType)
    {
        self.optimizer->load(state.subTree("optimizer"));
    }
    else
    {
        notes.push_back("the optimiser starts afresh: it was " + state.getText("optimizerType")
            + " and is " + self.optimizerType + " now");
    }
    if (state.getText("scheduleType") == self.scheduleType)
    {
        self.schedule->load(state.subTree("schedule"));
    }
    else
    {
        notes.push_back("the schedule has no history: it was " + state.getText("scheduleType")
            + " and is " + self.scheduleType + " now");
    }

    restoreTensors(*self.model, tensors);
    self.best = std::move(best);
    self.accumulated = std::move(accumulated);
    self.lossSum = lossSum;
    self.nSteps = nSteps;
    self.nUpdates = nUpdates;
    self.noise.setState({static_cast<std::uint64_t>(state.getInt("noise/seed")),
        state.getInt("noise/draws")});
    if (state.has("modelGenerator"))
    {
        self.model->setGeneratorState(state.get<std::uint8_t>("modelGenerator"));
    }
    return notes;
}

}
