// SPDX-License-Identifier: GPL-3.0-or-later
#include "InSituTrainerImpl.hpp"

#include "base/Error.hpp"
#include "base/Text.hpp"
#include "base/packed.hpp"
#include "base/packedTree.hpp"
#include "config/featureWords.hpp"
#include "config/nodeAt.hpp"
#include "inSituVersion.hpp"
#include "model/chooseDevice.hpp"
#include "train/gpuEntries.hpp"
#include "train/loopLayout.hpp"

namespace inSitu
{

namespace
{

int buildsOf(const std::vector<CacheRecord>& records, const std::string& cache,
    const std::string& reason)
{
    for (const CacheRecord& record : records)
    {
        for (const CacheRecord::Reason& entry : record.reasons)
        {
            if (record.cache == cache && entry.name == reason)
            {
                return entry.builds;
            }
        }
    }
    return 0;
}

}


InSituTrainer::InSituTrainer
(
    const Node& block,
    const std::string& name,
    const std::string& caseFolder,
    const std::vector<std::string>& hostKeys,
    std::shared_ptr<Comm> comm,
    std::shared_ptr<LogSink> log
)
:
    impl_(std::make_unique<Impl>())
{
    impl_->name = name;
    impl_->caseFolder = caseFolder;
    impl_->hostKeys = hostKeys;
    impl_->all = std::move(comm);
    impl_->log = std::move(log);
    impl_->settings = readSettings(block, name, caseFolder, hostKeys);
    const RankGroup group(impl_->all, impl_->settings.object.trainerRanks);
    if (group.trains())
    {
        impl_->requireDevice(block, *group.trainers());
    }
    // Made for good with what learns: here so that a refusal comes before the first step
    if (impl_->settings.isAsync() && (impl_->all->size() == 1 || group.nTrainers() > 1))
    {
        commOfLearner(impl_->settings, impl_->all);
    }
    impl_->readInitialWeights(block, impl_->settings.object.initialWeights);
    for (const std::string& note : impl_->settings.notes)
    {
        impl_->info(note);
    }
}


InSituTrainer::~InSituTrainer() = default;


//- What no model could have here is refused before the first step, where it is written
void InSituTrainer::Impl::requireDevice(const Node& block, const Comm& trainers) const
{
    const TrainingConfig& training = settings.training;
    const std::string reason = gpuObstacle(training.device, trainers);
    if (reason.empty())
    {
        return;
    }
    const auto refuse = [&](const std::string& path, const std::string& text)
    {
        const Node* const entry = nodeAt(block, path);
        const Node& place = entry ? *entry : *block.find("trainingFile");
        throw ConfigError(place.file, place.line, name + '.' + path + ": " + text);
    };
    if (training.device != "auto")
    {
        refuse("training.device", deviceRefusal(training.device, reason));
    }
    if (const auto entry = firstGpuEntry(training, settings.object.buffer.location))
    {
        refuse(entry->path, refusal(*entry, reason.substr(0, reason.find('\n'))));
    }
}


const ObjectConfig& InSituTrainer::config() const
{
    return impl_->settings.object;
}


bool InSituTrainer::goesOnAfterError() const
{
    return config().onError == "continue";
}


std::int64_t InSituTrainer::selfCheckInterval() const
{
    return config().selfCheck;
}


InSituEngine::MeshOptions InSituTrainer::meshOptions() const
{
    return {config().graph.boundaryNodes, config().graph.halo == "exchange", config().cellZone,
        chosen(config().features, meshFeatures()), config().mapsWaiting()};
}


bool InSituTrainer::begun() const
{
    return impl_->begun;
}


void InSituTrainer::Impl::leadGroup(const std::function<void()>& body)
{
    const StateTree told = unpackedTree(group->lead([&]
    {
        body();
        StateTree state;
        std::vector<std::int64_t> pending;
        for (const Snapshot& snapshot : loop->stream().pending())
        {
            pending.push_back(snapshot.timeIndex);
        }
        state.put("pending", pending);
        return packed(state);
    }));
    pendingThere = told.get<std::int64_t>("pending");
}


std::int64_t InSituTrainer::Impl::numberThere(const std::function<std::int64_t()>& number)
{
    return unpacked<std::int64_t>(
        group->lead([&] { return packed(std::vector<std::int64_t>{number()}); })).front();
}


void InSituTrainer::Impl::warn(const std::string& message)
{
    log->warning(name + ": " + message);
    if (record)
    {
        record->warning(message);
    }
}


// * * * * * * * * * * * * * * * * the run * * * * * * * * * * * * * * * * * * //

void InSituTrainer::begin(TrainingCase theCase, CaseMesh mesh)
{
    Impl& my = *impl_;
    my.theCase = std::move(theCase);
    my.time = my.theCase.startTime;
    my.group = std::make_unique<RankGroup>(my.all, my.settings.object.trainerRanks);
    my.comm = my.group->trainers();
    if (!my.group->trains())
    {
        my.initialWeights.reset();
    }
    std::vector<int> nComponents;
    for (const FieldSpec& field : my.theCase.fields)
    {
        nComponents.push_back(field.nComponents);
    }
    my.group->setFields(nComponents, static_cast<int>(nTargetColumns()));
    my.mesh = my.group->unite(std::move(mesh));
    my.lead([&my] { my.begin(); });
    my.begun = true;
}


void InSituTrainer::Impl::begin()
{
    const auto count = [this](const std::string& cache, const std::string& reason, double seconds)
        { caches.count(cache, reason, seconds); };
    LearningLoop::Place place;
    place.nSolvers = group->nMembers();
    loop = std::make_unique<LearningLoop>(settings, theCase, mesh, comm, profiler,
        count, [this](const std::string& message) { warn(message); }, place);
    record = std::make_unique<TrainingRecord>(
        comm->isMaster() ? theCase.outputFolder : std::string(),
        fieldNames(theCase.fields, theCase.targets),
        [this](const std::string& message) { warn(message); });
    shelf = std::make_unique<CheckpointShelf>(theCase.stableFolder + "/checkpoints");

    const GraphSize size = sizeOverRanks(*mesh.state.graph, *comm);
    record->start
    ({
        INSITU_VERSION, loop->trainer().device(), settings.training.precision, size.cells,
        size.nodes, size.edges, loop->trainer().model().nParameters(), settings.json
    });
    recordBuilds();
    info(announcement(size));

    const double horizonTime = settings.object.horizonTime.value_or(0);
    if (horizonTime > theCase.endTime - theCase.startTime)
    {
        warn("horizonTime " + numberText(horizonTime) + " is longer than the run, which ends at "
            + numberText(theCase.endTime)
            + ": no input will have a target, and nothing is learnt");
    }
}


//- What was built since the last call
void InSituTrainer::Impl::recordBuilds()
{
    for (const CacheRecord& now : caches.records())
    {
        for (const CacheRecord::Reason& reason : now.reasons)
        {
            const int added = reason.builds - buildsOf(recorded, now.cache, reason.name);
            if (added > 0)
            {
                record->rebuild(time, now.cache, reason.name, added);
            }
        }
    }
    recorded = caches.records();
}


std::string InSituTrainer::Impl::ranksText(const GraphSize& size) const
{
    const std::string shared = group->text().empty() ? "" : "\n    " + group->text();
    if (comm->size() == 1)
    {
        return shared;
    }
    return ", on " + std::to_string(comm->size()) + " ranks with " + (mesh.state.graph->halo()
        ? std::to_string(size.halo) + " halo rows" : "a graph each (halo none: approximate)")
        + shared;
}


std::string InSituTrainer::Impl::announcement(const GraphSize& size) const
{
    const ReplayBuffer::Limits& limits = loop->bufferLimits();
    const std::vector<std::string>& features = loop->stream().layout().features;
    const std::string& reason = loop->trainer().reasonForDevice();

    std::string text = mesh.text
        + "\n    versions: inSituFoam " INSITU_VERSION ", " + join(theCase.versions, ", ")
        + "\n    graph: " + std::to_string(size.nodes) + " nodes, "
        + std::to_string(size.edges) + " edges" + ranksText(size)
        + "\n    inputs: " + join(columnNames(theCase.fields, theCase.inputs)) + ' '
        + join(features) + (features.empty() ? "" : " ")
        + join(theCase.staticColumns)
        + (theCase.edgeInputs.empty() ? "" : "\n    edge inputs: "
            + join(columnNames(theCase.fields, theCase.edgeInputs)))
        + "\n    targets: " + join(columnNames(theCase.fields, theCase.targets)) + " ("
        + settings.object.target + ", horizon " + (settings.object.horizonTime
            ? numberText(*settings.object.horizonTime) + " s"
            : std::to_string(settings.object.horizon)) + ')'
        + "\n    model: " + settings.training.modelType + ", "
        + std::to_string(loop->trainer().model().nParameters()) + " parameters, "
        + settings.training.precision + ", " + loop->trainer().device()
        + (loop->trainer().keepsSamplesThere() ? " with the samples, " : ", ")
        + std::to_string(loop->nThreads()) + " threads"
        + (loop->isAsync() ? " beside the solver's" : "")
        + (reason.empty() ? "" : " (device auto: " + reason + ')')
        + "\n    buffer: at most " + std::to_string(limits.capacity) + " samples of "
        + bytesText(loop->stream().bytesPerSample())
        + (theCase.meshMayChange ? " and their meshes" : "") + ", and at most "
        + bytesText(limits.memory)
        + (settings.object.buffer.checkpoint
            ? ", also in the two newest checkpoints"
            : ", not in checkpoints");
    if (loop->isAsync())
    {
        text += "\n    mode: async, " + std::to_string(settings.object.queue.slots)
            + " slots, onLag " + settings.object.queue.onLag;
    }
    if (loop->budget().limited())
    {
        text += "\n    maxFraction is set: the course of the training depends on the clock";
    }
    return text;
}


template<class Scalar>
InSituTrainer::Report InSituTrainer::execute
(
    const Instant& now,
    const std::vector<FieldView<Scalar>>& views
)
{
    Impl& my = *impl_;
    my.time = now.time;
    const std::vector<FieldView<Scalar>>& fields = [&]() -> const std::vector<FieldView<Scalar>>&
    {
        ScopedTimer timer(my.profiler, "gather");
        return my.group->unite(views);
    }();

    Report report;
    my.lead([&]
    {
        my.takeInitialWeights();
        my.loop->execute(now, fields);
        my.loop->askForReport(now.time, now.timeIndex);
        report.text = my.reportText();
        report.due = !report.text.empty();
    });
    return report;
}


//- Write down the reports that have come; their log blocks
std::string InSituTrainer::Impl::reportText()
{
    std::string text;
    while (const auto measures = loop->nextReport())
    {
        recordBuilds();
        record->report(*measures);
        text += (text.empty() ? "" : "\n")
            + (loop->isAsync() ? "    time = " + shortText(measures->time) + '\n' : std::string())
            + record->text(*measures);
    }
    return text;
}


//- Those that have come between two executions
void InSituTrainer::Impl::tellLateReports()
{
    const std::string late = reportText();
    if (!late.empty())
    {
        info("execute:\n" + late);
    }
}


Span<const double> InSituTrainer::prediction() const
{
    Impl& my = *impl_;
    if (!hasPrediction())
    {
        return {};
    }
    return my.group->part(my.loop ? my.loop->prediction() : Span<const double>());
}


bool InSituTrainer::hasPrediction() const
{
    Impl& my = *impl_;
    return my.group && my.numberThere([&my] { return my.loop->hasPrediction(); }) != 0;
}


void InSituTrainer::countBuild(const std::string& cache, const std::string& reason, double seconds)
{
    impl_->caches.count(cache, reason, seconds);
}


void InSituTrainer::reconfigure(const Node& block)
{
    Impl& my = *impl_;
    Settings changed = readSettings(block, my.name, my.caseFolder, my.hostKeys);

    if (!my.begun)
    {
        my.readInitialWeights(block, changed.object.initialWeights);
        my.settings = std::move(changed);
        return;
    }

    // Keys of another type of optimiser mean something else: they stay with the type
    const bool sameOptimizer = my.settings.training.optimizerType == changed.training.optimizerType;

    std::vector<std::string> applied, refused, fixed;
    for (const ConfigDifference& change : differences(my.settings.values, changed.values))
    {
        const bool applies = isChangeable(change.path)
         && (sameOptimizer || change.path.rfind("training.optimizer.", 0) != 0);
        (applies ? applied : isFixedForever(change.path) ? fixed : refused)
            .push_back(change.text());
        if (applies)
        {
            my.settings.values[change.path] = change.after;
        }
    }

    if (my.loop)
    {
        my.loop->settle();
    }
    ObjectConfig& object = my.settings.object;
    object.reportInterval = changed.object.reportInterval;
    object.maxFraction = changed.object.maxFraction;
    object.onError = changed.object.onError;
    object.onNonFinite = changed.object.onNonFinite;
    object.maxBadSteps = changed.object.maxBadSteps;
    object.selfCheck = changed.object.selfCheck;
    object.checkReplicas = changed.object.checkReplicas;
    my.settings.training.stepsPerExecute = changed.training.stepsPerExecute;
    if (my.loop)
    {
        my.loop->reconfigure(changed);
    }

    if (!applied.empty())
    {
        my.info("applied " + join(applied, "; "));
    }
    if (!refused.empty())
    {
        my.warn("left as it was, since it cannot change during a run: " + join(refused, "; ")
            + ". It takes a restart");
    }
    if (!fixed.empty())
    {
        my.warn("left as it was, since what was learnt depends on it: " + join(fixed, "; ")
            + ". It takes a restart with 'resume fresh'");
    }
}


void InSituTrainer::finish()
{
    Impl& my = *impl_;
    if (!my.begun || my.finished)
    {
        return;
    }
    my.finished = true;
    Traffic beside;
    if (my.loop)
    {
        if (my.loop->nOnTheirWay() > 0)
        {
            my.info("the solver has ended; " + std::to_string(my.loop->nOnTheirWay())
                + " samples and reports are still worked on");
        }
        my.loop->settle();
        beside = my.loop->trafficBeside();
    }
    my.traffic = TrafficSummary::of(*my.all, beside);
    my.lead([&my] { my.finish(); });
}


void InSituTrainer::Impl::finish()
{
    tellLateReports();
    if (loop->isAsync())
    {
        writeLateModel();
    }
    const double wall = loop->budget().elapsed();
    const std::vector<Profiler::Stage> stages = profiler.stages(*comm);
    const std::vector<Profiler::Stage> beside = loop->stagesBeside();
    const DropCounts dropped = loop->dropped();
    recordBuilds();
    record->end({stages, traffic, wall, caches.records(), loop->nMapped(), dropped, beside});
    std::string leftOut =
        loop->nMapped() > 0 ? "; mapped: " + std::to_string(loop->nMapped()) : "";
    if (nChecks > 0)
    {
        leftOut += "; caches checked: " + std::to_string(nChecks) + " times";
    }
    bool first = true;
    for (const auto& [reason, count] : dropped)
    {
        if (count > 0)
        {
            leftOut += (first ? "; left out: " : ", ") + std::to_string(count) + " ("
                + reason + ')';
            first = false;
        }
    }
    if (loop->nSamples() == 0 && loop->nExecutions() > 0)
    {
        warn("nothing was learnt: no input has met its target in "
            + std::to_string(loop->nExecutions()) + " executions"
            + (leftOut.empty() ? ", which are fewer than the horizon needs" : leftOut));
    }
    info(std::to_string(loop->nSamples()) + " samples, "
        + std::to_string(loop->trainer().nSteps()) + " training steps" + leftOut + '\n'
        + summaryTable(stages, wall, caches.records(), beside) + traffic.text(wall));
}


template InSituTrainer::Report InSituTrainer::execute(const Instant&,
    const std::vector<FieldView<float>>&);
template InSituTrainer::Report InSituTrainer::execute(const Instant&,
    const std::vector<FieldView<double>>&);

}
