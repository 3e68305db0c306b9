// SPDX-License-Identifier: GPL-3.0-or-later
#include "InSituTrainerImpl.hpp"

#include "base/Error.hpp"
#include "base/Text.hpp"
#include "infer/NetworkSurrogate.hpp"
#include "io/GraphFile.hpp"
#include "model/MdlusFile.hpp"
#include "train/cardOf.hpp"
#include "train/RunIdentity.hpp"

#include <cmath>
#include <filesystem>
#include <functional>

// Checkpoint and artifact

namespace inSitu
{

std::optional<WeightsFile> InSituTrainer::Impl::readInitialWeights(const Settings& from) const
{
    const std::string& entry = from.object.initialWeights;
    if (entry.empty())
    {
        return std::nullopt;
    }
    try
    {
        return readWeights((std::filesystem::path(caseFolder)/entry).string());
    }
    catch (const Error& fault)
    {
        throw ConfigError(from.file, from.line, name + ".initialWeights: " + fault.what());
    }
}


//- Before the first step of a training that did not resume
void InSituTrainer::Impl::takeInitialWeights()
{
    if (!initialWeights)
    {
        return;
    }
    const WeightsFile file = std::move(*initialWeights);
    initialWeights.reset();
    const WeightsMatch match = takeWeights(loop->trainer().model(), file);
    info("initialWeights " + file.path + ", " + file.kind + match.text());
}


void InSituTrainer::resume(std::vector<CheckpointPlace> places)
{
    Impl& my = *impl_;
    const std::string& policy = my.settings.object.resume;
    if (policy == "fresh")
    {
        return;
    }

    const double start = my.theCase.startTime;
    places = my.shelf->tidy(std::move(places));
    const std::vector<CheckpointPlace> candidates =
        my.shelf->candidates(places, start + my.theCase.timeTolerance);

    for (const CheckpointPlace& place : candidates)
    {
        if (policy == "strict" && !my.isOfStartTime(place))
        {
            break;
        }
        Checkpoint checkpoint;
        try
        {
            checkpoint = readCheckpoint(place.folder);
        }
        catch (const Error& fault)
        {
            my.warn(std::string(fault.what()) + ". Trying the next older checkpoint");
            continue;
        }
        my.load(checkpoint, place);
        my.shelf->adopt(places);
        return;
    }

    if (policy == "strict")
    {
        throw IncompatibleState("resume strict: no good checkpoint of the start time "
            + numberText(start) + ", neither in its folder nor below " + my.theCase.stableFolder
            + "/checkpoints; 'resume auto' takes an older one or starts anew");
    }
    if (candidates.empty() && start > 0)
    {
        my.warn("there is no checkpoint of time " + numberText(start)
            + " or earlier: the training starts anew");
    }
    if (!candidates.empty())
    {
        my.warn("none of " + std::to_string(candidates.size())
            + " checkpoints can be read: the training starts anew");
    }
}


bool InSituTrainer::Impl::isOfStartTime(const CheckpointPlace& place) const
{
    return std::abs(place.time - theCase.startTime) <= theCase.timeTolerance;
}


void InSituTrainer::Impl::load(const Checkpoint& checkpoint, const CheckpointPlace& place)
{
    const bool sameTime = isOfStartTime(place);
    const bool continuous = sameTime && theCase.meshOfStartTime;
    std::vector<std::string> changes;
    try
    {
        changes = requireSameRun(checkpoint.state.subTree("run"), settings, theCase, mesh,
            continuous);
    }
    catch (const IncompatibleState& fault)
    {
        throw IncompatibleState("the checkpoint " + place.folder + " does not fit this run: "
            + fault.what() + ". Restore the case or the entry, or start anew with 'resume fresh'");
    }

    if (initialWeights)
    {
        info("initialWeights " + initialWeights->path + " has no effect: the training resumes");
        initialWeights.reset();
    }
    const std::vector<std::string> notes = loop->load(checkpoint.state.subTree("loop"),
        checkpoint.replay ? &*checkpoint.replay : nullptr, continuous);
    changes.insert(changes.end(), notes.begin(), notes.end());

    info("resumed from " + place.folder + ": " + std::to_string(loop->nSamples()) + " samples, "
        + std::to_string(loop->trainer().nSteps()) + " training steps"
        + (changes.empty() ? "" : "\n    changed since: " + join(changes, "; "))
        + (checkpoint.replay ? "" : "\n    this checkpoint has no samples (the two newest keep"
            " them): the buffer fills anew")
        + (theCase.exactRestart ? "" : "\n    fields are not written in binary: the solver itself"
            " restarts with rounded values ('writeFormat binary' continues bit for bit)"));
    if (sameTime && !continuous)
    {
        warn("the mesh is no longer that of the checkpoint: inputs that waited there are dropped");
    }
    if (!sameTime)
    {
        warn("the newest good checkpoint is of time " + numberText(place.time)
            + ", the run starts at " + numberText(theCase.startTime)
            + ": what lies between is not learnt");
    }
}


void InSituTrainer::write(double time, const std::string& timeName, const std::string& folder)
{
    Impl& my = *impl_;
    ScopedTimer timer(my.profiler, "write");
    my.takeInitialWeights();

    std::vector<std::string> faults;
    const auto attempt = [&](const std::string& what, const std::function<void()>& body)
    {
        try
        {
            body();
        }
        catch (const std::exception& fault)
        {
            faults.push_back("no new " + what + ": " + fault.what());
        }
    };

    if (my.loop->badSteps() > 0)
    {
        my.warn("no checkpoint at time " + timeName + ": the last "
            + std::to_string(my.loop->badSteps()) + " training steps were not finite");
        return;
    }
    attempt("checkpoint", [&]
    {
        Checkpoint checkpoint;
        checkpoint.state.putTree("run", saveIdentity(my.settings, my.theCase, my.mesh));
        checkpoint.state.putTree("loop", my.loop->save());
        if (my.settings.object.buffer.checkpoint)
        {
            checkpoint.replay = my.loop->saveReplay();
        }
        const std::size_t bytes = my.shelf->add({time, folder}, timeName, checkpoint);
        my.record->checkpoint(time, folder, bytes);
    });
    attempt("model", [&] { my.writeModel(); });

    if (!faults.empty())
    {
        my.warn("at time " + timeName + ' ' + join(faults, "; ")
            + ". What was there before is intact; tried again at the next write time");
    }
}


void InSituTrainer::Impl::writeModel()
{
    if (loop->normaliser().nSamples() == 0)
    {
        return;
    }

    const SurrogateScales now = scales();
    ArtifactContent content;
    content.nInputColumns = static_cast<int>(now.input.nodes.shift.size());
    content.input = now.input.nodes;
    content.target = now.target;
    content.inputReference = now.inputReference;
    content.inputReference.resize(now.input.nodes.shift.size(), 0.0);
    content.targetReference = now.targetReference;
    content.staticScales = staticScales(theCase.staticColumns, now.input.mesh);
    content.edgeScales = edgeScales(*mesh.state.geometry, now.input.mesh.edgeLength);
    content.card = card().json();

    writeGraphFile(theCase.stableFolder + "/graph.h5", mesh.state, theCase.staticColumns);
    loop->trainer().visitBest([&](const Model& model)
    {
        writeArtifact(theCase.stableFolder + "/model.pt", model, content);
        if (!settings.object.exports.empty())
        {
            writeMdlus(theCase.stableFolder + "/model.mdlus", model, &content);
        }
    });
}


ModelCard InSituTrainer::Impl::card() const
{
    return cardOf(name, settings, theCase, mesh,
        {loop->nSamples(), loop->trainer().nSteps(), loop->trainer().model().nParameters()},
        loop->targetRange());
}


SurrogateScales InSituTrainer::Impl::scales() const
{
    SurrogateScales scales;
    scales.input = loop->normaliser().inputScales();
    scales.target = loop->normaliser().target();
    scales.inputReference = loop->stream().inputReference();
    scales.targetReference = loop->stream().targetReference();
    return scales;
}


std::int64_t InSituTrainer::revision() const
{
    const Impl& my = *impl_;
    const std::int64_t nSamples = my.loop ? my.loop->normaliser().nSamples() : 0;
    return nSamples > 0 ? nSamples + my.loop->trainer().nUpdates() : -1;
}


std::unique_ptr<Surrogate> InSituTrainer::surrogate(ThreadPool& pool, const CountBuild& count) const
{
    const Impl& my = *impl_;
    const ModelCard card = my.card();
    if (my.settings.training.modelType == "torchscript")
    {
        throw Error("the network of trainer " + my.name + " is a TorchScript file, which cannot be"
            " followed while it is trained; predict from its model.pt");
    }
    const ModelShape shape
    {
        card.nInputColumns() + static_cast<int>(card.staticColumns.size()),
        static_cast<int>(card.edgeColumns.size()),
        card.nTargetColumns()
    };
    auto copy = std::make_unique<NetworkSurrogate>(card, my.settings.training.model->build(shape,
        my.settings.training.arithmetic(), 0, pool), my.scales(), pool, count);
    update(*copy);
    return copy;
}


void InSituTrainer::update(Surrogate& surrogate) const
{
    dynamic_cast<NetworkSurrogate&>(surrogate).update(impl_->loop->trainer().model(),
        impl_->scales(), impl_->card());
}

}
