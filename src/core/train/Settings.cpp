// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/Settings.hpp"

#include "config/SchemaReader.hpp"
#include "config/YamlFile.hpp"

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


// The block with the training file, if one is named, in the place of `training`
Node withTrainingFile(const Node& block, const std::string& name, const std::string& caseFolder)
{
    Node full = block;
    if (const Node* file = block.find("trainingFile"))
    {
        if (block.find("training"))
        {
            throw ConfigError(file->file, file->line, name
                + ": both training and trainingFile are given; keep one of them");
        }
        if (file->kind != Node::Kind::scalar || file->text.empty())
        {
            throw ConfigError(file->file, file->line, name
                + ".trainingFile: a file name is needed, such as \"system/surrogate.yaml\"");
        }
        const bool absolute = file->text.front() == '/';
        full.add("training", readYamlFile(absolute ? file->text : caseFolder + '/' + file->text));
    }
    return full;
}

}


void Settings::describe(Schema& schema)
{
    object.describe(schema);
    schema.key("trainingFile", trainingFile,
        "YAML file with the block `training`, in its place; relative to the case");
    schema.block("training", "what to learn, and how",
        [this](Schema& inner) { training.describe(inner); });
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
    const auto describe = [&](Schema& schema) { settings.describe(schema); };
    readConfig(withTrainingFile(block, name, caseFolder), name, describe, hostKeys);

    const std::int64_t capacity = settings.object.buffer.capacity;
    const std::int64_t batchSize = settings.training.batchSize;
    if (capacity < batchSize)
    {
        throw ConfigError(block.file, block.line, name + ": buffer.capacity "
            + std::to_string(capacity) + " is smaller than training.batchSize "
            + std::to_string(batchSize) + ", but a batch is drawn from the buffer;"
            " raise the one or lower the other");
    }

    const Node written = writeConfig(describe);
    settings.values = flatten(written);
    settings.json = written.json();
    return settings;
}


bool isFixedForever(const std::string& path)
{
    return isUnder(path, {"inputs", "targets", "target", "horizon", "graph", "normaliser",
        "training.model", "training.precision"});
}


bool isChangeable(const std::string& path)
{
    return path != "training.optimizer.type" && isUnder(path, {"reportInterval", "maxFraction",
        "onError", "onNonFinite", "training.stepsPerExecute", "training.optimizer",
        "training.lrScheduler"});
}

}
