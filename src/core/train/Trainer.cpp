// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/TrainerImpl.hpp"

#include "base/Error.hpp"
#include "base/agree.hpp"
#include "config/Flatten.hpp"
#include "io/Crc32.hpp"
#include "io/requireSameFile.hpp"
#include "model/FlatModel.hpp"
#include "model/TorchScriptModel.hpp"
#include "train/FixedChunks.hpp"
#include "train/predictPhysical.hpp"
#include "train/sumGradients.hpp"

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

bool isUnder(const std::string& path, const std::string& block)
{
    return path.compare(0, block.size() + 1, block + '.') == 0;
}

}


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
    where(chooseDevice(config.device, *model, comm, layout.devices)),
    choice(config.onDevice(where.index)),
    arithmetic(config.arithmetic()),
    isPinned(where.library && !where.library->device(where.index).is_cpu()),
    assembler
    (
        {
            layout.nInputColumns,
            layout.nFeatures,
            layout.staticColumns,
            layout.shape.nOutputs,
            arithmetic,
            layout.nEdgeInputs,
            isPinned
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
    choice.ranks = where.ranks;
    if (where.library)
    {
        moveTo(config);
    }
    else
    {
        requireNoGpu(config);
    }
    parameters = model->parameters();
    const bool isScripted = dynamic_cast<const TorchScriptModel*>(model.get());
    at::set_num_threads(isScripted ? pool.nThreads() : 1);

    applyOptimizer(config);
    applyLoss(config);
    applySchedule(config);
}


Trainer::Impl::~Impl()
{
    // What is in flight uses what is about to go
    try
    {
        if (queue)
        {
            queue->waitFor(queue->mark());
        }
    }
    catch (const std::exception&)
    {
        // The device has failed: nothing is in flight
    }
}


void Trainer::Impl::applyOptimizer(const TrainingConfig& config)
{
    baseRate = config.optimizer->learningRate;
    accumulationSteps = config.optimizer->gradAccumulationSteps;
    maxGradNorm = config.optimizer->maxGradNorm;
    optimizerType = config.optimizerType;
    if (queue)
    {
        whereItIs([&]
        {
            std::unique_ptr<FusedOptimizer> next = config.optimizer->buildFused(parameters);
            if (hasOptimizer)
            {
                next->load(steps->optimizer().save());
            }
            hasOptimizer = true;
            fused = std::move(next);
        });
        steps->setOptimizer(std::move(fused), maxGradNorm, accumulationSteps);
        return;
    }
    std::unique_ptr<Optimizer> next = config.optimizer->build(parameters);
    if (optimizer)
    {
        next->load(optimizer->save());
    }
    optimizer = std::move(next);
}


void Trainer::Impl::applyLoss(const TrainingConfig& config)
{
    if (queue)
    {
        settle(0);
        steps->forget();
    }
    loss = config.loss->build(pool);
    if (queue)
    {
        if (config.capture == "yes" && !loss->canBeRecorded())
        {
            throw Error("training.capture yes: a step with the loss of a TorchScript file cannot be"
                " recorded; choose capture auto or no");
        }
        steps->setLoss(*loss);
    }
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


BatchNoise Trainer::Impl::drawNoise(const std::vector<Sample>& samples,
    const Normaliser& normaliser)
{
    if (!(layout.noise > 0))
    {
        return {};
    }
    const std::int64_t nCells = samples.front().mesh.graph->nCells();
    const auto batchSize = static_cast<std::int64_t>(samples.size());
    at::Tensor drawn = at::empty({batchSize, nCells, layout.nInputColumns}, at::kDouble);
    const std::size_t perSample = static_cast<std::size_t>(nCells)*layout.nInputColumns;
    double* values = drawn.mutable_data_ptr<double>();
    for (const Sample& sample : samples)
    {
        noise.draw(sample.mesh.ids ? Span<const std::int64_t>(sample.mesh.ids->cells)
            : Span<const std::int64_t>(), layout.nInputColumns, {values, perSample}, pool);
        values += perSample;
    }
    const auto type = at::dtype(scalarType(arithmetic)).pinned_memory(isPinned);
    BatchNoise result;
    result.inputs = at::empty(drawn.sizes(), type).copy_(drawn.mul_(layout.noise));
    if (!layout.increment)
    {
        return result;
    }

    const Scaling input = normaliser.input();
    const Scaling target = normaliser.target();
    for (std::size_t c = 0; c < layout.inputOfTarget.size(); ++c)
    {
        const int from = layout.inputOfTarget[c];
        if (from >= 0)
        {
            if (!result.targets.defined())
            {
                result.targets = at::zeros({batchSize, nCells, layout.shape.nOutputs}, type);
            }
            result.targets.select(2, static_cast<std::int64_t>(c)).copy_(
                result.inputs.select(2, from).mul(-input.scale[from]/target.scale[c]));
        }
    }
    return result;
}


//- The samples of each mesh together, meshes in the order of their first sample; those with
//  values on edges one by one, since a batch shares its edges
std::vector<std::vector<Sample>> Trainer::Impl::byMesh(
    const std::vector<Sample>& batch)
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


//- Normalised inputs and targets of samples on one mesh
std::pair<GraphBatch, at::Tensor> Trainer::Impl::assemble(const std::vector<Sample>& samples,
    const Normaliser& normaliser)
{
    const ScopedTimer timer(profiler, "assemble");
    const BatchNoise drawn = drawNoise(samples, normaliser);
    const GraphBatch inputs =
        assembler.inputs(samples, normaliser.inputScales(), drawn.inputs);
    const at::Tensor targets = assembler.targets(samples, normaliser.target(), drawn.targets);
    return {inputs, targets};
}


Trainer::Impl::Pass Trainer::Impl::passOnOneMesh(const std::vector<Sample>& samples, double share,
    const Normaliser& normaliser)
{
    const auto [inputs, targets] = assemble(samples, normaliser);

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
    Impl& self = *impl_;
    const ScopedTimer timer(self.profiler, "predict");
    if (!self.queue)
    {
        const GraphBatch batch = self.assembler.inputs(sample, normaliser.inputScales());
        predictPhysical(*self.model, batch, normaliser.target(), self.pool, prediction);
        return;
    }
    self.steps->waitForHost();
    self.steps->letGo();        // also where there is no time to train
    const GraphBatch batch = self.assembler.inputs(sample, normaliser.inputScales());
    try
    {
        toPhysical((*self.forward)(batch), batch.graph->nCells(), normaliser.target(), self.pool,
            prediction);
    }
    catch (const c10::OutOfMemoryError& error)
    {
        self.reportMemory(error.what_without_backtrace());
    }
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
    bool isRescaled = false;
    const auto rescale = [&, self = impl_.get()]
        { isRescaled = self->model->rescaleOutput(factor, shift); };
    impl_->whereItIs(rescale);
    if (isRescaled)
    {
        impl_->best.rescale(factor, shift);
    }
}


Trainer::Step Trainer::Impl::stepHere(const std::vector<Sample>& batch,
    const Normaliser& normaliser)
{
    Step step;
    step.number = nSteps;
    step.learningRate = learningRate();
    const Pass pass = this->pass(batch, normaliser);
    step.loss = pass.loss;

    const ScopedTimer timer(profiler, "update");
    step.gradientNorm = euclideanNorm(pass.gradients, pool);
    step.finite = std::isfinite(step.loss) && std::isfinite(step.gradientNorm);
    if (!step.finite)
    {
        return step;
    }

    accumulated.add(pass.gradients);
    lossSum += step.loss;
    if (accumulated.count() >= accumulationSteps)
    {
        step.gradientNorm = update();
        step.finite = std::isfinite(step.gradientNorm);
        step.updated = step.finite;
    }
    return step;
}


void Trainer::start(const std::vector<Sample>& batch, const Normaliser& normaliser)
{
    Impl& self = *impl_;
    ++self.nSteps;
    if (!self.queue)
    {
        self.ended.push_back(self.stepHere(batch, normaliser));
        return;
    }
    try
    {
        self.startOnDevice(batch, normaliser);
    }
    catch (const c10::OutOfMemoryError& error)
    {
        self.reportMemory(error.what_without_backtrace());
    }
}


std::vector<Trainer::Step> Trainer::ended(bool wait)
{
    if (wait && impl_->queue)
    {
        impl_->settle(0);
    }
    return std::exchange(impl_->ended, {});
}


Trainer::Step Trainer::step(const std::vector<Sample>& batch, const Normaliser& normaliser)
{
    start(batch, normaliser);
    return ended(true).back();
}


const std::string& Trainer::device() const
{
    return impl_->where.name;
}


const std::string& Trainer::reasonForDevice() const
{
    return impl_->where.reason;
}


bool Trainer::keepsSamplesThere() const
{
    return impl_->keepsSamplesThere;
}


std::vector<std::string> Trainer::reconfigure(const TrainingConfig& config)
{
    Impl& self = *impl_;
    const Impl::Values next = flatten(config.written());
    const bool sameOptimizer = config.optimizerType == self.optimizerType;

    std::vector<std::string> refused;
    std::vector<ConfigDifference> applied;
    for (ConfigDifference& difference : differences(self.values, next))
    {
        const std::string& path = difference.path;
        const bool fixed = path == "device" || path == "precision" || path == "seed"
            || path == "tf32" || path == "recompute" || path == "castOn" || path == "capture"
            || path == "maxCaptures"
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


void Trainer::warmUp()
{
    const at::Tensor x = torch::ones({3}, at::TensorOptions().requires_grad(true));
    torch::autograd::grad({x.square().sum()}, {x});
}


std::string Trainer::firstStaleEntry() const
{
    const std::string text = impl_->weights.firstStaleEntry();
    return text.empty() ? impl_->assembler.firstStaleEntry() : text;
}


bool Trainer::sameOnAllRanks() const
{
    impl_->whereItIs([] {});
    std::uint32_t sum = 0;
    for (const at::Tensor& parameter : impl_->parameters)
    {
        const at::Tensor values = parameter.detach().to(at::kCPU).contiguous();
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
    impl_->whereItIs([] {});
    return impl_->nUpdates;
}


Model& Trainer::model()
{
    impl_->whereItIs([] {});
    return *impl_->model;
}


void Trainer::keepBest(double skill)
{
    impl_->whereItIs([self = impl_.get(), skill]
        { self->best.keep(*self->model, self->layout.shape.nOutputs, skill); });
}


double Trainer::bestSkill() const
{
    return impl_->best.skill();
}


void Trainer::visitBest(const std::function<void(const Model&)>& visit)
{
    impl_->whereItIs([self = impl_.get(), &visit] { self->best.visit(*self->model, visit); });
}

}
