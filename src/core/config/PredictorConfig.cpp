// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/PredictorConfig.hpp"

#include "config/deviceWords.hpp"

#include <algorithm>
#include <map>

namespace inSitu
{
namespace
{

const std::string trainerWord("trainer ");

}


void ClosureConfig::describe(Schema& schema)
{
    schema.key("relax", relax, "share of the new value, the rest is the field's last one",
        Range{0, 1, true, false});
    schema.choice("onOutlier", onOutlier, {"keep", "clip", "solver", "abort"},
        "for values outside the range of the training: take them, cut them off at its end, leave "
        "the field's own, or fail; a value that is not finite is never taken");
    schema.key("margin", margin, "that the range of the training is widened by on either side, in "
        "parts of it", Range::atLeast(0));
}


void RolloutConfig::describe(Schema& schema)
{
    schema.key("steps", steps, "steps of the network after which the rollout starts again from the "
        "solver; 0: never", Range::atLeast(0));
}


void PredictorGraphConfig::describe(Schema& schema)
{
    schema.choice("halo", halo, {"exchange", "none"},
        "on several ranks: cells of other ranks send through the cut faces as if these were not "
        "cut, or each rank predicts on a graph of its own");
}


std::string PredictorConfig::trainer() const
{
    const bool live = model.compare(0, trainerWord.size(), trainerWord) == 0;
    return live ? model.substr(trainerWord.size()) : std::string();
}


std::string PredictorConfig::complaintAbout(const std::string& key) const
{
    static const std::map<std::string, std::vector<std::string>> modesOf
    {
        {"closure", {"closure"}},
        {"limits", {"closure"}},
        {"rollout", {"rollout"}},
        {"writePrediction", {"compare"}},
        {"onTopologyChange", {"compare"}},
        {"onNonFinite", {"compare", "closure"}}
    };
    if (key == "onModelChange")
    {
        return trainer().empty() ? ""
            : "with a trainer, whose network is always followed; remove it";
    }
    const std::vector<std::string>& modes = modesOf.at(key);
    return std::find(modes.begin(), modes.end(), mode) != modes.end() ? ""
        : "in mode " + mode + ", only in mode " + join(modes, " or ") + "; remove it";
}


void PredictorConfig::describe(Schema& schema)
{
    const auto mayBeUseless = [&](const char* key)
        { schema.useless(key, [this, key] { return complaintAbout(key); }); };

    schema.key("model", model, "file of the network, relative to the case; or, in quotes, trainer "
        "and the name of a meshTrainer of this run, whose weights are followed");
    schema.required("model");
    schema.choice("mode", mode, {"compare", "rollout", "closure"},
        "compare: predict one horizon and compare with what comes; rollout: feed on itself from "
        "the first execution on; closure: write into a field that the solver uses");
    schema.block("closure", "what a closure may write",
        [this](Schema& block) { closure.describe(block); });
    mayBeUseless("closure");
    schema.block("rollout", "how far a rollout goes",
        [this](Schema& block) { rollout.describe(block); });
    mayBeUseless("rollout");
    schema.block("graph", "how ranks work together",
        [this](Schema& block) { graph.describe(block); });
    schema.key("writePrediction", writePrediction,
        "compare: register per target <field>Predicted and <field>Error; written at write times");
    mayBeUseless("writePrediction");
    schema.choice("onModelChange", onModelChange, {"reload", "keep"},
        "for a file that is replaced during the run: load it, or go on with the old network");
    mayBeUseless("onModelChange");
    schema.key("device", device, "where to compute: auto (a GPU where one can be used), cpu, cuda or "
        "cuda:N");
    schema.check({"device"}, [this] { return complaintAboutDevice(device); });
    schema.key("nThreads", nThreads, "threads; 0: the cores that the process may use",
        Range::within(0, 1024));
    schema.key("trainerRanks", trainerRanks,
        "ranks of each node that predict, for the cells of all ranks there; 0: every rank",
        Range::atLeast(0));
    schema.choice("onError", onError, {"abort", "continue"},
        "for failures during the run: end it, or switch the object off with a warning");
    schema.choice("onNonFinite", onNonFinite, {"abort", "skip", "warn"},
        "for NaN or infinity in a field: end the run, leave the execution out, or leave it out "
        "with a warning");
    mayBeUseless("onNonFinite");
    schema.choice("onTopologyChange", onTopologyChange, {"map", "drop"},
        "for inputs that wait for their target when cells are added or removed: mapped by OpenFOAM "
        "as fields are, or forgotten");
    mayBeUseless("onTopologyChange");
    schema.key("selfCheck", selfCheck,
        "executions between two comparisons of every cache with a fresh build, where a difference "
        "is a failure; 0: never", Range::atLeast(0));
    schema.key("reportInterval", reportInterval,
        "executions between two reports; in mode rollout steps of the network", Range::atLeast(1));
}

}
