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

}


void Settings::describe(Schema& schema)
{
    object.describe(schema);
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
    Node full = block;
    settings.notes = insertTrainingFile(full, name, caseFolder);

    const auto describe = [&](Schema& schema) { settings.describe(schema); };
    readConfig(full, name, describe, hostKeys);
    settings.training.setFolder(caseFolder);

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
    return isUnder(path, {"inputs", "targets", "target", "horizon",
        "horizonTime", "features", "graph", "normaliser",
        "training.model", "training.precision"});
}


bool isChangeable(const std::string& path)
{
    return path != "training.optimizer.type" && isUnder(path, {"reportInterval", "maxFraction",
        "onError", "onNonFinite", "maxBadSteps", "selfCheck", "training.stepsPerExecute",
        "training.optimizer", "training.lrScheduler"});
}

}
