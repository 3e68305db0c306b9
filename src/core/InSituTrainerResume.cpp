// SPDX-License-Identifier: GPL-3.0-or-later
#include "InSituTrainerImpl.hpp"

#include "base/agree.hpp"
#include "base/Text.hpp"
#include "train/ResumedParts.hpp"
#include "train/RunIdentity.hpp"

#include <cmath>

// How a training resumes: the master looks, all ranks read and agree

namespace inSitu
{

void InSituTrainer::resume(std::vector<CheckpointPlace> places)
{
    impl_->lead([&] { impl_->resume(std::move(places)); });
}


void InSituTrainer::Impl::resume(std::vector<CheckpointPlace> places)
{
    const std::string& policy = settings.object.resume;
    if (policy == "fresh")
    {
        return;
    }

    const double start = theCase.startTime;
    std::vector<CheckpointPlace> candidates;
    together(*comm, [&]
    {
        if (comm->isMaster())
        {
            places = shelf->tidy(std::move(places));
            candidates = shelf->candidates(places, start + theCase.timeTolerance);
        }
    });
    candidates.resize(
        static_cast<std::size_t>(largestOf(*comm, static_cast<double>(candidates.size()))));

    for (CheckpointPlace& candidate : candidates)
    {
        const CheckpointPlace place
        {
            std::stod(textOfMaster(*comm, numberText(candidate.time))),
            textOfMaster(*comm, candidate.folder)
        };
        if (policy == "strict" && !isOfStartTime(place))
        {
            break;
        }
        if (resumeFrom(place))
        {
            shelf->adopt(places);
            return;
        }
    }

    if (policy == "strict")
    {
        throw IncompatibleState("resume strict: no good checkpoint of the start time "
            + numberText(start) + ", neither in its folder nor below " + theCase.stableFolder
            + "/checkpoints; 'resume auto' takes an older one or starts anew");
    }
    if (candidates.empty() && start > 0)
    {
        warn("there is no checkpoint of time " + numberText(start)
            + " or earlier: the training starts anew");
    }
    if (!candidates.empty())
    {
        warn("none of " + std::to_string(candidates.size())
            + " checkpoints can be read: the training starts anew");
    }
}


bool InSituTrainer::Impl::isOfStartTime(const CheckpointPlace& place) const
{
    return std::abs(place.time - theCase.startTime) <= theCase.timeTolerance;
}


//- False: it cannot be read
bool InSituTrainer::Impl::resumeFrom(const CheckpointPlace& place)
{
    Checkpoint checkpoint;
    try
    {
        checkpoint = readCheckpoint(place.folder, *comm);
    }
    catch (const AgreedError& fault)
    {
        warn(std::string(fault.what()) + ". Trying the next older checkpoint");
        return false;
    }
    load(checkpoint, place);
    return true;
}


void InSituTrainer::Impl::load(const Checkpoint& checkpoint, const CheckpointPlace& place)
{
    const bool sameTime = isOfStartTime(place);
    const bool continuous = sameTime && theCase.meshOfStartTime;
    const StateTree run = checkpoint.state.subTree("run");
    ResumedParts parts;
    std::vector<std::string> changes;
    try
    {
        requireFormat(run);
        std::vector<StateTree> savedRows;
        for (const RankPart& part : checkpoint.parts)
        {
            savedRows.push_back(part.values.subTree("rows"));
        }
        const SavedRows rows(savedRows, checkpoint.nRanks,
            TopologyMark::load(run.subTree("topology")), mesh.state, *comm);
        changes = requireSameRun(run, rows, settings, theCase, mesh, continuous, *comm);
        parts = ResumedParts::of(checkpoint, rows, loop->stream().layout(), mesh.state,
            continuous, *comm);
    }
    catch (const IncompatibleState& fault)
    {
        throw IncompatibleState("the checkpoint " + place.folder + " does not fit this run: "
            + fault.what() + ". Restore the case or the entry, or start anew with 'resume fresh'");
    }

    if (initialWeights || initialFault)
    {
        info("initialWeights \"" + settings.object.initialWeights
            + "\" has no effect: the training resumes");
        initialWeights.reset();
        initialFault.reset();
    }
    together(*comm, [&]
    {
        const std::vector<std::string> notes = loop->load(checkpoint.state.subTree("loop"),
            parts.part, parts.replay ? &*parts.replay : nullptr);
        changes.insert(changes.end(), notes.begin(), notes.end());
    });
    const std::string course = std::to_string(loop->nSamples()) + " samples, "
        + std::to_string(loop->trainer().nSteps()) + " training steps";
    loop->learnLoaded();

    info("resumed from " + place.folder + ": " + course
        + (changes.empty() ? "" : "\n    changed since: " + join(changes, "; "))
        + (parts.note.empty() ? "" : "\n    " + parts.note)
        + (checkpoint.hasReplay ? "" : "\n    this checkpoint has no samples (the two newest keep"
            " them): the buffer fills anew")
        + (theCase.exactRestart ? "" : "\n    fields are not written in binary: the solver itself"
            " restarts with rounded values ('writeFormat binary' continues bit for bit)"));
    for (const std::string& loss : parts.losses)
    {
        warn(loss);
    }
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

}
