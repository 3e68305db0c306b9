// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/JsonLines.hpp"
#include "TemporaryFolder.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace inSitu
{
namespace
{

TEST(JsonObject, TakesEveryKindOfValue)
{
    const std::string text = JsonObject()
        .add("text", "a\"b")
        .add("number", 0.1)
        .add("large", 1e300)
        .add("nothing", std::nan(""))
        .add("count", -3)
        .add("long", 9007199254740993L)
        .add("flag", true)
        .addRaw("list", "[1,2]")
        .text();

    EXPECT_EQ(text, R"({"text":"a\"b","number":0.1,"large":1e+300,"nothing":null,"count":-3,)"
        R"("long":9007199254740993,"flag":true,"list":[1,2]})");
    EXPECT_EQ(JsonObject().text(), "{}");
}


TEST(JsonLines, AreOnTheDiskAtOnceAndAppended)
{
    const TemporaryFolder folder;
    {
        JsonLines lines(folder / "m.jsonl");
        lines.write(JsonObject().add("step", 3));
        EXPECT_EQ(folder.read("m.jsonl"), "{\"step\":3}\n");
    }
    JsonLines lines(folder / "m.jsonl");
    lines.write(JsonObject().add("step", 5));

    EXPECT_EQ(folder.read("m.jsonl"), "{\"step\":3}\n{\"step\":5}\n");
    EXPECT_TRUE(lines.good());
}


TEST(JsonLines, BeginALineOfTheirOwnAfterAKilledRun)
{
    const TemporaryFolder folder;
    folder.write("m.jsonl", "{\"step\":3}\n{\"ste");

    JsonLines lines(folder / "m.jsonl");
    lines.write(JsonObject().add("step", 5));
    lines.write(JsonObject().add("step", 7));

    EXPECT_EQ(folder.read("m.jsonl"), "{\"step\":3}\n{\"ste\n{\"step\":5}\n{\"step\":7}\n");
}


TEST(JsonLines, TellOfAFaultWithoutThrowing)
{
    JsonLines full("/dev/full");
    EXPECT_TRUE(full.good());
    full.write(JsonObject().add("step", 3));
    EXPECT_FALSE(full.good());

    const TemporaryFolder folder;
    JsonLines nowhere(folder / "none/m.jsonl");
    EXPECT_FALSE(nowhere.good());
    nowhere.write(JsonObject().add("step", 3));
}

}
}
