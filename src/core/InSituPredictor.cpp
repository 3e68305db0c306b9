// SPDX-License-Identifier: GPL-3.0-or-later
#include "InSituPredictorImpl.hpp"

#include "base/Error.hpp"
#include "base/Text.hpp"
#include "base/agree.hpp"
#include "config/featureWords.hpp"
#include "infer/columnLimits.hpp"
#include "infer/requireCase.hpp"

#include <algorithm>

namespace inSitu
{

namespace
{

std::vector<std::string> namesOf(const std::vector<FieldSpec>& fields)
{
    std::vector<std::string> names;
    for (const FieldSpec& field : fields)
    {
        names.push_back(field.name);
    }
    return names;
}


std::string horizonText(const ModelCard& card)
{
    return card.horizonTime ? numberText(*card.horizonTime) + " s ahead"
        : card.horizon == 0 ? "of the same time" : std::to_string(card.horizon)
            + (card.horizon == 1 ? " execution ahead" : " executions ahead");
}


//- What a rollout takes from the solver besides its start
std::string textOfSolverInputs(const ModelCard& card)
{
    std::vector<std::string> names;
    for (const std::vector<FieldSpec>* fields : {&card.inputs, &card.edgeInputs})
    {
        for (const FieldSpec& field : *fields)
        {
            const bool predicted = std::any_of(card.targets.begin(), card.targets.end(),
                [&](const FieldSpec& target) { return target.name == field.name; });
            if (!predicted)
            {
                names.push_back(field.name);
            }
        }
    }
    return names.empty() ? "" : "\n    the solver's at each step: " + join(names)
        + "; so this is no forecast on its own";
}

}


InSituPredictor::InSituPredictor
(
    const Node& block,
    const std::string& name,
    const std::string& caseFolder,
    const std::vector<std::string>& hostKeys,
    std::shared_ptr<Comm> comm,
    std::shared_ptr<LogSink> log
)
:
    impl_(std::make_unique<Impl>(block, name, caseFolder, hostKeys, std::move(comm),
        std::move(log)))
{
    if (!impl_->path.empty())
    {
        impl_->load();
    }
}


InSituPredictor::~InSituPredictor() = default;


const PredictorConfig& InSituPredictor::config() const
{
    return impl_->config;
}


bool InSituPredictor::goesOnAfterError() const
{
    return config().onError == "continue";
}


std::int64_t InSituPredictor::selfCheckInterval() const
{
    return config().selfCheck;
}


InSituEngine::MeshOptions InSituPredictor::meshOptions() const
{
    const bool mapsWaiting = config().onTopologyChange == "map" && card().edgeInputs.empty();
    return {card().boundaryNodes, config().graph.halo == "exchange", "",
        chosen(card().staticColumns, meshFeatures()), mapsWaiting};
}


bool InSituPredictor::hasModel() const
{
    return impl_->surrogate != nullptr;
}


const ModelCard& InSituPredictor::card() const
{
    return impl_->surrogate->card();
}


CountBuild InSituPredictor::Impl::counter()
{
    return [this](const std::string& cache, const std::string& reason, double seconds)
        { caches.count(cache, reason, seconds); };
}


void InSituPredictor::Impl::warn(const std::string& message)
{
    log->warning(name + ": " + message);
    if (record)
    {
        record->warning(message);
    }
}


SampleStream::Layout InSituPredictor::Impl::streamLayout() const
{
    const ModelCard& card = surrogate->card();
    SampleStream::Layout layout;
    layout.input = RowLayout::of(theCase.fields, theCase.inputs, card.boundaryNodes);
    layout.target = RowLayout::of(theCase.fields, theCase.targets, false);
    layout.edges = EdgeLayout::of(theCase.fields, theCase.edgeInputs);
    layout.features = card.features;
    layout.horizon.steps = static_cast<int>(card.horizon);
    layout.horizon.seconds = card.horizonTime.value_or(0);
    layout.increment = card.increment;
    layout.precision = surrogate->precision();
    return layout;
}


void InSituPredictor::begin(TrainingCase theCase, CaseMesh mesh)
{
    Impl& my = *impl_;
    my.theCase = std::move(theCase);
    my.mesh = std::move(mesh);
    const ModelCard& card = my.surrogate->card();
    requireCase(card, my.theCase, my.mesh);
    my.group->unite(my.mesh);               // refused now, or never
    if (my.mesh.state.graph->halo() && !my.surrogate->handlesHalo())
    {
        throw Error("model \"" + my.config.model + "\" sees the cells of its own rank only;"
            " 'graph { halo none; }' predicts so on several ranks, where cells at their borders"
            " lack neighbours");
    }
    const std::string folder = my.comm->isMaster() ? my.theCase.outputFolder : std::string();
    const auto tell = [&my](const std::string& message) { my.warn(message); };

    std::vector<std::string> targets;
    for (const FieldSpec& field : card.targets)
    {
        targets.push_back(field.name);
    }
    if (my.config.mode == "closure")
    {
        if (card.horizon != 0 || card.horizonTime || card.increment)
        {
            throw Error("mode closure wants a network of 'target value' with 'horizon 0', which"
                " maps fields of one time; this one predicts "
                + std::string(card.increment ? "increments" : "values") + " ahead");
        }
        SampleStream::Layout layout = my.streamLayout();
        layout.target = RowLayout::of(my.theCase.fields, {}, false);
        my.stream = std::make_unique<SampleStream>(layout, my.mesh.state);
        my.stream->setReferences(my.surrogate->inputReference(), {});
        my.closure = std::make_unique<Closure>(card, my.config.closure,
            columnLimits(my.limits, card.targets));
        my.record = std::make_unique<MeasureRecord>(folder, "closure",
            "executions", std::vector<std::string>{"minimum", "maximum"}, targets, tell);
    }
    else if (my.config.mode == "rollout")
    {
        const SampleStream::Layout layout = my.streamLayout();
        my.rollout = std::make_unique<Rollout>(*my.surrogate, layout.input, layout.target,
            layout.horizon, my.mesh.state, fieldOfColumn(my.theCase.fields, my.theCase.targets),
            my.profiler, layout.edges);
        my.record = std::make_unique<MeasureRecord>(folder, "rollout",
            "step", std::vector<std::string>{"rmse", "relative", "persistence"}, targets, tell);
    }
    else
    {
        my.comparison = std::make_unique<Comparison>(*my.surrogate, my.streamLayout(), my.mesh,
            fieldOfColumn(my.theCase.fields, my.theCase.targets), my.profiler);
        my.record = std::make_unique<MeasureRecord>(folder, "comparison",
            "samples", std::vector<std::string>{"rmse", "skill", "largest", "cell"}, targets, tell);
    }
    my.record->start(my.config.mode, my.config.model, card.json());
    my.info(my.mesh.text + "\n    model: " + my.config.model + sizeText(*my.surrogate)
        + "\n    inputs: " + join(namesOf(card.inputs)) + "; targets: "
        + join(namesOf(card.targets)) + ", " + horizonText(card)
        + (my.rollout ? textOfSolverInputs(card) : "")
        + "\n    mode: " + my.config.mode + ", " + my.device + ", "
        + std::to_string(my.pool.nThreads()) + " threads"
        + (my.group->text().empty() ? "" : "\n    " + my.group->text()));
}


bool InSituPredictor::begun() const
{
    return impl_->record != nullptr;
}


void InSituPredictor::setGeometry(CaseMesh mesh)
{
    Impl& my = *impl_;
    my.mesh = std::move(mesh);
    if (my.rollout)
    {
        my.rollout->setMesh(my.mesh.state);
        return;
    }
    (my.stream ? *my.stream : my.comparison->stream()).setGeometry(my.mesh.state);
}


void InSituPredictor::setTopology(CaseMesh mesh, const std::vector<Pending>& pending)
{
    Impl& my = *impl_;
    std::vector<PendingInputs::Values> values;
    if (!anyRank(*my.comm, pending.size() != nPending()))
    {
        for (const Pending& input : pending)
        {
            values.push_back({Span<const double>(input.input), Span<const double>(input.target)});
        }
    }
    my.mesh = std::move(mesh);
    if (my.rollout)
    {
        my.rollout->setMesh(my.mesh.state);
        return;
    }
    SampleStream& stream = my.stream ? *my.stream : my.comparison->stream();
    const int lost = stream.setTopology(my.mesh.state, values);
    if (lost > 0)
    {
        my.counts["topologyChange"] += lost;
    }
    else
    {
        my.counts["mapped"] += static_cast<std::int64_t>(values.size());
    }
}


std::size_t InSituPredictor::nPending() const
{
    return impl_->comparison ? impl_->comparison->stream().pending().size() : 0;
}


std::int64_t InSituPredictor::pendingTimeIndex(std::size_t i) const
{
    return impl_->comparison->stream().pending()[i].timeIndex;
}


std::size_t InSituPredictor::nInputColumns() const
{
    return static_cast<std::size_t>(card().nInputColumns()) - card().features.size();
}


std::size_t InSituPredictor::nTargetColumns() const
{
    return static_cast<std::size_t>(card().nTargetColumns());
}


void InSituPredictor::getPending(std::size_t i, Pending& pending) const
{
    impl_->comparison->stream().getPending(i, pending);
}


void InSituPredictor::gap()
{
    if (impl_->rollout && impl_->rollout->begun())
    {
        impl_->warn("executions were left out: the rollout starts again from the solver");
        impl_->rollout->reset();
    }
    if (impl_->comparison)
    {
        const int lost = impl_->comparison->stream().drop();
        if (lost > 0)
        {
            impl_->counts["gap"] += lost;
        }
    }
}


void InSituPredictor::check()
{
    impl_->group->check();
    const std::string text = impl_->surrogate->firstStaleEntry();
    if (!text.empty())
    {
        throw Error("selfCheck: a cache is stale: " + text);
    }
}


void InSituPredictor::countBuild(const std::string& cache, const std::string& reason,
    double seconds)
{
    impl_->caches.count(cache, reason, seconds);
}


void InSituPredictor::finish()
{
    Impl& my = *impl_;
    if (!my.record || my.finished)
    {
        return;
    }
    my.finished = true;
    if (my.comparison && my.comparison->errors().nSamples() > 0)
    {
        my.info("the rest since the last report\n" + my.reportOfComparison().text);
    }
    const double wall = std::chrono::duration<double>(
        std::chrono::steady_clock::now() - my.start).count();
    const std::vector<Profiler::Stage> stages = my.profiler.stages(*my.comm);
    const TrafficSummary traffic = TrafficSummary::of(*my.comm);
    my.record->end(stages, traffic, wall, my.caches.records(), my.counts);
    my.info(std::to_string(my.executions) + " executions\n"
        + summaryTable(stages, wall, my.caches.records()) + traffic.text(wall));
}

}
