// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/JsonReader.hpp"

#include "base/Error.hpp"

#include <gmock/gmock.h>

namespace inSitu
{
namespace
{

std::string faultOf(const std::string& text)
{
    try
    {
        parseJson(text, "args.json");
    }
    catch (const ConfigError& fault)
    {
        return fault.what();
    }
    return "none";
}


TEST(JsonReader, ReadsEveryKindOfValue)
{
    const Node node = parseJson("{\"a\": [3, -2.5e-3, true],\n \"b\": {\"c\": \"7\", \"d\": null},\n"
        "\"e\": NaN, \"f\": {}, \"g\": []}\n", "args.json");

    EXPECT_EQ(node.json(), "{\"a\":[3,-2.5e-3,true],\"b\":{\"c\":\"7\",\"d\":\"\"},\"e\":\"NaN\","
        "\"f\":{},\"g\":[]}");
    EXPECT_TRUE(node.find("b")->find("c")->quoted);
    EXPECT_FALSE(node.find("b")->find("d")->quoted);
    EXPECT_EQ(node.find("e")->line, 3);
}


TEST(JsonReader, ReadsEscapes)
{
    EXPECT_EQ(parseJson(R"("a\n\"\\\/\u0041\u00fc\u20ac\ud83d\ude00")", "").text,
        "a\n\"\\/A\u00fc\u20ac\U0001F600");
}


TEST(JsonReader, NamesPlaceAndFault)
{
    EXPECT_EQ(faultOf("{\"a\": 1,\n \"a\": 2}"), "args.json:2 has the key \"a\" twice; remove one");
    EXPECT_THAT(faultOf("{\"a\": 1\n \"b\": 2}"), testing::StartsWith("args.json:2 is not valid"));
    EXPECT_THAT(faultOf("[1] 2"), testing::HasSubstr("behind its end"));
    EXPECT_THAT(faultOf("{\"a\": 01}"), testing::HasSubstr("at \"01\""));
    EXPECT_THAT(faultOf("&x [*x]"), testing::HasSubstr("not valid JSON"));
    EXPECT_THAT(faultOf("\"\\ud83d\""), testing::HasSubstr("half a character"));
    EXPECT_THAT(faultOf("\"\\u12G4\""), testing::HasSubstr("hexadecimal"));
    EXPECT_THAT(faultOf("\"abc"), testing::HasSubstr("within a text"));
    for (const char* const cut : {"", "{", "[", "[1,", "{\"a\"", "{\"a\":", "\"\\", "tru", "-"})
    {
        EXPECT_NE(faultOf(cut), "none") << cut;
    }
}


TEST(JsonReader, BoundsItsDepth)
{
    EXPECT_EQ(faultOf(std::string(60, '[') + std::string(60, ']')), "none");
    EXPECT_THAT(faultOf(std::string(100000, '[')), testing::HasSubstr("nested too deeply"));
}

}
}
