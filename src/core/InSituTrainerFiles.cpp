// SPDX-License-Identifier: GPL-3.0-or-later
#include "InSituTrainerImpl.hpp"

#include "base/agree.hpp"
#include "io/GraphFile.hpp"
#include "io/requireSameFile.hpp"
#include "model/MdlusFile.hpp"
#include "train/cardOf.hpp"
#include "train/RunIdentity.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>

// Checkpoint and artifact: what is written

namespace inSitu
{

void InSituTrainer::Impl::readInitialWeights(const Node& block, const std::string& entry)
{
    initialWeights.reset();
    initialFault.reset();
    if (entry.empty())
    {
        return;
    }
    try
    {
        initialWeights = readWeights((std::filesystem::path(caseFolder)/entry).string());
    }
    catch (const Error& fault)
    {
        const Node& place = *block.find("initialWeights");
        initialFault.emplace(place.file, place.line, name + ".initialWeights: " + fault.what());
    }
}


void InSituTrainer::requireInitialWeights
(
    const std::vector<CheckpointPlace>& places,
    const std::string& stableFolder,
    double latest
) const
{
    const Impl& my = *impl_;
    if (!my.initialFault)
    {
        return;
    }
    const std::vector<CheckpointPlace> candidates =
        CheckpointShelf(stableFolder + "/checkpoints").candidates(places, latest);
    const bool mayResume = my.settings.object.resume != "fresh"
     && std::any_of(candidates.begin(), candidates.end(), [](const CheckpointPlace& place)
        {
            return std::filesystem::exists(place.folder)
                || std::filesystem::exists(place.folder + ".old");
        });
    if (!mayResume)
    {
        throw *my.initialFault;
    }
}


//- Before the first step of a training that did not resume
void InSituTrainer::Impl::takeInitialWeights()
{
    if (initialFault)
    {
        throw *initialFault;
    }
    if (!initialWeights)
    {
        return;
    }
    const bool isCheckpoint = std::filesystem::is_directory(initialWeights->path);
    requireSameFile(initialWeights->path + (isCheckpoint ? "/state.h5" : ""), "initialWeights",
        *comm);
    const WeightsFile file = std::move(*initialWeights);
    initialWeights.reset();
    const WeightsMatch match = takeWeights(loop->trainer().model(), file);
    info("initialWeights " + file.path + ", " + file.kind + match.text());
}


void InSituTrainer::write(double time, const std::string& timeName, const std::string& folder)
{
    impl_->lead([&] { impl_->write(time, timeName, folder); });
}


void InSituTrainer::Impl::write(double time, const std::string& timeName,
    const std::string& folder)
{
    takeInitialWeights();
    const LearningLoop::Hold hold = loop->hold();
    tellLateReports();      // those before the checkpoint, which a restart would not give again
    ScopedTimer timer(profiler, "write");
    if (loop->badSteps() > 0)
    {
        warn("no checkpoint at time " + timeName + ": the last "
            + std::to_string(loop->badSteps()) + " training steps were not finite");
        return;
    }

    std::vector<std::string> faults;
    const auto attempt = [&](const std::string& what, const std::function<void()>& body)
    {
        try
        {
            body();
        }
        catch (const AgreedError& fault)
        {
            faults.push_back("no new " + what + ": " + fault.what());
        }
    };
    attempt("checkpoint", [&]
    {
        const std::size_t bytes = writeCheckpoint({time, folder}, timeName);
        record->checkpoint(time, folder, bytes);
    });
    attempt("model", [&]
    {
        writeModel();
        nSamplesInModel = loop->nSamples();
    });

    if (!faults.empty())
    {
        warn("at time " + timeName + ' ' + join(faults, "; ")
            + ". What was there before is intact; tried again at the next write time");
    }
}


//- Samples that were still on their way at the last write time are learnt by now
void InSituTrainer::Impl::writeLateModel()
{
    if (nSamplesInModel < 0 || nSamplesInModel == loop->nSamples() || loop->badSteps() > 0)
    {
        return;
    }
    try
    {
        writeModel();
    }
    catch (const AgreedError& fault)
    {
        warn("the model of the last write time lacks "
            + std::to_string(loop->nSamples() - nSamplesInModel)
            + " samples that have been learnt since: " + fault.what());
    }
}


std::size_t InSituTrainer::Impl::writeCheckpoint(const CheckpointPlace& place,
    const std::string& timeName)
{
    StateTree state;
    RankPart part;
    state.putTree("run", saveIdentity(settings, theCase, mesh, *comm));
    together(*comm, [&]
    {
        state.putTree("loop", loop->save());
        part.values = loop->savePart();
        part.values.putTree("rows", SavedRows::save(mesh.state));
        if (settings.object.buffer.checkpoint)
        {
            part.replay = loop->saveReplay();
        }
    });
    return shelf->add(place, timeName, state, part, *comm);
}


//- The master writes; the graph is that of all ranks
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
    content.edgeScales.insert(content.edgeScales.end(), now.input.edges.begin(),
        now.input.edges.end());
    content.card = card().json();

    writeGraphFile(theCase.stableFolder + "/graph.h5", mesh.state, theCase.staticColumns, *comm);
    const auto write = [&](const Model& model)
    {
        writeArtifact(theCase.stableFolder + "/model.pt", model, content);
        if (!settings.object.exports.empty())
        {
            writeMdlus(theCase.stableFolder + "/model.mdlus", model, &content);
        }
    };
    together(*comm, [&]
    {
        if (comm->isMaster())
        {
            loop->trainer().visitBest(write);
        }
    });
}


ModelCard InSituTrainer::Impl::card() const
{
    return cardOf(name, settings, theCase, mesh,
        {loop->nSamples(), loop->trainer().nSteps(), loop->trainer().model().nParameters()},
        loop->targetRange(), loop->interval());
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

}
