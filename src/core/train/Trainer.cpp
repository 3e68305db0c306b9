// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/Trainer.hpp"

#include "base/Error.hpp"
#include "base/Text.hpp"
#include "base/agree.hpp"
#include "config/Flatten.hpp"
#include "io/Crc32.hpp"
#include "io/requireSameFile.hpp"
#include "model/MeshGraphNet.hpp"
#include "model/TensorState.hpp"
#include "model/TorchScriptModel.hpp"
#include "model/chooseDevice.hpp"
#include "train/BatchAssembler.hpp"
#include "train/BestWeights.hpp"
#include "train/CellWeights.hpp"
#include "train/DeviceForward.hpp"
#include "train/DeviceSteps.hpp"
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
#include <deque>
#include <limits>
#include <utility>

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


// One that is done while the next is made ready
constexpr std::size_t maxInFlight = 2;


CaptureRunner::Mode captureMode(const std::string& capture)
{
    return capture == "yes" ? CaptureRunner::Mode::required
        : capture == "no" ? CaptureRunner::Mode::off : CaptureRunner::Mode::automatic;
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
    ~Impl();

    void applyOptimizer(const TrainingConfig& config);
    void applyLoss(const TrainingConfig& config);
    void applySchedule(const TrainingConfig& config);

    double learningRate() const { return baseRate*schedule->factor(nUpdates); }

    //- On a GPU
    void moveTo(const TrainingConfig& config);
    void startOnDevice(const std::vector<Sample>& batch, const Normaliser& normaliser);
    void settle(std::size_t maxLeft);
    [[noreturn]] void reportMemory(const std::string& reason) const;

    //- work on the model or the optimiser where they are, with nothing in flight
    template<class Work>
    void whereItIs(Work work);

    void save(StateTree& state) const;
    std::vector<std::string> load(const StateTree& state);

    Step stepHere(const std::vector<Sample>& batch, const Normaliser& normaliser);

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
    ChosenDevice where;
    DeviceChoice choice;
    std::shared_ptr<DeviceQueue> queue;         // of the GPU, as the next two; null: CPU
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

    bool hasOptimizer = false;
    std::unique_ptr<FusedOptimizer> fused;      // on its way to the steps
    std::unique_ptr<DeviceSteps> steps;
    std::unique_ptr<DeviceForward> forward;
    std::deque<Step> inFlight;
    std::vector<Step> ended;
    std::int64_t nWaiting = 0;          // passes on the GPU that wait for an update

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
    where(chooseDevice(config.device, *model, comm->size(), layout.devices)),
    choice(config.onDevice(where.index)),
    assembler
    (
        {
            layout.nInputColumns,
            layout.nFeatures,
            layout.staticColumns,
            layout.shape.nOutputs,
            config.arithmetic(),
            layout.nEdgeInputs,
            where.library && !where.library->device(where.index).is_cpu()
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
    if (where.library)
    {
        moveTo(config);
    }
    else if (choice.storage == Storage::bfloat16 || choice.storage == Storage::float16)
    {
        throw Error("precision " + config.precision + " is for GPUs, and this run is on the "
            + where.name + (where.reason.empty() ? "" : " (" + where.reason + ')')
            + ".\n    Remedy: precision float32");
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


void Trainer::Impl::moveTo(const TrainingConfig& config)
{
    const at::Device device = where.library->device(where.index);
    queue = where.library->makeQueue(where.index);
    const auto runner = [&]
    {
        return CaptureRunner(where.library, queue, captureMode(config.capture),
            config.maxCaptures, layout.note);
    };
    try
    {
        queue->put([this] { model->moveTo(*where.library, choice); });
        queue->waitFor(queue->mark());
        steps = std::make_unique<DeviceSteps>(queue, *model, device, runner(),
            choice.storage == Storage::float16);
        forward = std::make_unique<DeviceForward>(queue, *model, device, layout.shape.nOutputs,
            runner(), false);
    }
    catch (const c10::OutOfMemoryError& error)
    {
        reportMemory(error.what_without_backtrace());
    }
}


template<class Work>
void Trainer::Impl::whereItIs(Work work)
{
    if (!queue)
    {
        work();
        return;
    }
    settle(0);
    queue->put(work);
    queue->waitFor(queue->mark());
}


void Trainer::Impl::reportMemory(const std::string& reason) const
{
    const DeviceLibrary::Memory memory = where.library->memoryOf(where.index);
    std::string text = "the memory of " + where.name + " does not do: "
        + bytesText(memory.free) + " of " + bytesText(memory.total) + " are free";
    if (const auto sizes = sizesOf(*model))
    {
        constexpr double edgesPerNode = 6;      // hexahedra
        const double perNode = bytesPerNode(*sizes, edgesPerNode, choice);
        text += ". Training takes about " + bytesText(static_cast<std::size_t>(perNode))
            + " per cell and sample of a batch, so about "
            + std::to_string(static_cast<std::int64_t>(memory.total/perNode)) + " cells fit";
    }
    const bool isShort = choice.storage == Storage::bfloat16 || choice.storage == Storage::float16;
    throw Error(text + ".\n    Remedy:" + (isShort ? "" : " precision bfloat16;")
        + (choice.recompute ? "" : " recompute yes;") + " a smaller batchSize, hiddenSize or"
        " processorSize; device cpu\n    (" + reason.substr(0, reason.find('\n')) + ')');
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


//- Tell what the oldest steps gave, so that at most maxLeft stay in flight
void Trainer::Impl::settle(std::size_t maxLeft)
{
    const ScopedTimer timer(profiler, "wait");
    for (const DeviceSteps::Result& result : steps->take(maxLeft))
    {
        Step step = inFlight.front();
        inFlight.pop_front();
        step.loss = result.loss;
        step.gradientNorm = result.gradientNorm;
        step.finite = result.finite;
        step.updated = result.updated;
        step.overflow = result.overflow;
        nWaiting = static_cast<std::int64_t>(result.count);
        if (result.updated)
        {
            ++nUpdates;
            schedule->observe(result.metric);
        }
        ended.push_back(step);
    }
}


void Trainer::Impl::startOnDevice(const std::vector<Sample>& batch, const Normaliser& normaliser)
{
    settle(schedule->observes() ? 0 : maxInFlight - 1);

    // In the good case each step in flight is a pass
    const auto nInFlight = static_cast<std::int64_t>(inFlight.size());
    const std::int64_t nExpected = nUpdates + (nWaiting + nInFlight)/accumulationSteps;
    Step step;
    step.number = nSteps;
    step.learningRate = baseRate*schedule->factor(nExpected);
    steps->setLearningRate(step.learningRate);

    const std::vector<std::vector<Sample>> groups = byMesh(batch);
    for (const std::vector<Sample>& group : groups)
    {
        {
            const ScopedTimer timer(profiler, "wait");
            steps->waitForHost();
            forward->waitForHost();
        }
        GraphBatch inputs;
        at::Tensor targets;
        {
            const ScopedTimer timer(profiler, "assemble");
            inputs = assembler.inputs(group, normaliser.inputScales());
            targets = assembler.targets(group, normaliser.target());
            if (layout.noise > 0)
            {
                addNoise(group, inputs, targets, normaliser);
            }
        }
        const ScopedTimer timer(profiler, "launch");
        steps->add(inputs, targets, weights.on(group.front().mesh, weightedByVolume),
            groups.size() == 1 ? 1.0
                : static_cast<double>(group.size())/static_cast<double>(batch.size()),
            &group == &groups.front(), &group == &groups.back());
    }
    inFlight.push_back(step);
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
            || path == "tf32" || path == "recompute" || path == "capture" || path == "maxCaptures"
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


StateTree Trainer::save() const
{
    StateTree state;
    impl_->whereItIs([self = impl_.get(), &state] { self->save(state); });
    return state;
}


void Trainer::Impl::save(StateTree& state) const
{
    state.putInt("nSteps", nSteps);
    state.putInt("nUpdates", nUpdates);
    state.putTree("model", saveTensors(model->namedTensors()));
    state.putText("optimizerType", optimizerType);
    state.putTree("optimizer", queue ? steps->optimizer().save() : optimizer->save());
    state.putText("scheduleType", scheduleType);
    state.putTree("schedule", schedule->save());
    state.putTree("accumulated", queue ? steps->saveAccumulated() : accumulated.save());
    state.putDouble("lossSum", queue ? steps->lossSum() : lossSum);
    state.putInt("noise/seed", static_cast<std::int64_t>(noise.state().seed));
    state.putInt("noise/draws", noise.state().nDraws);
    state.putTree("best", best.save(*model));
    if (const auto scaler = queue ? steps->saveScaler() : std::nullopt)
    {
        state.putTree("gradScaler", *scaler);
    }

    const std::vector<std::uint8_t> modelGenerator = model->generatorState();
    if (!modelGenerator.empty())
    {
        state.put("modelGenerator", modelGenerator);
    }
}


std::vector<std::string> Trainer::load(const StateTree& state)
{
    std::vector<std::string> notes;
    impl_->whereItIs([self = impl_.get(), &state, &notes] { notes = self->load(state); });
    return notes;
}


std::vector<std::string> Trainer::Impl::load(const StateTree& state)
{
    std::vector<std::string> notes;

    const std::vector<at::Tensor> tensors =
        readTensors(state.subTree("model"), model->namedTensors());
    BestWeights savedBest = BestWeights::from(state.subTree("best"), *model);
    GradientBuffer savedGradients =
        GradientBuffer::from(state.subTree("accumulated"), parameters);
    const double savedLoss = state.getDouble("lossSum");
    const std::int64_t savedSteps = state.getInt("nSteps");
    const std::int64_t savedUpdates = state.getInt("nUpdates");

    if (state.getText("optimizerType") == optimizerType)
    {
        Optimizer& present = queue ? steps->optimizer() : *optimizer;
        present.load(state.subTree("optimizer"));
    }
    else
    {
        notes.push_back("the optimiser starts afresh: it was " + state.getText("optimizerType")
            + " and is " + optimizerType + " now");
    }
    if (state.getText("scheduleType") == scheduleType)
    {
        schedule->load(state.subTree("schedule"));
    }
    else
    {
        notes.push_back("the schedule has no history: it was " + state.getText("scheduleType")
            + " and is " + scheduleType + " now");
    }

    restoreTensors(*model, tensors);
    best = std::move(savedBest);
    nWaiting = savedGradients.count();
    if (queue)
    {
        steps->load(state.subTree("accumulated"), savedLoss, state.subTree("gradScaler"));
    }
    else
    {
        accumulated = std::move(savedGradients);
        lossSum = savedLoss;
    }
    nSteps = savedSteps;
    nUpdates = savedUpdates;
    noise.setState({static_cast<std::uint64_t>(state.getInt("noise/seed")),
        state.getInt("noise/draws")});
    if (state.has("modelGenerator"))
    {
        model->setGeneratorState(state.get<std::uint8_t>("modelGenerator"));
    }
    return notes;
}

}
