// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/ObjectConfig.hpp"

#include "base/Text.hpp"
#include "config/featureWords.hpp"

#include <algorithm>

namespace inSitu
{
namespace
{

//- The first entry that is written twice; empty: none
std::string repeated(const std::vector<Pattern>& patterns)
{
    for (auto pattern = patterns.begin(); pattern != patterns.end(); ++pattern)
    {
        const auto same = [&](const Pattern& other)
            { return other.text == pattern->text && other.isRegex == pattern->isRegex; };
        if (std::any_of(patterns.begin(), pattern, same))
        {
            return pattern->text;
        }
    }
    return {};
}


void describePatterns(Schema& schema, const std::string& name, std::vector<Pattern>& patterns,
    const std::string& meaning, bool required = true)
{
    schema.key(name, patterns, meaning);
    if (required)
    {
        schema.required(name);
    }
    schema.check({name}, [&patterns, name, required]() -> std::string
    {
        if (required && patterns.empty())
        {
            return name + " is empty; name at least one field";
        }
        const std::string twice = repeated(patterns);
        return twice.empty() ? "" : name + " has '" + twice + "' twice; write it once";
    });
}

}


void GraphConfig::describe(Schema& schema)
{
    schema.key("boundaryNodes", boundaryNodes,
        "a row per boundary face, with the boundary value, that sends to its cell");
    schema.choice("halo", halo, {"exchange", "none"},
        "on several ranks: cells of other ranks send through the cut faces as if these were not "
        "cut, or each rank has a graph of its own, which is another model");
}


void BufferConfig::describe(Schema& schema)
{
    schema.key("capacity", capacity, "samples kept to draw from", Range::atLeast(1));
    schema.choice("policy", policy, {"fifo", "reservoir"},
        "fifo: the newest ones; reservoir: each sample of the run with the same probability");
    schema.key("watermark", watermark, "nothing is trained below this number of samples",
        Range::atLeast(1));
    schema.key("maxMemory", maxMemory,
        "MiB of a node that the samples of its ranks may take; 0: a tenth of its memory",
        Range::within(0, 1e9));
    schema.choice("location", location, {"auto", "host", "device"},
        "where the GPU finds the samples: sent for each step, or kept in its memory as well; auto: "
        "kept with a batchSize of 4 or more, if they take a tenth of what is free there at most");
    schema.key("checkpoint", checkpoint,
        "the samples are part of a checkpoint (pending inputs always are)");
    schema.check({"watermark", "capacity"}, [this]() -> std::string
    {
        return watermark <= capacity ? ""
            : "watermark " + std::to_string(watermark) + " is above capacity "
                + std::to_string(capacity) + ", so nothing would ever be trained; lower it";
    });
}


void NormaliserConfig::describe(Schema& schema)
{
    schema.key("memory", memory,
        "samples after which the weight of an old sample in mean and deviation has fallen to 1/e",
        Range::atLeast(1));
    schema.key("freezeAfter", freezeAfter,
        "samples after which the scales stay as they are; without it they never do",
        Range::atLeast(1));
}


void QueueConfig::describe(Schema& schema)
{
    schema.key("slots", slots, "samples that wait or are being learnt at a time",
        Range::within(2, 100000));
    schema.choice("onLag", onLag, {"block", "dropOldest", "dropNewest", "reservoir"},
        "for a new sample when all slots are taken: the solver waits for one, the sample that has "
        "waited longest is left out, the new one is, or of all since the trainer last took one "
        "each stays with the same probability");
}


void ObjectConfig::describe(Schema& schema)
{
    describePatterns(schema, "inputs", inputs, "fields that the network sees");
    describePatterns(schema, "targets", targets, "fields that it predicts");
    schema.choice("target", target, {"increment", "value"},
        "what it predicts of them: the change over the horizon, or the value after it");
    schema.key("horizon", horizon,
        "executions ahead; 0 with `target value`: a map between fields of the same time",
        Range::within(0, 100000));
    schema.check({"horizon"}, [this]() -> std::string
    {
        return target == "increment" && horizon == 0
            ? "horizon 0 leaves no time for an increment; write `target value`, or horizon 1 or "
                "more"
            : "";
    });
    schema.key("horizonTime", horizonTime,
        "seconds ahead, instead of horizon: the target is that of the first execution which is at "
        "least so much later", Range::positive());
    schema.check({"horizonTime"}, [this]() -> std::string
    {
        return horizonTime && horizon != 1
            ? "horizon and horizonTime say the same thing twice; keep one of them" : "";
    });
    schema.key("features", features,
        "inputs besides the fields. deltaT: seconds from the input to its target (horizon 0: the "
        "solver's step); wallDistance: to the nearest wall; cellVolume: of the row's cell");
    schema.check({"features"}, [this]() -> std::string
    {
        std::vector<std::string> seen;
        for (const std::string& word : features)
        {
            if (!contains(sampleFeatures(), word) && !contains(meshFeatures(), word))
            {
                return "features: '" + word + "' is not known; one of: " + join(sampleFeatures())
                    + ' ' + join(meshFeatures());
            }
            if (contains(seen, word))
            {
                return "features has '" + word + "' twice; write it once";
            }
            seen.push_back(word);
        }
        return {};
    });

    describePatterns(schema, "edgeInputs", edgeInputs,
        "surface fields that the network sees on the edges: fluxes from sender to receiver", false);

    schema.block("graph", "which rows and edges the graph has",
        [this](Schema& block) { graph.describe(block); });
    schema.block("buffer", "completed samples to draw from",
        [this](Schema& block) { buffer.describe(block); });
    schema.block("normaliser", "running mean and deviation of inputs and targets",
        [this](Schema& block) { normaliser.describe(block); });

    schema.choice("mode", mode, {"sync", "async"},
        "sync: the solver waits while the network learns; async: a thread of its own learns beside "
        "the solver");
    schema.block("queue", "samples on their way to that thread, with `mode async`",
        [this](Schema& block) { queue.describe(block); });

    schema.key("cellZone", cellZone, "loss only over the cells of this zone; without it: all");
    schema.key("noise", noise, "deviation of the noise added to normalised inputs of cells",
        Range::atLeast(0));
    schema.key("nThreads", nThreads,
        "threads; 0: the cores that the process may use, with `mode async` but one",
        Range::within(0, 1024));
    schema.key("trainerRanks", trainerRanks,
        "ranks of each node that train, on the cells of all ranks there; 0: every rank",
        Range::atLeast(0));
    schema.choice("resume", resume, {"auto", "strict", "fresh"},
        "auto: from the newest good checkpoint that is not later than the start time, else afresh, "
        "with a warning unless that is 0; strict: an error without the one of the start time; "
        "fresh: never");
    schema.choice("onError", onError, {"abort", "continue"},
        "for failures during the run: end it, or switch the object off with a warning");
    schema.choice("onNonFinite", onNonFinite, {"abort", "skip", "warn"},
        "for NaN or infinity in a field: end the run, leave the execution out, or leave it out "
        "with a warning");
    schema.choice("onTopologyChange", onTopologyChange, {"map", "drop"},
        "for inputs that wait for their target when cells are added or removed: mapped by OpenFOAM "
        "as fields are, or forgotten");
    schema.key("maxBadSteps", maxBadSteps,
        "training steps in a row whose loss or gradient may be not finite, and which are left out; "
        "one more is a failure", Range::atLeast(0));
    schema.key("checkReplicas", checkReplicas,
        "training steps between two checks that all ranks have the same weights, where a "
        "difference is a failure; 0: never", Range::atLeast(0));
    schema.key("selfCheck", selfCheck,
        "executions between two comparisons of every cache with a fresh build, where a difference "
        "is a failure; 0: never", Range::atLeast(0));
    schema.key("reportInterval", reportInterval, "executions between two reports",
        Range::atLeast(1));
    schema.key("maxFraction", maxFraction,
        "share of the wall time that prediction and training may take, writing excepted; beyond it "
        "samples are stored but not trained on; makes runs depend on timing",
        Range::fraction());
    schema.key("writePrediction", writePrediction,
        "register per target <field>Predicted, what the network makes of the fields one horizon "
        "ago before it learns from that pair, and <field>Error, its difference from what came; "
        "written at write times");
    schema.key("initialWeights", initialWeights,
        "file or checkpoint folder, relative to the case, whose weights a fresh start begins with, "
        "as far as names and shapes agree; a resumed run keeps its own");
    schema.key("export", exports,
        "what is written beside model.pt. mdlus: model.mdlus for PhysicsNeMo, of a meshGraphNet");
    schema.check({"export"}, [this]() -> std::string
    {
        for (const std::string& word : exports)
        {
            if (word != "mdlus")
            {
                return "export: '" + word + "' is not known; one of: mdlus";
            }
        }
        return exports.size() > 1 ? "export has 'mdlus' twice; write it once" : "";
    });
    schema.key("trainingFile", trainingFile,
        "YAML file instead of the block `training`, relative to the case");
}

}
