// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/SchemaReader.hpp"
#include "config/YamlFile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace inSitu
{
namespace
{

using testing::ElementsAre;
using testing::HasSubstr;

struct Rate : Options
{
    double rate = 0.25;
    bool nesterov = false;

    void describe(Schema& schema) override
    {
        schema.key("rate", rate, "how fast", Range::positive());
        schema.key("nesterov", nesterov, "look ahead");
    }
};


struct Steps : Options
{
    std::vector<std::int64_t> milestones;

    void describe(Schema& schema) override
    {
        schema.key("milestones", milestones, "where", Range::atLeast(0));
        schema.required("milestones");
    }
};


const Registry<Options>& registry()
{
    static const Registry<Options> entries
    {
        {"rate", []() { return std::make_unique<Rate>(); }},
        {"steps", []() { return std::make_unique<Steps>(); }}
    };
    return entries;
}


struct Config
{
    std::int64_t count = 7;
    double width = 0.5;
    bool active = false;
    std::string name = "unnamed";
    std::string policy = "fifo";
    std::vector<std::string> words{"a"};
    std::vector<Pattern> fields;
    std::optional<double> limit;
    std::optional<std::int64_t> after;
    std::int64_t depth = 2;
    std::string typeName = "rate";
    std::unique_ptr<Options> chosen = std::make_unique<Rate>();

    void describe(Schema& schema)
    {
        schema.key("count", count, "how many", Range::atLeast(1));
        schema.key("width", width, "how wide", Range::fraction());
        schema.key("active", active, "whether");
        schema.key("name", name, "which");
        schema.choice("policy", policy, {"fifo", "reservoir"}, "how");
        schema.key("words", words, "texts");
        schema.key("fields", fields, "patterns | <more>");
        schema.key("limit", limit, "if any", Range::within(-1.5, 4));
        schema.key("after", after, "if any");
        schema.block("inner", "a block", [this](Schema& block)
        {
            block.key("depth", depth, "how deep");
            block.check({"depth"}, [this]() -> std::string { return depth < 9 ? "" : "depth is too much"; });
        });
        schema.typed("method", typeName, chosen, registry(), "by what");
    }
};


Config read(const std::string& yaml, const std::vector<std::string>& hostKeys = {})
{
    const Node node = parseYaml(yaml, "case.yaml");
    Config config;
    readConfig(node, "object", [&](Schema& schema) { config.describe(schema); }, hostKeys);
    return config;
}


std::string complaint(const std::string& yaml)
{
    try
    {
        read(yaml);
    }
    catch (const ConfigError& error)
    {
        return error.what();
    }
    return "none";
}


TEST(SchemaReader, ReadsEveryKindOfValue)
{
    const Config config = read(
        "count: +12\n"
        "width: 2.5e-1\n"
        "active: On\n"
        "name: some text\n"
        "policy: reservoir\n"
        "words: [x, y]\n"
        "fields: [U, \"p.*\"]\n"
        "limit: -1.5\n"
        "after: -9223372036854775808\n"
        "inner: {depth: 5}\n"
        "method: {type: steps, milestones: [30, 20]}\n");

    EXPECT_EQ(config.count, 12);
    EXPECT_EQ(config.width, 0.25);
    EXPECT_TRUE(config.active);
    EXPECT_EQ(config.name, "some text");
    EXPECT_EQ(config.policy, "reservoir");
    EXPECT_THAT(config.words, ElementsAre("x", "y"));
    ASSERT_EQ(config.fields.size(), 2u);
    EXPECT_EQ(config.fields[0].text, "U");
    EXPECT_FALSE(config.fields[0].isRegex);
    EXPECT_EQ(config.fields[1].text, "p.*");
    EXPECT_TRUE(config.fields[1].isRegex);
    EXPECT_EQ(*config.limit, -1.5);
    EXPECT_EQ(*config.after, std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(config.depth, 5);
    EXPECT_EQ(config.typeName, "steps");
    EXPECT_THAT(dynamic_cast<Steps&>(*config.chosen).milestones, ElementsAre(30, 20));
}


TEST(SchemaReader, KeepsDefaultsOfWhatIsLeftOut)
{
    const Config config = read("{}");

    EXPECT_EQ(config.count, 7);
    EXPECT_THAT(config.words, ElementsAre("a"));
    EXPECT_FALSE(config.limit);
    EXPECT_EQ(config.depth, 2);
    EXPECT_EQ(config.typeName, "rate");
}


TEST(SchemaReader, KeepsTheDefaultChoiceWithoutType)
{
    const Config config = read("method: {rate: 0.75}");

    EXPECT_EQ(config.typeName, "rate");
    EXPECT_EQ(dynamic_cast<Rate&>(*config.chosen).rate, 0.75);
}


TEST(SchemaReader, TakesOpenFoamsWordsForBooleans)
{
    for (const char* word : {"yes", "on", "true", "y", "t", "1", "TRUE", "Yes"})
    {
        EXPECT_TRUE(read(std::string("active: ") + word).active) << word;
    }
    for (const char* word : {"no", "off", "false", "n", "f", "none", "0", "False"})
    {
        EXPECT_FALSE(read(std::string("active: ") + word).active) << word;
    }
    EXPECT_THAT(complaint("active: maybe"), HasSubstr("'maybe' is neither yes nor no"));
    EXPECT_THAT(complaint("active: 2"), HasSubstr("neither yes nor no"));
}


TEST(SchemaReader, NamesPlaceAndPathAndRemedyOfAnUnknownKey)
{
    EXPECT_EQ(complaint("count: 3\n\ninner:\n  depht: 4\n"),
        "case.yaml:4 object.inner.depht is not known; did you mean 'depth'? Known here: depth");
    EXPECT_EQ(complaint("method:\n  type: steps\n  milestones: [2]\n  rate: 0.5\n").substr(0, 42),
        "case.yaml:4 object.method.rate is not know");
}


TEST(SchemaReader, SaysIntoWhichBlockAKeyBelongs)
{
    const auto told = [](const std::string& yaml)
    {
        const std::string text = complaint(yaml);
        return text.substr(0, text.find(" Known here"));
    };
    EXPECT_EQ(told("count: 3\ndepth: 4\n"),
        "case.yaml:2 object.depth is not known here; it belongs into the block object.inner.");
    EXPECT_EQ(told("inner:\n  depth: 4\n  count: 3\n"),
        "case.yaml:3 object.inner.count is not known here; it belongs into the block object.");
    EXPECT_EQ(told("rate: 2"), "case.yaml:1 object.rate is not known here; it belongs into the block"
        " object.method.");
    EXPECT_EQ(told("method: {type: steps, milestones: [2], nesterov: no}"), "case.yaml:1"
        " object.method.nesterov is not known here; it belongs into the block object.method[rate].");
    EXPECT_EQ(told("mileston: [2]"), "case.yaml:1 object.mileston is not known; did you mean"
        " 'milestones', in the block object.method?");
    // Here before elsewhere where both are as near
    EXPECT_EQ(told("inner: {death: 2}"),
        "case.yaml:1 object.inner.death is not known; did you mean 'depth'?");
    // A word of which more than half would have to change was not meant
    EXPECT_EQ(told("inner: {dozen: 2}"), "case.yaml:1 object.inner.dozen is not known.");
    EXPECT_EQ(told("castOn: device"), "case.yaml:1 object.castOn is not known.");

    try
    {
        read("inner: {writeControl: x}", {"writeControl"});
        FAIL() << "accepted";
    }
    catch (const ConfigError& error)
    {
        EXPECT_THAT(error.what(), HasSubstr("it belongs into the block object."));
    }
}


TEST(SchemaReader, NamesThePlaceOfACheckOverSeveralKeys)
{
    struct Pair
    {
        std::int64_t least = 4;
        std::int64_t most = 9;
        std::int64_t factor = 1;

        void describe(Schema& schema)
        {
            schema.key("most", most, "upper end");
            schema.block("inner", "a block", [this](Schema& block)
                { block.key("least", least, "lower end"); });
            schema.key("factor", factor, "times");
            schema.check({"inner.least", "most"}, [this]() -> std::string
                { return least*factor <= most ? "" : "least is above most"; });
        }
    };
    const auto told = [](const std::string& yaml)
    {
        Pair pair;
        try
        {
            readConfig(parseYaml(yaml, "case.yaml"), "object",
                [&](Schema& schema) { pair.describe(schema); });
        }
        catch (const ConfigError& error)
        {
            return std::string(error.what());
        }
        return std::string("none");
    };
    EXPECT_EQ(told("\nmost: 12\ninner:\n\n  least: 13\n"),
        "case.yaml:5 object: least is above most");
    EXPECT_EQ(told("\nfactor: 1\nmost: 3\n"), "case.yaml:3 object: least is above most");
    EXPECT_EQ(told("factor: 3\n"), "case.yaml:1 object: least is above most");
    EXPECT_EQ(told("inner: {least: 7}"), "none");
}


TEST(SchemaReader, RefusesKeysWithoutAnEffect)
{
    struct Mode
    {
        std::string mode = "walk";
        std::int64_t speed = 3;

        void describe(Schema& schema)
        {
            schema.key("speed", speed, "of running");
            schema.useless("speed", [this]() -> std::string
                { return mode == "run" ? "" : "in mode " + mode; });
            schema.choice("mode", mode, {"walk", "run"}, "how");
        }
    };
    const auto told = [](const std::string& yaml)
    {
        Mode mode;
        try
        {
            readConfig(parseYaml(yaml, "case.yaml"), "object",
                [&](Schema& schema) { mode.describe(schema); });
        }
        catch (const ConfigError& error)
        {
            return std::string(error.what());
        }
        return std::string("none");
    };
    EXPECT_EQ(told("mode: walk\nspeed: 3\n"),
        "case.yaml:2 object.speed has no effect in mode walk");
    EXPECT_EQ(told("speed: 4\nmode: run\n"), "none");
    EXPECT_EQ(told("mode: walk"), "none");
}


TEST(SchemaReader, LeavesHostKeysToTheHostAndOffersThem)
{
    EXPECT_EQ(read("{writeControl: anything, count: 4}", {"writeControl"}).count, 4);

    try
    {
        read("writeContrl: x", {"writeControl"});
        FAIL() << "accepted";
    }
    catch (const ConfigError& error)
    {
        EXPECT_THAT(error.what(), HasSubstr("did you mean 'writeControl'"));
        EXPECT_EQ(error.file(), "case.yaml");
        EXPECT_EQ(error.line(), 1);
    }
}


TEST(SchemaReader, RefusesNumbersThatAreNotCompleteOrDoNotFit)
{
    EXPECT_THAT(complaint("count: 1e3"), HasSubstr("'1e3' is not an integer; write it in digits"));
    EXPECT_THAT(complaint("count: 3 steps"), HasSubstr("'3 steps' is not an integer"));
    EXPECT_THAT(complaint("count: ''"), HasSubstr("'' is not an integer"));
    EXPECT_THAT(complaint("count: +-3"), HasSubstr("'+-3' is not an integer"));
    EXPECT_THAT(complaint("count: 9223372036854775808"), HasSubstr("does not fit into 64 bits"));
    EXPECT_THAT(complaint("width: 0.5mm"), HasSubstr("'0.5mm' is not a finite number"));
    EXPECT_THAT(complaint("width: nan"), HasSubstr("'nan' is not a finite number"));
    EXPECT_THAT(complaint("limit: inf"), HasSubstr("'inf' is not a finite number"));
    EXPECT_THAT(complaint("width: 1e400"), HasSubstr("beyond the range of double precision"));
    EXPECT_THAT(complaint("width: 1e-400"), HasSubstr("beyond the range of double precision"));
}


TEST(SchemaReader, RefusesNumbersOutOfRange)
{
    EXPECT_EQ(complaint("count: 0"), "case.yaml:1 object.count is 0; it must be >= 1");
    EXPECT_EQ(complaint("width: 1"), "case.yaml:1 object.width is 1; it must be in (0, 1)");
    EXPECT_EQ(complaint("limit: 4.25"),
        "case.yaml:1 object.limit is 4.25; it must be in [-1.5, 4]");
    EXPECT_EQ(complaint("method: {rate: -2}"),
        "case.yaml:1 object.method.rate is -2; it must be > 0");
    EXPECT_EQ(complaint("method: {type: steps, milestones: [3, -4]}"),
        "case.yaml:1 object.method.milestones is -4; it must be >= 0");
}


TEST(SchemaReader, NamesTheWordsOfAChoice)
{
    EXPECT_EQ(complaint("policy: lifo"),
        "case.yaml:1 object.policy 'lifo' is not known; one of: fifo reservoir");
    EXPECT_EQ(complaint("method: {type: Rate}"),
        "case.yaml:1 object.method.type 'Rate' is not known; one of: rate steps");
}


TEST(SchemaReader, RefusesTheWrongKindOfNode)
{
    EXPECT_EQ(complaint("words: U"), "case.yaml:1 object.words is a single value; a list is wanted:"
        " words (U), in YAML [U]");
    EXPECT_THAT(complaint("words: {a: b}"), HasSubstr("object.words is a block; a list is wanted"));
    EXPECT_THAT(complaint("words: [[a]]"), HasSubstr("is a list; a single value is wanted"));
    EXPECT_THAT(complaint("name: [a]"), HasSubstr("object.name is a list; a single value"));
    EXPECT_THAT(complaint("count: {}"), HasSubstr("object.count is a block; a single value"));
    EXPECT_THAT(complaint("inner: 3"), HasSubstr("object.inner is a single value; a block"));
    EXPECT_THAT(complaint("inner: [3]"), HasSubstr("object.inner is a list; a block"));
    EXPECT_THAT(complaint("method: steps"), HasSubstr("write a block: method { type steps; }"));
    EXPECT_THAT(complaint("[1, 2]"), HasSubstr("object is a list; a block of keys is wanted"));
}


TEST(SchemaReader, MissesRequiredKeysAfterLookingForMisspeltOnes)
{
    EXPECT_EQ(complaint("count: 3\nmethod:\n  type: steps\n"),
        "case.yaml:2 object.method.milestones is missing; it has no default");
    EXPECT_THAT(complaint("method: {type: steps, milestons: [3]}"),
        HasSubstr("did you mean 'milestones'"));
}


TEST(SchemaReader, AsksForATypeWithoutDefault)
{
    Config config;
    config.chosen.reset();
    const Node node = parseYaml("{}", "case.yaml");

    try
    {
        readConfig(node, "object", [&](Schema& schema) { config.describe(schema); });
        FAIL() << "accepted";
    }
    catch (const ConfigError& error)
    {
        EXPECT_EQ(error.message(), "object.method.type is missing; one of: rate steps");
    }
}


TEST(SchemaReader, ReportsWhatAChecksOverTheBlockFinds)
{
    EXPECT_EQ(complaint("inner:\n  depth: 9\n"), "case.yaml:2 object.inner: depth is too much");
}


TEST(SchemaWriter, WritesWhatReadsBackTheSame)
{
    Config config = read(
        "{count: 12, width: 0.1, active: yes, name: '34', policy: reservoir, words: [x, 'y\"z'],"
        " fields: [U, \"p.*\"], after: 5, inner: {depth: 3},"
        " method: {type: steps, milestones: [30, 20]}}");
    const auto describe = [&](Schema& schema) { config.describe(schema); };

    const std::string json = writeConfig(describe).json();

    EXPECT_EQ(json, R"({"count":12,"width":0.1,"active":true,"name":"34","policy":"reservoir",)"
        R"("words":["x","y\"z"],"fields":["U","\"p.*\""],"after":5,"inner":{"depth":3},)"
        R"("method":{"type":"steps","milestones":[30,20]}})");
    EXPECT_EQ(parseYaml(json, "json").json(), json);
}


TEST(SchemaDescriber, ListsEveryKeyOfEveryAlternative)
{
    Config config;
    const auto keys = describeConfig([&](Schema& schema) { config.describe(schema); });

    EXPECT_EQ(markdownTable(keys),
        "| Key | Type | Default | Meaning |\n"
        "|---|---|---|---|\n"
        "| `count` | integer >= 1 | 7 | how many |\n"
        "| `width` | number in (0, 1) | 0.5 | how wide |\n"
        "| `active` | boolean | no | whether |\n"
        "| `name` | text | unnamed | which |\n"
        "| `policy` | word: fifo reservoir | fifo | how |\n"
        "| `words` | list of texts | (a) | texts |\n"
        "| `fields` | list of words, or regular expressions in quotes | () "
        "| patterns \\| \\<more> |\n"
        "| `limit` | number in [-1.5, 4] | - | if any |\n"
        "| `after` | integer | - | if any |\n"
        "| `inner` | block | - | a block |\n"
        "| `inner.depth` | integer | 2 | how deep |\n"
        "| `method.type` | word: rate steps | rate | by what |\n"
        "| `method[rate].rate` | number > 0 | 0.25 | how fast |\n"
        "| `method[rate].nesterov` | boolean | no | look ahead |\n"
        "| `method[steps].milestones` | list of integer >= 0 | required | where |\n");
}


TEST(Range, ContainsItsClosedEndsOnly)
{
    EXPECT_TRUE(Range::atLeast(2).contains(2));
    EXPECT_FALSE(Range::positive().contains(0));
    EXPECT_TRUE(Range::within(2, 3).contains(3));
    EXPECT_FALSE(Range::fraction().contains(1));
    EXPECT_FALSE(Range::fraction().contains(0));
    EXPECT_EQ(Range::any().text(), "");
    EXPECT_EQ((Range{-std::numeric_limits<double>::infinity(), 2.5, false, true}.text()), "< 2.5");
    EXPECT_EQ((Range{0.5, 2, false, true}.text()), "in [0.5, 2)");
}

}
}
