// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/TrainerImpl.hpp"

#include "base/Error.hpp"
#include "base/agree.hpp"
#include "config/Flatten.hpp"
#include "io/Crc32.hpp"
#include "io/requireSameFile.hpp"
#include "model/TorchScriptModel.hpp"

#include <ATen/Parallel.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/generated/variable_factories.h>

#include <algorithm>
#include <utility>

namespace inSitu
{
namespace
{

bool isUnder(const std::string& path, const std::string& block)
{
    return path.compare(0, block.size() + 1, block + '.') == 0;
}


//- What a GPU copies
bool isPinned(const ChosenDevice& where)
{
    return where.library && !where.library->device(where.index).is_cpu();
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
    batches(layout, config.arithmetic(), static_cast<std::uint64_t>(config.seed),
        isPinned(where), comm, pool, profiler)
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
    steps = makeSteps(config, where, {layout, *model, batches, *comm, pool, profiler});
    const bool isScripted = dynamic_cast<const TorchScriptModel*>(model.get());
    at::set_num_threads(isScripted ? pool.nThreads() : 1);

    applyOptimizer(config);
    applyLoss(config);
    applySchedule(config);
}


void Trainer::Impl::applyOptimizer(const TrainingConfig& config)
{
    settle(0);
    baseRate = config.optimizer->learningRate;
    optimizerType = config.optimizerType;
    steps->setOptimizer(*config.optimizer);
}


void Trainer::Impl::applyLoss(const TrainingConfig& config)
{
    settle(0);
    steps->setLoss(config);
    batches.weightByVolume(config.loss->weights == "volume");
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


//- Tell of the oldest steps, so that at most maxLeft stay in flight
void Trainer::Impl::settle(std::size_t maxLeft)
{
    for (const Step& step : steps->take(maxLeft))
    {
        if (step.updated)
        {
            ++nUpdates;
            schedule->observe(step.meanLoss);
        }
        ended.push_back(step);
    }
}


void Trainer::Impl::reach(const std::function<void()>& work)
{
    settle(0);
    steps->reach(work);
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
    impl_->steps->predict(sample, normaliser, prediction);
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
    impl_->reach(rescale);
    if (isRescaled)
    {
        impl_->best.rescale(factor, shift);
    }
}


void Trainer::start(const std::vector<Sample>& batch, const Normaliser& normaliser)
{
    Impl& self = *impl_;
    ++self.nSteps;
    self.settle(self.schedule->observes() ? 0 : Steps::maxInFlight - 1);
    Step step;
    step.number = self.nSteps;
    step.learningRate =
        self.baseRate*self.schedule->factor(self.nUpdates + self.steps->nAhead());
    self.steps->start(step, batch, normaliser);
}


std::vector<Trainer::Step> Trainer::ended(bool wait)
{
    impl_->settle(wait ? 0 : Steps::maxInFlight);
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
    return impl_->steps->keepsSamples();
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
    return impl_->batches.firstStaleEntry();
}


bool Trainer::sameOnAllRanks() const
{
    impl_->reach([] {});
    std::uint32_t sum = 0;
    for (const at::Tensor& parameter : impl_->model->parameters())
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
    impl_->reach([] {});
    return impl_->nUpdates;
}


Model& Trainer::model()
{
    impl_->reach([] {});
    return *impl_->model;
}


void Trainer::keepBest(double skill)
{
    impl_->reach([self = impl_.get(), skill]
        { self->best.keep(*self->model, self->layout.shape.nOutputs, skill); });
}


double Trainer::bestSkill() const
{
    return impl_->best.skill();
}


void Trainer::visitBest(const std::function<void(const Model&)>& visit)
{
    impl_->reach([self = impl_.get(), &visit] { self->best.visit(*self->model, visit); });
}

}
