// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/Settings.hpp"

#include "config/SchemaReader.hpp"
#include "config/YamlFile.hpp"
#include "model/MeshGraphNet.hpp"
#include "train/gpuEntries.hpp"

#include <algorithm>

namespace inSitu
{
namespace
{

bool isUnder(const std::string& path, const std::vector<std::string>& prefixes)
{
    return std::any_of(prefixes.begin(), prefixes.end(), [&](const std::string& prefix)
    {
        return path == prefix || path.compare(0, prefix.size() + 1, prefix + '.') == 0;
    });
}


//- What stands in the way of `export (mdlus);`; empty: nothing
std::string complaintAboutExport(const TrainingConfig& training)
{
    const auto* const options = dynamic_cast<const MeshGraphNetOptions*>(training.model.get());
    if (!options)
    {
        return "export (mdlus) is for meshGraphNet, and training.model is " + training.modelType
            + "; leave export out: model.pt loads in Python with torch alone";
    }
    return options->activation == "leaky_relu"
      ? "export (mdlus) is not for the activation leaky_relu, which has another slope in PhysicsNeMo; choose"
        " another training.model.activation, or leave export out" : "";
}

}


void Settings::describe(Schema& schema)
{
    object.describe(schema);
    schema.block("training", "what to learn, and how",
        [this](Schema& inner) { training.describe(inner); });
    schema.check({"buffer.capacity", "training.batchSize"}, [this]() -> std::string
    {
        return object.buffer.capacity >= training.batchSize ? ""
            : "buffer.capacity " + std::to_string(object.buffer.capacity)
                + " is smaller than training.batchSize " + std::to_string(training.batchSize)
                + ", but a batch is drawn from the buffer; raise the one or lower the other";
    });
    for (const std::string path : {"training.precision", "training.castOn", "buffer.location"})
    {
        schema.check({path, "training.device"}, [this, path]
        {
            const auto entry = firstGpuEntry(training, object.buffer.location);
            return training.device == "cpu" && entry && entry->path == path
                ? refusal(*entry, "training.device cpu") : std::string();
        });
    }
    schema.check({"edgeInputs"}, [this]() -> std::string
    {
        return object.edgeInputs.empty() || training.modelType != "mlp" ? ""
            : "edgeInputs: training.model mlp looks at rows alone, without edges; choose"
                " meshGraphNet, or leave edgeInputs out";
    });
    schema.check({"export"}, [this]() -> std::string
    {
        return object.exports.empty() ? "" : complaintAboutExport(training);
    });
}


Settings readSettings
(
    const Node& block,
    const std::string& name,
    const std::string& caseFolder,
    const std::vector<std::string>& hostKeys
)
{
    Settings settings;
    settings.file = block.file;
    settings.line = block.line;
    Node full = block;
    settings.notes = insertTrainingFile(full, name, caseFolder);

    const auto describe = [&](Schema& schema) { settings.describe(schema); };
    readConfig(full, name, describe, hostKeys);
    settings.training.setFolder(caseFolder);

    const Node written = writeConfig(describe);
    settings.values = flatten(written);
    settings.json = written.json();
    return settings;
}


bool isFixedForever(const std::string& path)
{
    return isUnder(path, {"inputs", "targets", "target", "horizon",
        "horizonTime", "features", "edgeInputs", "graph", "normaliser",
        "training.model", "training.precision"});
}


bool isChangeable(const std::string& path)
{
    return path != "training.optimizer.type" && isUnder(path, {"reportInterval", "maxFraction",
        "onError", "onNonFinite", "maxBadSteps", "selfCheck", "checkReplicas", "training.stepsPerExecute",
        "training.optimizer", "training.lrScheduler"});
}

}
