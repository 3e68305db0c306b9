// SPDX-License-Identifier: GPL-3.0-or-later
#include "InSituPredictorImpl.hpp"

#include "InSituTrainer.hpp"
#include "base/Error.hpp"
#include "base/agree.hpp"
#include "base/threadsOf.hpp"
#include "config/SchemaReader.hpp"
#include "infer/columnLimits.hpp"
#include "infer/requireCase.hpp"
#include "io/requireSameFile.hpp"
#include "model/chooseDevice.hpp"

#include <filesystem>

// Entries and model, and what follows when they change

namespace inSitu
{
namespace
{

//- limits: the entry of that name, whose keys are names of fields; an empty block without one
PredictorConfig readEntries(const Node& block, const std::string& name,
    std::vector<std::string> hostKeys, Node& limits)
{
    hostKeys.emplace_back("limits");
    PredictorConfig config;
    readConfig(block, name, [&](Schema& schema) { config.describe(schema); }, hostKeys);

    const Node* const entry = block.find("limits");
    const std::string complaint = entry ? config.complaintAbout("limits") : std::string();
    if (!complaint.empty())
    {
        throw ConfigError(entry->file, entry->line, name + ".limits has no effect " + complaint);
    }
    limits = entry ? *entry : Node::block(block.file, block.line);
    return config;
}


std::string pathOf(const PredictorConfig& config, const std::string& caseFolder)
{
    return config.trainer().empty()
      ? (std::filesystem::path(caseFolder)/config.model).string() : std::string();
}

}


InSituPredictor::Impl::Impl
(
    const Node& block,
    const std::string& theName,
    const std::string& caseFolder,
    const std::vector<std::string>& theHostKeys,
    std::shared_ptr<Comm> theComm,
    std::shared_ptr<LogSink> theLog
)
:
    name(theName),
    hostKeys(theHostKeys),
    comm(std::move(theComm)),
    log(std::move(theLog)),
    config(readEntries(block, theName, hostKeys, limits)),
    path(pathOf(config, caseFolder)),
    group(std::make_shared<RankGroup>(comm, config.trainerRanks)),
    pool
    (
        !group->trains() ? 1 : threadsOf(config.nThreads, *group->trainers(),
            [this](const std::string& message) { log->warning(name + ": " + message); })
    ),
    start(std::chrono::steady_clock::now())
{
    // Here so that a refusal comes before the first step
    const std::string reason =
        group->trains() ? gpuObstacle(config.device, *group->trainers()) : std::string();
    if (!reason.empty() && config.device != "auto")
    {
        const Node& entry = *block.find("device");
        throw ConfigError(entry.file, entry.line,
            name + ".device: " + deviceRefusal(config.device, reason));
    }
}


void InSituPredictor::Impl::load()
{
    // Taken first: a file that takes the place of this one meanwhile is noticed later
    file = FileIdentity::of(path);
    surrogate = loadForRanks();
    columnLimits(limits, surrogate->card().targets);
}


std::unique_ptr<Surrogate> InSituPredictor::Impl::loadForRanks()
{
    std::unique_ptr<Surrogate> loaded = loadSurrogate(path, pool, counter());
    requireSameFile(path, "model", *comm);
    return onRanks(std::move(loaded));
}


//- The network as all ranks have it, or as some have it for all, on its device
std::unique_ptr<Surrogate> InSituPredictor::Impl::onRanks(std::unique_ptr<Surrogate> network)
{
    const bool shared = group->isShared();
    if (!shared)
    {
        network->joinRanks(comm);
    }
    if (group->trains())
    {
        device = network->useDevice(config.device, group->trainers(),
            [this](const std::string& message) { warn(message); });
    }
    if (shared)
    {
        return std::make_unique<GroupSurrogate>(std::move(network), group);
    }
    return network;
}


void InSituPredictor::followFile()
{
    Impl& my = *impl_;
    const FileIdentity now = FileIdentity::of(my.path);
    if (!anyRank(*my.comm, my.comm->isMaster() && now.exists() && !(now == my.file)))
    {
        return;
    }
    my.file = now;
    if (my.config.onModelChange == "keep")
    {
        my.warn("model \"" + my.path + "\" was replaced; the network that was read first stays"
            " (onModelChange keep)");
        return;
    }

    std::unique_ptr<Surrogate> next = my.loadForRanks();
    requireSameColumns(my.surrogate->card(), next->card(), my.path);
    if (my.comparison)
    {
        my.comparison->replace(*next);
    }
    if (my.rollout)
    {
        my.rollout->replace(*next);
    }
    if (my.stream)
    {
        my.stream->setReferences(next->inputReference(), {});
    }
    if (my.closure)
    {
        my.closure->setRange(next->card());
    }
    my.surrogate = std::move(next);
    my.info("model \"" + my.path + "\" was replaced and is read again");
}


void InSituPredictor::follow(const InSituTrainer& trainer)
{
    Impl& my = *impl_;
    const std::int64_t revision = trainer.revision();
    if (revision < 0 || revision == my.followed)
    {
        return;
    }
    if (my.surrogate)
    {
        trainer.update(*my.surrogate);
        if (my.closure)
        {
            my.closure->setRange(my.surrogate->card());
        }
    }
    else
    {
        my.surrogate = my.onRanks(trainer.surrogate(my.pool, my.counter()));
    }
    my.followed = revision;
}


void InSituPredictor::reconfigure(const Node& block)
{
    Impl& my = *impl_;
    Node limits;
    PredictorConfig changed = readEntries(block, my.name, my.hostKeys, limits);
    if (my.surrogate)
    {
        columnLimits(limits, my.surrogate->card().targets);
    }

    std::vector<std::string> refused;
    const auto keep = [&](const char* name, auto& now, const auto& before)
    {
        if (now != before)
        {
            refused.emplace_back(name);
            now = before;
        }
    };
    keep("model", changed.model, my.config.model);
    keep("mode", changed.mode, my.config.mode);
    keep("graph.halo", changed.graph.halo, my.config.graph.halo);
    keep("device", changed.device, my.config.device);
    keep("nThreads", changed.nThreads, my.config.nThreads);
    keep("trainerRanks", changed.trainerRanks, my.config.trainerRanks);
    keep("onTopologyChange", changed.onTopologyChange, my.config.onTopologyChange);
    keep("writePrediction", changed.writePrediction, my.config.writePrediction);
    if (!refused.empty())
    {
        my.warn("left as it was, since it cannot change during a run: " + join(refused)
            + ". It takes a restart");
    }
    my.config = std::move(changed);
    my.limits = std::move(limits);
    if (my.closure)
    {
        my.closure->reconfigure(my.config.closure,
            columnLimits(my.limits, my.surrogate->card().targets));
    }
}

}
