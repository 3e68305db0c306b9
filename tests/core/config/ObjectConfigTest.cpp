// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/ObjectConfig.hpp"
#include "config/SchemaReader.hpp"
#include "config/YamlFile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace inSitu
{
namespace
{

using testing::HasSubstr;

ObjectConfig read(const std::string& entries)
{
    const Node node = parseYaml('{' + entries + '}', "controlDict");
    ObjectConfig config;
    readConfig(node, "surrogate", [&](Schema& schema) { config.describe(schema); });
    return config;
}


std::string complaint(const std::string& entries)
{
    try
    {
        read(entries);
    }
    catch (const ConfigError& error)
    {
        return error.message();
    }
    return "none";
}


TEST(ObjectConfig, ReadsEveryEntry)
{
    const ObjectConfig config = read(
        "inputs: [U, \"p.*\"], targets: [T], target: value, horizon: 0,"
        " graph: {boundaryNodes: no},"
        " buffer: {capacity: 17, policy: fifo, watermark: 5, maxMemory: 2.5, location: device,"
        " checkpoint: no},"
        " normaliser: {memory: 33, freezeAfter: 44}, cellZone: wake, noise: 0.01, nThreads: 3,"
        " resume: strict, onError: continue, onNonFinite: skip, reportInterval: 6,"
        " maxFraction: 0.3, writePrediction: yes, trainingFile: a.yaml");

    EXPECT_EQ(config.inputs[1].text, "p.*");
    EXPECT_TRUE(config.inputs[1].isRegex);
    EXPECT_EQ(config.targets[0].text, "T");
    EXPECT_EQ(config.target, "value");
    EXPECT_EQ(config.horizon, 0);
    EXPECT_FALSE(config.graph.boundaryNodes);
    EXPECT_EQ(config.buffer.capacity, 17);
    EXPECT_EQ(config.buffer.policy, "fifo");
    EXPECT_EQ(config.buffer.watermark, 5);
    EXPECT_EQ(config.buffer.maxMemory, 2.5);
    EXPECT_EQ(config.buffer.location, "device");
    EXPECT_FALSE(config.buffer.checkpoint);
    EXPECT_EQ(config.normaliser.memory, 33);
    EXPECT_EQ(*config.normaliser.freezeAfter, 44);
    EXPECT_EQ(config.cellZone, "wake");
    EXPECT_EQ(config.noise, 0.01);
    EXPECT_EQ(config.nThreads, 3);
    EXPECT_EQ(config.resume, "strict");
    EXPECT_EQ(config.onError, "continue");
    EXPECT_EQ(config.onNonFinite, "skip");
    EXPECT_EQ(config.reportInterval, 6);
    EXPECT_EQ(*config.maxFraction, 0.3);
    EXPECT_TRUE(config.writePrediction);
    EXPECT_EQ(config.trainingFile, "a.yaml");
}


TEST(ObjectConfig, NeedsInputsAndTargets)
{
    EXPECT_EQ(complaint("targets: [p]"), "surrogate.inputs is missing; it has no default");
    EXPECT_EQ(complaint("inputs: [p]"), "surrogate.targets is missing; it has no default");
    EXPECT_THAT(complaint("inputs: [], targets: [p]"), HasSubstr("inputs is empty"));
    EXPECT_THAT(complaint("inputs: [U], targets: []"), HasSubstr("targets is empty"));
    EXPECT_THAT(complaint("inputs: U, targets: [p]"), HasSubstr("a list is wanted: inputs (U)"));
    EXPECT_THAT(complaint("inputs: [p, U, p], targets: [p]"), HasSubstr("inputs has 'p' twice"));
    EXPECT_EQ(complaint("inputs: [p, \"p\", U], targets: [p, U]"), "none");
}


TEST(ObjectConfig, RefusesWhatCannotWork)
{
    const std::string fields = "inputs: [U], targets: [p], ";

    EXPECT_THAT(complaint(fields + "horizon: 0"), HasSubstr("horizon 0 leaves no time"));
    EXPECT_EQ(complaint(fields + "horizon: 0, target: value"), "none");
    EXPECT_THAT(complaint(fields + "horizon: -1"), HasSubstr("in [0, 1e+05]"));
    EXPECT_THAT(complaint(fields + "buffer: {capacity: 3}"),
        HasSubstr("surrogate.buffer: watermark 4 is above capacity 3"));
    EXPECT_EQ(complaint(fields + "buffer: {capacity: 4}"), "none");
    EXPECT_THAT(complaint(fields + "buffer: {capacity: 0}"), HasSubstr("it must be >= 1"));
    EXPECT_THAT(complaint(fields + "maxFraction: 1"), HasSubstr("in (0, 1)"));
    EXPECT_THAT(complaint(fields + "reportInterval: 0"), HasSubstr("it must be >= 1"));
    EXPECT_THAT(complaint(fields + "normaliser: {memory: 0.5}"), HasSubstr("it must be >= 1"));
    EXPECT_THAT(complaint(fields + "noise: -0.5"), HasSubstr("it must be >= 0"));
    EXPECT_THAT(complaint(fields + "features: [deltaT, wallDist]"),
        HasSubstr("'wallDist' is not known; one of: deltaT wallDistance cellVolume"));
    EXPECT_THAT(complaint(fields + "features: [cellVolume, deltaT, cellVolume]"),
        HasSubstr("has 'cellVolume' twice"));
    EXPECT_EQ(complaint(fields + "features: [cellVolume, deltaT, wallDistance]"), "none");
}


TEST(ObjectConfig, ExplainsEveryKey)
{
    ObjectConfig config;
    for (const KeyDescription& key : describeConfig([&](Schema& s) { config.describe(s); }))
    {
        EXPECT_GT(key.meaning.size(), 10u) << key.path;
    }
}

}
}
